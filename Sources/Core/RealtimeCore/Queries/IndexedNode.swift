/// The order of a node's children by an index, kept up to date as children change.
///
/// Key order is the order of the node itself and costs nothing; so does priority order while no
/// child has a priority. Any other order is a sorted set of positions, without the children.
package struct ChildOrder: Sendable {
  package let index: Index
  /// The order, or nil if it is key order.
  fileprivate var positions: OrderedPositions?

  /// Orders the children of a node.
  ///
  /// - Complexity: O(1) in key order, otherwise O(n log n)
  package init(of node: Node, by index: Index) {
    self.index = index
    rebuild(of: node)
  }

  /// The number of positions that the order takes memory for.
  package var positionCount: Int { positions?.count ?? 0 }

  /// Whether the order of a node's children costs nothing: it is key order, or there are none.
  package static func isFree(_ node: Node, by index: Index) -> Bool {
    switch index {
    case .key: true
    case .priority: (node.children?.prioritizedCount ?? 0) == 0
    case .value, .child: node.children == nil
    }
  }

  /// Orders the children of another node, or of a version of the node that is entirely different.
  ///
  /// - Complexity: O(1) in key order, otherwise O(n log n)
  package mutating func rebuild(of node: Node) {
    guard !Self.isFree(node, by: index), let children = node.children else {
      positions = nil
      return
    }
    let index = index
    positions = OrderedPositions(
      sorted: children.map.map { index.entry(for: $0.key, node: $0.value) }.sorted()
    )
  }

  /// Follows a node from one version to another, in which some children differ.
  ///
  /// - Parameters:
  ///   - keys: The children that may differ, each once.
  ///   - old: The version whose children are in this order.
  ///   - new: The other version.
  /// - Complexity: O(keys · log n), O(n log n) when the first priority appears among the children
  package mutating func follow(_ keys: [ChildKey], from old: Node, to new: Node) {
    if Self.isFree(new, by: index) || positions == nil { return rebuild(of: new) }
    let index = index
    for key in keys {
      let (before, after) = old.withView { old in
        new.withView { new in
          let (old, new) = old.child(key, beside: new)
          return (index.position(of: key, as: old), index.position(of: key, as: new))
        }
      }
      move(from: before, to: after)
    }
  }

  /// Follows a change of one child of a node that has children before and after.
  ///
  /// - Parameters:
  ///   - key: The key of the child.
  ///   - old: The old data of the child; empty if the child is new.
  ///   - new: The new data of the child; empty if it is removed.
  /// - Returns: Whether the order could follow; it must be rebuilt when the first priority appears
  ///   among the children.
  /// - Complexity: O(log n)
  package mutating func follow(_ key: ChildKey, from old: Node, to new: Node) -> Bool {
    guard positions != nil else {
      switch index {
      case .key: return true
      case .priority: return !new.hasPriority
      case .value, .child: return false
      }
    }
    guard !old.isEmpty, !new.isEmpty else {
      move(
        from: old.isEmpty ? nil : index.entry(for: key, node: old),
        to: new.isEmpty ? nil : index.entry(for: key, node: new)
      )
      return true
    }
    let (before, after) = (index.entry(for: key, node: old), index.entry(for: key, node: new))
    if before != after {
      positions?.remove(present: before)
      positions?.insert(absent: after)
    }
    return true
  }

  /// Follows an exchange of data below a child, above which there are children before and after.
  ///
  /// - Parameters:
  ///   - key: The key of the child.
  ///   - path: The path from the child down to the data; not empty, and not that of a priority.
  ///   - old: The old data; empty if there was none.
  ///   - new: The new data.
  /// - Returns: Whether the order could follow; otherwise it must be rebuilt.
  /// - Complexity: O(log n)
  package mutating func follow(
    _ key: ChildKey,
    below path: ArraySlice<ChildKey>,
    from old: Node,
    to new: Node
  ) -> Bool {
    // Any other value, and each priority, is what it was.
    guard case .child(let place) = index, place.keys.starts(with: path) else { return true }
    guard positions != nil else { return false }
    let part =
      place.count == path.count ? Index.value : .child(Path(place.keys.dropFirst(path.count)))
    move(from: part.entry(for: key, node: old), to: part.entry(for: key, node: new))
    return true
  }

  /// Moves a child to its new position, if that differs from the old one.
  private mutating func move(from before: IndexEntry?, to after: IndexEntry?) {
    // Each child has one position, so one that differs is not in the order yet.
    switch (before, after) {
    case (nil, nil): break
    case (let before?, nil): positions?.remove(present: before)
    case (nil, let after?): positions?.insert(absent: after)
    case (let before?, let after?):
      if before == after { return }
      positions?.remove(present: before)
      positions?.insert(absent: after)
    }
  }
}

/// A node with its children in the order of an index, in which they are looked up lazily.
package struct IndexedNode: Sendable {
  package private(set) var node: Node
  private var childOrder: ChildOrder

  /// Orders the children of a node.
  ///
  /// - Complexity: O(1) in key order, otherwise O(n log n)
  package init(_ node: Node, by index: Index) {
    self.node = node
    childOrder = ChildOrder(of: node, by: index)
  }

  /// Combines a node with the order of its children.
  ///
  /// - Complexity: O(1)
  package init(_ node: Node, in order: ChildOrder) {
    self.node = node
    childOrder = order
  }

  package var index: Index { childOrder.index }

  /// The order, or nil if it is key order.
  private var order: OrderedPositions? { childOrder.positions }

  /// Sets a child; an empty node removes it.
  ///
  /// - Complexity: O(log n); O(n log n) when the first priority appears among the children
  package mutating func set(_ key: ChildKey, to child: Node) {
    let old = node[key]
    let hadChildren = node.children != nil
    node.update(at: Path([key]), to: child)
    let follows =
      hadChildren && node.children != nil && childOrder.follow(key, from: old, to: child)
    if !follows { childOrder.rebuild(of: node) }
  }

  /// Replaces the node's own priority.
  package mutating func setPriority(_ priority: LeafValue?) {
    node = node.withPriority(priority)
  }

  package var ascending: OrderedChildren { ascending(after: { _ in false }) }

  package var descending: OrderedChildren { descending(within: { _ in true }) }

  /// The children in index order, from the first that is not before a bound.
  ///
  /// - Parameter isBefore: Returns true for a prefix of the order, and false after it.
  /// - Returns: The children after the prefix, in ascending order.
  package func ascending(after isBefore: (IndexEntry) -> Bool) -> OrderedChildren {
    OrderedChildren(
      node: node,
      positions: order?.ascending(after: isBefore),
      children: children?.ascending { isBefore(IndexEntry(value: .missing, key: $0)) }
    )
  }

  /// The children in reverse index order, from the last that is within a bound.
  ///
  /// - Parameter isWithin: Returns true for a prefix of the order, and false after it.
  /// - Returns: The children in the prefix, in descending order.
  package func descending(within isWithin: (IndexEntry) -> Bool) -> OrderedChildren {
    OrderedChildren(
      node: node,
      positions: order?.descending(within: isWithin),
      children: children?.descending { isWithin(IndexEntry(value: .missing, key: $0)) }
    )
  }

  /// The children, if the order is the order of the node itself.
  private var children: ChildMap? { order == nil ? node.children?.map : nil }

  /// The key before a child in index order, or nil if it comes first.
  ///
  /// The child need not be present.
  ///
  /// - Complexity: O(log n)
  package func keyBefore(_ key: ChildKey, child: Node) -> ChildKey? {
    if let order { return order.before(index.entry(for: key, node: child))?.key }
    return node.children?.map.entry(before: key)?.key
  }

  package var first: (key: ChildKey, node: Node)? { ascending.first { _ in true } }

  package var last: (key: ChildKey, node: Node)? { descending.first { _ in true } }
}

/// The children of a node in the order of an index, looked up lazily.
package struct OrderedChildren: Sequence, IteratorProtocol {
  fileprivate let node: Node
  /// The order, if it is not the order of the node itself.
  fileprivate var positions: OrderedPositions.Iterator?
  /// The children, if the order is the order of the node itself.
  fileprivate var children: SortedMap<ChildKey, Node>.Entries?

  /// Returns the next child, or nil at the end.
  ///
  /// - Complexity: O(log n)
  package mutating func next() -> (key: ChildKey, node: Node)? {
    if let key = positions?.next()?.key { return (key, node[key]) }
    return children?.next().map { ($0.key, $0.value) }
  }
}
