internal import RealtimeCore

/// The children that a filtered query selects at a location, kept up to date with each change.
///
/// Peers that listen to the same query share one window. Without a limit, a child is selected
/// independently of all others, so nothing is stored; with a limit, the positions of the selected
/// children are stored.
struct QueryWindow: Sendable {
  struct Delta: Equatable {
    /// The children that were selected before and still are, in key order.
    var kept: [ChildKey] = []
    /// The children that have become selected, in key order.
    var entered: [ChildKey] = []
    /// The children that are no longer selected, in key order.
    var left: [ChildKey] = []

    fileprivate mutating func append(_ key: ChildKey, wasSelected: Bool, isSelected: Bool) {
      switch (wasSelected, isSelected) {
      case (true, true): kept.append(key)
      case (false, true): entered.append(key)
      case (true, false): left.append(key)
      case (false, false): break
      }
    }
  }

  let query: Query
  /// The peers that listen, each with its tag.
  var listeners = SortedMap<PeerID, Int64>()
  /// The selected positions; unused without a limit.
  private var positions = OrderedPositions()

  init(_ query: Query, of indexed: IndexedNode) {
    self.query = query
    replace(from: indexed)
  }

  /// Selects the children again.
  ///
  /// - Complexity: O(log n + window · log window)
  mutating func replace(from indexed: IndexedNode) {
    guard query.limit != nil else { return }
    let selected = query.select(from: indexed)
    positions = OrderedPositions(
      sorted: selected.map { query.index.entry(for: $0.key, node: $0.node) }
    )
  }

  /// Applies a change of some children, each once and in order, and returns what to push.
  ///
  /// A child that was not there before is empty; the indexed location is that after the change.
  ///
  /// - Complexity: O(changed · log n)
  mutating func update(_ keys: [ChildKey], before: [Node], after indexed: IndexedNode) -> Delta {
    guard let limit = query.limit else {
      return unlimitedDelta(keys, before: before, after: indexed.node)
    }
    let isFull = positions.count >= limit.count
    let boundary = farthest(limit.side)
    let changed = Set(keys)
    var was: Set<ChildKey> = []
    for (key, child) in zip(keys, before) {
      if !child.isEmpty, positions.remove(query.index.entry(for: key, node: child)) {
        was.insert(key)
      }
    }
    var candidates: [IndexEntry] = []
    for key in keys {
      let child = indexed.node[key]
      guard !child.isEmpty, query.contains(key, node: child) else { continue }
      let entry = query.index.entry(for: key, node: child)
      if isFull, let boundary, isBeyond(entry, boundary: boundary, side: limit.side) { continue }
      candidates.append(entry)
    }
    var touched = keys
    for entry in candidates { positions.insert(entry) }
    while positions.count > limit.count, let last = farthest(limit.side) {
      positions.remove(last)
      if !changed.contains(last.key) {
        touched.append(last.key)
        was.insert(last.key)
      }
    }
    if isFull, let boundary, positions.count < limit.count {
      for entry in entries(beyond: boundary, of: indexed, limit: limit) {
        positions.insert(entry)
        if !changed.contains(entry.key) { touched.append(entry.key) }
      }
    }
    return delta(touched, was: was, in: indexed.node)
  }

  private func unlimitedDelta(_ keys: [ChildKey], before: [Node], after: Node) -> Delta {
    var delta = Delta()
    for (key, child) in zip(keys, before) {
      delta.append(
        key,
        wasSelected: isSelected(child, key: key),
        isSelected: isSelected(after[key], key: key)
      )
    }
    return delta
  }

  private func isSelected(_ child: Node, key: ChildKey) -> Bool {
    !child.isEmpty && query.contains(key, node: child)
  }

  private func isBeyond(
    _ entry: IndexEntry,
    boundary: IndexEntry,
    side: Query.LimitSide
  ) -> Bool {
    side == .first ? boundary < entry : entry < boundary
  }

  /// The selected position that the limit cuts off first.
  private func farthest(_ side: Query.LimitSide) -> IndexEntry? {
    side == .first ? positions.last : positions.first
  }

  /// The entries that move up into a window that has lost children.
  private func entries(
    beyond boundary: IndexEntry,
    of indexed: IndexedNode,
    limit: Query.Limit
  ) -> [IndexEntry] {
    let missing = limit.count - positions.count
    let rest =
      limit.side == .first
      ? indexed.ascending { !(boundary < $0) } : indexed.descending { $0 < boundary }
    return rest.prefix(missing).prefix { query.contains($0.key, node: $0.node) }
      .map { query.index.entry(for: $0.key, node: $0.node) }
  }

  private func delta(_ keys: [ChildKey], was: Set<ChildKey>, in node: Node) -> Delta {
    var delta = Delta()
    for key in keys.sorted() {
      let child = node[key]
      let isIn = !child.isEmpty && positions.contains(query.index.entry(for: key, node: child))
      delta.append(key, wasSelected: was.contains(key), isSelected: isIn)
    }
    return delta
  }
}
