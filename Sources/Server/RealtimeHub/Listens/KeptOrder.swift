internal import RealtimeCore

/// The children of a location in one order, kept for all windows and queries that use it.
struct KeptOrder: Sendable {
  private(set) var indexed: IndexedNode
  /// How many windows use it.
  var windows = 0
  /// Whether it stays when no window uses it any more.
  var isDeclared: Bool
  /// When it was used last, by a count of uses.
  var lastUse = 0

  init(_ node: Node, by index: Index, isDeclared: Bool) {
    indexed = IndexedNode(node, by: index)
    self.isDeclared = isDeclared
  }

  var index: Index { indexed.index }

  /// How many children there are in a map of its own.
  var ownEntries: Int {
    Self.isFree(indexed.node, index) ? 0 : indexed.node.children?.count ?? 0
  }

  /// Follows a change of some children.
  ///
  /// - Complexity: O(changed · log n), O(1) where the order of keys serves
  mutating func update(_ keys: [ChildKey], to node: Node) {
    indexed.follow(node, changed: keys)
  }

  /// Follows a change of the whole location.
  ///
  /// - Complexity: O(n log n), O(1) where the order of keys serves
  mutating func replace(by node: Node) {
    indexed = IndexedNode(node, by: index)
  }

  /// Whether the children are in this order as they are.
  static func isFree(_ node: Node, _ index: Index) -> Bool {
    switch index {
    case .key: true
    case .priority: (node.children?.prioritizedCount ?? 0) == 0
    case .value, .child: node.children == nil
    }
  }
}
