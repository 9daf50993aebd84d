/// What one signed-in user asks of a database, over all connections.
struct UserLoad {
  /// The WebSockets and event streams that are open, and the requests under way.
  var connections = 0
  /// Whether it is looked at again in a while, to be forgotten.
  var isFading = false
  /// What limits the number of writes.
  private var writes: TokenBucket
  /// What limits their length.
  private var bytes: TokenBucket

  init(_ limits: DatabaseServer.Limits, now: Int64) {
    writes = TokenBucket(
      perSecond: Double(limits.writesPerSecond),
      burst: limits.writeBurst,
      now: now
    )
    bytes = TokenBucket(
      perSecond: Double(limits.writeBytesPerMinute) / 60,
      burst: limits.writeBytesPerMinute,
      now: now
    )
  }

  /// Counts a write, and gives the milliseconds for which the user should wait before the next.
  mutating func write(_ length: Int, at now: Int64) -> Int64 {
    max(writes.take(at: now), bytes.take(length, at: now))
  }

  /// Whether the user has written so little that it can be forgotten.
  mutating func isRested(at now: Int64) -> Bool {
    // Both are looked at, since looking fills them.
    let isRested = (writes.isFull(at: now), bytes.isFull(at: now))
    return isRested.0 && isRested.1
  }
}
