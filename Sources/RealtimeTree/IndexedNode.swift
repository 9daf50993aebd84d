/// A node with its children in the order of an index, kept up to date as children change.
///
/// Key order (and priority order while no child has a priority) is the order of the node itself and
/// costs nothing; every other order is a second sorted map.
package struct IndexedNode: Sendable {
  /// The node.
  package private(set) var node: Node
  /// What the children are ordered by.
  package let index: Index
  /// The order, or nil when key order serves.
  private var order: SortedMap<IndexEntry, Node>?

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
    let entries = children.map.map { (key: index.entry($0.key, $0.value), value: $0.value) }
    order = SortedMap(sorted: entries.sorted { $0.key < $1.key })
  }

  /// Sets a child, or removes it by an empty node.
  ///
  /// - Complexity: O(log n), O(n log n) when the first priority appears among the children
  package mutating func set(_ key: ChildKey, to child: Node) {
    let old = node[key]
    let hadChildren = node.children != nil
    node.update(at: Path([key]), to: child)
    if usesKeyOrder || !hadChildren || order == nil {
      rebuildOrder()
      return
    }
    if !old.isEmpty { order?.removeValue(forKey: index.entry(key, old)) }
    if !child.isEmpty { order?.updateValue(child, forKey: index.entry(key, child)) }
  }

  /// Replaces the node's own priority.
  package mutating func setPriority(_ priority: LeafValue?) {
    node = node.withPriority(priority)
  }

  /// The children in index order.
  package var ascending: AnySequence<(key: ChildKey, node: Node)> {
    if let order { return AnySequence(order.lazy.map { ($0.key.key, $0.value) }) }
    guard let children = node.children else { return AnySequence([]) }
    return AnySequence(children.map.lazy.map { ($0.key, $0.value) })
  }

  /// The children in the reverse of index order.
  package var descending: AnySequence<(key: ChildKey, node: Node)> {
    if let order { return AnySequence(order.descending.lazy.map { ($0.key.key, $0.value) }) }
    guard let children = node.children else { return AnySequence([]) }
    return AnySequence(children.map.descending.lazy.map { ($0.key, $0.value) })
  }

  /// The children from the first that is not before a bound, in index order.
  ///
  /// - Parameter isBefore: True for a prefix of the order, false for all after it.
  /// - Returns: The rest in ascending order.
  package func ascending(
    after isBefore: (IndexEntry) -> Bool
  ) -> AnySequence<(key: ChildKey, node: Node)> {
    if let order {
      return AnySequence(order.ascending(after: isBefore).lazy.map { ($0.key.key, $0.value) })
    }
    guard let children = node.children else { return AnySequence([]) }
    let entries = children.map.ascending { isBefore(IndexEntry(value: .missing, key: $0)) }
    return AnySequence(entries.lazy.map { ($0.key, $0.value) })
  }

  /// The children from the last that is within a bound, in the reverse of index order.
  ///
  /// - Parameter isWithin: True for a prefix of the order, false for all after it.
  /// - Returns: The start in descending order.
  package func descending(
    within isWithin: (IndexEntry) -> Bool
  ) -> AnySequence<(key: ChildKey, node: Node)> {
    if let order {
      return AnySequence(order.descending(within: isWithin).lazy.map { ($0.key.key, $0.value) })
    }
    guard let children = node.children else { return AnySequence([]) }
    let entries = children.map.descending { isWithin(IndexEntry(value: .missing, key: $0)) }
    return AnySequence(entries.lazy.map { ($0.key, $0.value) })
  }

  /// The key before a child in index order, or nil when it comes first.
  ///
  /// The child need not be present.
  ///
  /// - Complexity: O(log n)
  package func keyBefore(_ key: ChildKey, _ child: Node) -> ChildKey? {
    if let order { return order.entry(before: index.entry(key, child))?.key.key }
    return node.children?.map.entry(before: key)?.key
  }

  /// The first child in index order.
  package var first: (key: ChildKey, node: Node)? { ascending.first { _ in true } }

  /// The last child in index order.
  package var last: (key: ChildKey, node: Node)? { descending.first { _ in true } }
}
