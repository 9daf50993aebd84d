/// The two states of a view: what the server said, and what events were raised for.
struct ViewCache: Sendable {
  var server: CacheNode
  var event: CacheNode
}
