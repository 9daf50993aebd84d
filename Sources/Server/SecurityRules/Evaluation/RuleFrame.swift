internal import RealtimeCore

/// A location on the way from the root to where a rule is asked.
struct RuleFrame {
  /// The key that leads here from the location above; empty at the root.
  let key: LeafText
  /// The data as they are.
  let node: NodeView
  /// Those as they would be; nil for a read.
  let newNode: NodeView?
}
