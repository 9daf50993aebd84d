internal import RealtimeTree

/// What rules are asked about, the same for all of them.
final class RuleRequest: Sendable {
  /// Who asks.
  let auth: RuleValue
  /// The member `uid` of that, which nearly every rule asks for.
  let uid: RuleValue
  let now: Double
  /// All data as they are.
  let root: NodeView
  /// All data as they would be; nil for a read.
  let newRoot: NodeView?
  /// What is read; nil for a write.
  let query: Query?

  init(auth: JSONValue?, now: Int64, root: Node, newRoot: Node? = nil, query: Query? = nil) {
    self.auth = RuleValue(auth)
    uid = RuleValue(auth?["uid"])
    self.now = Double(now)
    self.root = NodeView(root)
    self.newRoot = newRoot.map { NodeView($0) }
    self.query = query
  }
}
