internal import RealtimeTree

/// The children of a location in one order, kept for all windows that use it.
struct SharedIndex: Sendable {
  private(set) var indexed: IndexedNode
  /// How many windows use it.
  var users = 0

  init(_ node: Node, by index: Index) {
    indexed = IndexedNode(node, by: index)
  }

  var index: Index { indexed.index }

  /// Follows a change of some children.
  ///
  /// - Complexity: O(changed · log n), O(1) where the order of keys serves
  mutating func update(_ keys: [ChildKey], to node: Node) {
    if Self.isFree(node, index) {
      // Keeping the location's own node saves a second copy of its map.
      indexed = IndexedNode(node, by: index)
    } else {
      for key in keys { indexed.set(key, to: node[key]) }
    }
  }

  /// Follows a change of the whole location.
  ///
  /// - Complexity: O(n log n), O(1) where the order of keys serves
  mutating func replace(by node: Node) {
    indexed = IndexedNode(node, by: index)
  }

  private static func isFree(_ node: Node, _ index: Index) -> Bool {
    switch index {
    case .key: true
    case .priority: (node.children?.prioritizedCount ?? 0) == 0
    case .value, .child: false
    }
  }
}
