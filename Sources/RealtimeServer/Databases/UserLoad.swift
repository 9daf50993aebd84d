/// What one signed-in user asks of a database, over all connections.
struct UserLoad {
  /// The WebSockets and event streams that are open, and the requests under way.
  var connections = 0
  /// Whether it is looked at again in a while, to be forgotten.
  var isFading = false
  /// What limits the rate of writes.
  var writes: TokenBucket
}
