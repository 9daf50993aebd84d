/// Children of a node in the order of an index, looked up one after the other as they are asked for.
package struct OrderedChildren: Sequence, IteratorProtocol {
  private let node: Node
  /// The positions in an order of its own.
  private var positions: OrderedPositions.Iterator?
  /// The children in the order that they have by themselves.
  private var children: SortedMap<ChildKey, Node>.Iterator?

  init(
    of node: Node,
    _ positions: OrderedPositions.Iterator?,
    _ children: SortedMap<ChildKey, Node>.Entries?
  ) {
    self.node = node
    self.positions = positions
    self.children = children?.makeIterator()
  }

  /// Gives the next child, or nil at the end.
  ///
  /// - Complexity: O(log n)
  package mutating func next() -> (key: ChildKey, node: Node)? {
    if let key = positions?.next()?.key { return (key, node[key]) }
    return children?.next().map { ($0.key, $0.value) }
  }
}
