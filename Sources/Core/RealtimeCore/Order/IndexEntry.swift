/// The position of a child in an order: its index value, then its key.
///
/// Positions are compared far more often than made, so that a value is kept as a number, and by
/// itself only where that number does not tell all of it.
package struct IndexEntry: Sendable {
  private let rank: IndexRank
  /// The value, where the rank may be that of others as well.
  private let exact: Exact?
  /// The key, which breaks ties.
  package let key: ChildKey

  private final class Exact: Sendable {
    let value: IndexValue

    init(_ value: IndexValue) {
      self.value = value
    }
  }

  /// Makes a position.
  package init(value: IndexValue, key: ChildKey) {
    rank = IndexRank(value)
    exact = rank.value == value ? nil : Exact(value)
    self.key = key
  }

  /// What the child is ordered by.
  package var value: IndexValue { exact?.value ?? rank.value ?? .missing }

  /// Whether this position, which has the same rank, comes before another one.
  private func precedes(_ other: IndexEntry) -> Bool {
    let (left, right) = (value, other.value)
    if left < right { return true }
    if right < left { return false }
    return key < other.key
  }
}

extension IndexEntry: Comparable {
  package static func == (left: IndexEntry, right: IndexEntry) -> Bool {
    left.rank == right.rank && left.key == right.key
      && ((left.exact == nil && right.exact == nil) || left.value == right.value)
  }

  @inline(__always)
  package static func < (left: IndexEntry, right: IndexEntry) -> Bool {
    if left.rank != right.rank { return left.rank < right.rank }
    if left.exact == nil, right.exact == nil { return left.key < right.key }
    return left.precedes(right)
  }
}

extension IndexEntry: Hashable {
  package func hash(into hasher: inout Hasher) {
    hasher.combine(rank)
    hasher.combine(key)
  }
}
