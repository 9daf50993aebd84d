/// One end of a range of children.
package struct QueryBound: Hashable, Sendable {
  /// The key of a bound; it breaks ties between equal values.
  package enum KeyPart: Hashable, Sendable {
    case minimum
    case key(ChildKey)
    case maximum
  }

  /// The index value, or nil for null; in key order, the key as text.
  package var value: LeafValue?
  /// The key that breaks ties, or nil if none was given.
  package var key: KeyPart?
  package var isInclusive: Bool

  package init(_ value: LeafValue?, key: KeyPart? = nil, isInclusive: Bool = true) {
    self.value = value
    self.key = key
    self.isInclusive = isInclusive
  }
}

/// A selection of the children of a location, in an order.
package struct Query: Hashable, Sendable {
  /// The side of the range that a limit keeps.
  package enum LimitSide: Hashable, Sendable {
    case first
    case last
  }

  /// A limit on the number of children.
  package struct Limit: Hashable, Sendable {
    /// The maximum number of children, at least 1.
    package var count: Int
    package var side: LimitSide

    package init(_ count: Int, side: LimitSide) {
      self.count = count
      self.side = side
    }
  }

  /// The ends of the range; indirect, because most queries have none and servers keep many queries.
  private indirect enum Range: Hashable, Sendable {
    case whole
    case bounded(start: QueryBound?, end: QueryBound?)

    init(from start: QueryBound?, to end: QueryBound?) {
      self = start == nil && end == nil ? .whole : .bounded(start: start, end: end)
    }
  }

  package var index: Index
  private var range: Range
  package var limit: Limit?

  /// The start of the range, or nil if it is open.
  package var start: QueryBound? {
    get {
      switch range {
      case .whole: nil
      case .bounded(let start, _): start
      }
    }
    set { range = Range(from: newValue, to: end) }
  }

  /// The end of the range, or nil if it is open.
  package var end: QueryBound? {
    get {
      switch range {
      case .whole: nil
      case .bounded(_, let end): end
      }
    }
    set { range = Range(from: start, to: newValue) }
  }

  /// Makes a query; the default selects all children and orders them by priority.
  package init(
    index: Index = .priority,
    start: QueryBound? = nil,
    end: QueryBound? = nil,
    limit: Limit? = nil
  ) {
    self.index = index
    range = Range(from: start, to: end)
    self.limit = limit
  }

  /// Selects all children and orders them by priority.
  package static let all = Query()

  /// Whether the query selects every child, in any order.
  package var loadsAllData: Bool { range == .whole && limit == nil }

  package var isDefault: Bool { loadsAllData && index == .priority }

  /// Whether a child is in the range; the limit is ignored.
  package func contains(_ key: ChildKey, node: Node) -> Bool {
    let entry = index.entry(for: key, node: node)
    return !isBeforeStart(entry) && !isAfterEnd(entry)
  }

  package func isBeforeStart(_ entry: IndexEntry) -> Bool {
    guard let start else { return false }
    let order = order(of: entry, relativeTo: start, missingKey: .minimum)
    return order == .ascending || order == .same && !start.isInclusive
  }

  package func isAfterEnd(_ entry: IndexEntry) -> Bool {
    guard let end else { return false }
    let order = order(of: entry, relativeTo: end, missingKey: .maximum)
    return order == .descending || order == .same && !end.isInclusive
  }

  private enum Order {
    case ascending, same, descending
  }

  private func order(
    of entry: IndexEntry,
    relativeTo bound: QueryBound,
    missingKey: QueryBound.KeyPart
  ) -> Order {
    if index == .key {
      guard case .string(let text)? = bound.value else {
        return bound.value == nil && missingKey == .maximum ? .ascending : .descending
      }
      switch text {
      case "[MIN_NAME]": return .descending
      case "[MAX_NAME]": return .ascending
      default: return order(of: entry.key, relativeTo: ChildKey(text))
      }
    }
    let value: IndexValue = bound.value.map { .leaf($0) } ?? .missing
    if entry.value < value { return .ascending }
    if value < entry.value { return .descending }
    // An exclusive bound without a key excludes every child with that value.
    if bound.key == nil, !bound.isInclusive { return .same }
    switch bound.key ?? missingKey {
    case .minimum: return .descending
    case .maximum: return .ascending
    case .key(let key): return order(of: entry.key, relativeTo: key)
    }
  }

  private func order(of left: ChildKey, relativeTo right: ChildKey) -> Order {
    if left == right { return .same }
    return left < right ? .ascending : .descending
  }

  /// The selected children of a node, in ascending order.
  ///
  /// - Complexity: O(log n + result)
  package func select(from indexed: IndexedNode) -> [(key: ChildKey, node: Node)] {
    assert(indexed.index == index, "the node is ordered by another index")
    let maximum = limit?.count ?? .max
    var result: [(key: ChildKey, node: Node)] = []
    if limit?.side == .last {
      for (key, node) in indexed.descending(within: { !isAfterEnd($0) }) {
        if result.count >= maximum { break }
        if start != nil, isBeforeStart(index.entry(for: key, node: node)) { break }
        result.append((key, node))
      }
      result.reverse()
      return result
    }
    for (key, node) in indexed.ascending(after: isBeforeStart) {
      if result.count >= maximum { break }
      if end != nil, isAfterEnd(index.entry(for: key, node: node)) { break }
      result.append((key, node))
    }
    return result
  }

  /// The node itself if all data is selected, else the selected children without its priority.
  ///
  /// - Complexity: O(n log n), because the children are put in order first
  package func evaluate(_ node: Node) -> Node {
    loadsAllData ? node : evaluate(IndexedNode(node, by: index))
  }

  /// The selected children of a node whose children are in order, without its priority.
  ///
  /// - Complexity: O(log n + result · log result)
  package func evaluate(_ indexed: IndexedNode) -> Node {
    let node = indexed.node
    let selected = select(from: indexed)
    // Without a copy, a view's two versions of many children share their memory.
    if selected.count == node.childCount, node.children != nil { return node.withPriority(nil) }
    return Node(
      sortedChildren: selected.map { (key: $0.key, value: $0.node) }.sorted { $0.key < $1.key }
    )
  }
}
