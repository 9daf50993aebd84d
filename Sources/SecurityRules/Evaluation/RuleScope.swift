internal import RealtimeTree

/// What the names in a rule stand for; shared by all rules of a location.
final class RuleScope: Sendable {
  let request: RuleRequest
  /// The data of the location as they are.
  let node: NodeView
  /// Those as they would be; nil for a read.
  let newNode: NodeView?
  /// The number of keys from the root down.
  let depth: Int
  /// What the wildcards on the way down stand for.
  let captures: [ChildKey]
  /// The scope of the location above, and the key that leads here; nil at the root.
  private let way: (above: RuleScope, key: ChildKey)?

  /// The scope of the root.
  init(_ request: RuleRequest) {
    self.request = request
    node = request.root
    newNode = request.newRoot
    depth = 0
    captures = []
    way = nil
  }

  private init(_ key: ChildKey, below above: RuleScope, _ newNode: NodeView?, isCaptured: Bool) {
    request = above.request
    node = above.node.child(key)
    self.newNode = newNode
    depth = above.depth + 1
    captures = isCaptured ? above.captures + [key] : above.captures
    way = (above, key)
  }

  /// The scope one level further down, at a child.
  func child(_ key: ChildKey, isCaptured: Bool) -> RuleScope {
    RuleScope(key, below: self, newNode?.child(key), isCaptured: isCaptured)
  }

  /// The scope one level further down, at a child whose new data are known.
  func child(_ key: ChildKey, becoming newNode: NodeView, isCaptured: Bool) -> RuleScope {
    RuleScope(key, below: self, newNode, isCaptured: isCaptured)
  }

  /// The location above, or nil at the root.
  var above: RuleScope? { way?.above }

  /// The keys from the root down.
  ///
  /// - Complexity: O(depth)
  var keys: [ChildKey] {
    var keys: [ChildKey] = []
    var scope = self
    while let way = scope.way {
      keys.append(way.key)
      scope = way.above
    }
    return keys.reversed()
  }

  /// What `data` stands for.
  var data: Snapshot { Snapshot(of: self, isNew: false) }

  /// What `newData` stands for, or nil for a read.
  var newData: Snapshot? { newNode == nil ? nil : Snapshot(of: self, isNew: true) }
}
