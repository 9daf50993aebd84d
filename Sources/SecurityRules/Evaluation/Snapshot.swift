internal import RealtimeTree

/// A location in a tree, which need not exist, with the way back up; nothing is copied.
struct Snapshot: Sendable {
  let node: NodeView
  /// The number of keys from the root down.
  let depth: Int
  private let origin: Origin

  /// How the location was reached.
  private enum Origin {
    case root
    /// It is where a rule is asked.
    case scope(RuleScope, isNew: Bool)
    /// By a step down, from the location that comes with it.
    case child(Step)
  }

  private final class Step: Sendable {
    let above: Snapshot

    init(_ above: Snapshot) {
      self.above = above
    }
  }

  private init(_ node: NodeView, depth: Int, _ origin: Origin) {
    self.node = node
    self.depth = depth
    self.origin = origin
  }

  /// The root of a tree.
  init(root: NodeView) {
    self.init(root, depth: 0, .root)
  }

  /// The location where a rule is asked, in the data as they are or as they would be.
  init(of scope: RuleScope, isNew: Bool) {
    let node = isNew ? scope.newNode ?? NodeView(.empty) : scope.node
    self.init(node, depth: scope.depth, .scope(scope, isNew: isNew))
  }

  func child(_ key: ChildKey) -> Snapshot {
    Snapshot(node.child(key), depth: depth + 1, .child(Step(self)))
  }

  /// The location above, or nil at the root.
  var parent: Snapshot? {
    switch origin {
    case .root: nil
    case .scope(let scope, let isNew): scope.above.map { Snapshot(of: $0, isNew: isNew) }
    case .child(let step): step.above
    }
  }
}
