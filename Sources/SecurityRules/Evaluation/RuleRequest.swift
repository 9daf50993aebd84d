internal import RealtimeTree

/// What rules are asked about, the same for all of them.
final class RuleRequest: Sendable {
  /// Who asks.
  let auth: RuleValue
  let now: Double
  /// All data as they are.
  let root: Node
  /// All data as they would be; nil for a read.
  let newRoot: Node?
  /// What is read; nil for a write.
  let query: Query?

  init(auth: JSONValue?, now: Int64, root: Node, newRoot: Node? = nil, query: Query? = nil) {
    self.auth = RuleValue(auth)
    self.now = Double(now)
    self.root = root
    self.newRoot = newRoot
    self.query = query
  }
}
