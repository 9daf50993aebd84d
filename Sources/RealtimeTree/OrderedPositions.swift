/// Positions of children in an order, without the children.
///
/// A type of its own, since other modules would compare the entries of a generic map by dynamic
/// dispatch, which takes several times as long.
package struct OrderedPositions: Sendable {
  private var map: SortedMap<IndexEntry, Void>

  /// Makes a set of positions in ascending order, each once.
  ///
  /// - Complexity: O(n)
  package init(sorted positions: [IndexEntry] = []) {
    map = SortedMap(sortedKeys: positions, values: positions.map { _ in })
  }

  /// The number of positions.
  package var count: Int { map.count }

  /// The lowest position.
  ///
  /// - Complexity: O(log n)
  package var first: IndexEntry? { map.first?.key }

  /// The highest position.
  ///
  /// - Complexity: O(log n)
  package var last: IndexEntry? { map.last?.key }

  /// Whether a position is one of these.
  ///
  /// - Complexity: O(log n)
  package func contains(_ position: IndexEntry) -> Bool { map[position] != nil }

  /// Adds a position, which may be there already.
  ///
  /// - Complexity: O(log n)
  package mutating func insert(_ position: IndexEntry) {
    map.updateValue((), forKey: position)
  }

  /// Adds a position that is known to be none of these, without looking for it first.
  ///
  /// - Complexity: O(log n)
  mutating func insert(absent position: IndexEntry) {
    assert(!contains(position), "a position twice")
    map.insert((), forKey: position)
  }

  /// Removes a position that is known to be one of these.
  ///
  /// - Complexity: O(log n)
  mutating func remove(present position: IndexEntry) {
    assert(contains(position), "a position that is missing")
    map.remove(present: position)
  }

  /// Removes a position, and tells whether it was there.
  ///
  /// - Complexity: O(log n)
  @discardableResult
  package mutating func remove(_ position: IndexEntry) -> Bool {
    map.removeValue(forKey: position) != nil
  }

  /// The position before another, which need not be one of these.
  ///
  /// - Complexity: O(log n)
  func before(_ position: IndexEntry) -> IndexEntry? { map.entry(before: position)?.key }

  typealias Iterator = SortedMap<IndexEntry, Void>.Iterator

  func ascending(after isBefore: (IndexEntry) -> Bool) -> Iterator {
    map.ascending(after: isBefore).makeIterator()
  }

  func descending(within isWithin: (IndexEntry) -> Bool) -> Iterator {
    map.descending(within: isWithin).makeIterator()
  }
}
