/// A node with its children in the order of an index, kept up to date as children change.
///
/// Key order (and priority order while no child has a priority) is the order of the node itself and
/// costs nothing; every other order is a second sorted map, of positions only: the children
/// themselves are looked up in the node.
package struct IndexedNode: Sendable {
  /// The node.
  package private(set) var node: Node
  /// What the children are ordered by.
  package let index: Index
  /// The order, or nil when key order serves.
  private var order: OrderedPositions?

  /// Orders the children of a node.
  ///
  /// - Complexity: O(1) in key order, otherwise O(n log n)
  package init(_ node: Node, by index: Index) {
    self.node = node
    self.index = index
    rebuildOrder()
  }

  private var usesKeyOrder: Bool {
    switch index {
    case .key: true
    case .priority: (node.children?.prioritizedCount ?? 0) == 0
    case .value, .child: false
    }
  }

  private mutating func rebuildOrder() {
    guard !usesKeyOrder, let children = node.children else {
      order = nil
      return
    }
    order = OrderedPositions(sorted: children.map.map { index.entry($0.key, $0.value) }.sorted())
  }

  /// Sets a child, or removes it by an empty node.
  ///
  /// - Complexity: O(log n), O(n log n) when the first priority appears among the children
  package mutating func set(_ key: ChildKey, to child: Node) {
    let old = node[key]
    let hadChildren = node.children != nil
    node.update(at: Path([key]), to: child)
    if usesKeyOrder || !hadChildren || order == nil { return rebuildOrder() }
    move(
      from: old.isEmpty ? nil : index.entry(key, old),
      to: child.isEmpty ? nil : index.entry(key, child)
    )
  }

  /// Follows the node to a version of it in which some children are others.
  ///
  /// The version is taken over as it is, so that no second map of the children is changed.
  ///
  /// - Parameters:
  ///   - version: The node as it is now.
  ///   - keys: The children that may differ, each once.
  /// - Complexity: O(keys · log n), O(n log n) when the first priority appears among the children
  package mutating func follow(_ version: Node, changed keys: [ChildKey]) {
    let old = node
    node = version
    if usesKeyOrder || order == nil || node.children == nil { return rebuildOrder() }
    let index = index
    for key in keys {
      let before = old.withView { index.position(of: key, in: $0) }
      let after = node.withView { index.position(of: key, in: $0) }
      move(from: before, to: after)
    }
  }

  /// Moves a child to its new position, if that is another one.
  private mutating func move(from before: IndexEntry?, to after: IndexEntry?) {
    if before == after { return }
    if let before { order?.remove(present: before) }
    // Each child has one position, and this is another one than before.
    if let after { order?.insert(absent: after) }
  }

  /// Replaces the node's own priority.
  package mutating func setPriority(_ priority: LeafValue?) {
    node = node.withPriority(priority)
  }

  /// The children in index order.
  package var ascending: OrderedChildren {
    OrderedChildren(of: node, order?.ascending { _ in false }, children?.ascending { _ in false })
  }

  /// The children in the reverse of index order.
  package var descending: OrderedChildren {
    OrderedChildren(of: node, order?.descending { _ in true }, children?.descending)
  }

  /// The children from the first that is not before a bound, in index order.
  ///
  /// - Parameter isBefore: True for a prefix of the order, false for all after it.
  /// - Returns: The rest in ascending order.
  package func ascending(after isBefore: (IndexEntry) -> Bool) -> OrderedChildren {
    OrderedChildren(
      of: node,
      order?.ascending(after: isBefore),
      children?.ascending { isBefore(IndexEntry(value: .missing, key: $0)) }
    )
  }

  /// The children from the last that is within a bound, in the reverse of index order.
  ///
  /// - Parameter isWithin: True for a prefix of the order, false for all after it.
  /// - Returns: The start in descending order.
  package func descending(within isWithin: (IndexEntry) -> Bool) -> OrderedChildren {
    OrderedChildren(
      of: node,
      order?.descending(within: isWithin),
      children?.descending { isWithin(IndexEntry(value: .missing, key: $0)) }
    )
  }

  /// The children where they are in order as they are.
  private var children: ChildMap? { order == nil ? node.children?.map : nil }

  /// The key before a child in index order, or nil when it comes first.
  ///
  /// The child need not be present.
  ///
  /// - Complexity: O(log n)
  package func keyBefore(_ key: ChildKey, _ child: Node) -> ChildKey? {
    if let order { return order.before(index.entry(key, child))?.key }
    return node.children?.map.entry(before: key)?.key
  }

  /// The first child in index order.
  package var first: (key: ChildKey, node: Node)? { ascending.first { _ in true } }

  /// The last child in index order.
  package var last: (key: ChildKey, node: Node)? { descending.first { _ in true } }
}
