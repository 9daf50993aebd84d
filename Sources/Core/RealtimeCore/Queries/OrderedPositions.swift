/// A sorted set of child positions, without the children themselves.
///
/// The positions are stored in chunks of up to 128, and a directory stores the first position of
/// each chunk. A change searches the directory, which stays in the processor's cache, and moves a
/// few kilobytes of one chunk. Copies share all chunks except those that change.
package struct OrderedPositions: Sendable {
  private var chunks: [[IndexEntry]] = []
  /// The first position of each chunk; no chunk is empty.
  private var firsts: [IndexEntry] = []
  package private(set) var count = 0
  private static let mostInChunk = 128
  /// A smaller chunk is merged with a neighbour if both together have at most the usual size.
  private static let fewestInChunk = 32
  /// The size of chunks when many positions are added at once, and the largest size after a merge.
  private static let usualInChunk = 64

  /// An index within a chunk; it may be past the end of the chunk.
  fileprivate struct Slot {
    var chunk: Int
    var index: Int
  }

  /// Makes a set from positions in ascending order without duplicates.
  ///
  /// - Complexity: O(n)
  package init(sorted positions: [IndexEntry] = []) {
    count = positions.count
    for start in stride(from: 0, to: positions.count, by: Self.usualInChunk) {
      let end = min(start + Self.usualInChunk, positions.count)
      chunks.append(Array(positions[start..<end]))
      firsts.append(positions[start])
    }
  }

  /// The lowest position.
  ///
  /// - Complexity: O(1)
  package var first: IndexEntry? { firsts.first }

  /// The highest position.
  ///
  /// - Complexity: O(1)
  package var last: IndexEntry? { chunks.last?.last }

  /// Whether the set contains a position.
  ///
  /// - Complexity: O(log n)
  package func contains(_ position: IndexEntry) -> Bool {
    guard let slot = slot(of: position) else { return false }
    return holds(position, at: slot)
  }

  /// Adds a position unless it is present.
  ///
  /// - Complexity: As for `insert(absent:)`
  package mutating func insert(_ position: IndexEntry) {
    if !contains(position) { insert(absent: position) }
  }

  /// Adds a position that is known to be absent.
  ///
  /// - Complexity: O(log n); O(n) with a small factor on a split, at most every 64th time
  mutating func insert(absent position: IndexEntry) {
    assert(!contains(position), "a position twice")
    guard var slot = slot(of: position) else {
      chunks = [[position]]
      firsts = [position]
      count = 1
      return
    }
    if chunks[slot.chunk].count == Self.mostInChunk { slot = split(at: slot) }
    chunks[slot.chunk].insert(position, at: slot.index)
    if slot.index == 0 { firsts[slot.chunk] = position }
    count += 1
  }

  /// Removes a position that is known to be present.
  ///
  /// - Complexity: As for `insert(absent:)`
  mutating func remove(present position: IndexEntry) {
    guard let slot = slot(of: position), holds(position, at: slot) else {
      return assertionFailure("a position that is missing")
    }
    remove(at: slot)
  }

  /// Removes a position and returns whether it was present.
  ///
  /// - Complexity: As for `insert(absent:)`
  @discardableResult
  package mutating func remove(_ position: IndexEntry) -> Bool {
    guard let slot = slot(of: position), holds(position, at: slot) else { return false }
    remove(at: slot)
    return true
  }

  /// The position before another one, which need not be present.
  ///
  /// - Complexity: O(log n)
  func before(_ position: IndexEntry) -> IndexEntry? {
    guard let slot = slot(of: position) else { return nil }
    if slot.index > 0 { return chunks[slot.chunk][slot.index - 1] }
    return slot.chunk > 0 ? chunks[slot.chunk - 1].last : nil
  }

  // MARK: Search

  /// The slot of a position, or the slot at which to insert it; nil if the set is empty.
  private func slot(of position: IndexEntry) -> Slot? {
    slot(after: { $0 < position }, orFirst: { !(position < $0) })
  }

  /// The slot of the first position that does not satisfy a predicate, which holds for a prefix.
  private func slot(after isBefore: (IndexEntry) -> Bool) -> Slot? {
    slot(after: isBefore, orFirst: isBefore)
  }

  /// The slot after all positions before a bound, in the last chunk that starts at or before it.
  @inline(__always)
  private func slot(
    after isBefore: (IndexEntry) -> Bool,
    orFirst startsAtOrBefore: (IndexEntry) -> Bool
  ) -> Slot? {
    if chunks.isEmpty { return nil }
    let chunk = max(0, Self.partition(firsts, by: startsAtOrBefore) - 1)
    return Slot(chunk: chunk, index: Self.partition(chunks[chunk], by: isBefore))
  }

  /// The number of positions that satisfy a predicate, which must hold for a prefix.
  @inline(__always)
  private static func partition(
    _ positions: [IndexEntry],
    by isBefore: (IndexEntry) -> Bool
  ) -> Int {
    positions.withUnsafeBufferPointer { positions in
      var low = 0
      var high = positions.count
      while low < high {
        let middle = (low &+ high) >> 1
        if isBefore(positions[middle]) { low = middle + 1 } else { high = middle }
      }
      return low
    }
  }

  private func holds(_ position: IndexEntry, at slot: Slot) -> Bool {
    slot.index < chunks[slot.chunk].count && chunks[slot.chunk][slot.index] == position
  }

  // MARK: Chunks

  private mutating func remove(at slot: Slot) {
    count -= 1
    chunks[slot.chunk].remove(at: slot.index)
    guard let first = chunks[slot.chunk].first else {
      chunks.remove(at: slot.chunk)
      firsts.remove(at: slot.chunk)
      return
    }
    if slot.index == 0 { firsts[slot.chunk] = first }
    if chunks[slot.chunk].count < Self.fewestInChunk { join(slot.chunk) }
  }

  /// Splits a chunk into two of exact capacity and returns the new location of a slot in it.
  private mutating func split(at slot: Slot) -> Slot {
    let chunk = slot.chunk
    let middle = chunks[chunk].count / 2
    let upper = Array(chunks[chunk][middle...])
    chunks[chunk] = Array(chunks[chunk][..<middle])
    chunks.insert(upper, at: chunk + 1)
    firsts.insert(upper[0], at: chunk + 1)
    return slot.index <= middle
      ? slot : Slot(chunk: chunk + 1, index: slot.index - middle)
  }

  /// Merges a chunk with the next one, or with the previous one if it is the last, unless the
  /// result would be too large.
  private mutating func join(_ chunk: Int) {
    let lower = chunk + 1 < chunks.count ? chunk : chunk - 1
    guard lower >= 0, chunks[lower].count + chunks[lower + 1].count <= Self.usualInChunk else {
      return
    }
    chunks[lower].append(contentsOf: chunks[lower + 1])
    chunks.remove(at: lower + 1)
    firsts.remove(at: lower + 1)
  }

  // MARK: Iteration

  /// Iterates in one direction.
  struct Iterator: IteratorProtocol {
    private let chunks: [[IndexEntry]]
    private var chunk: Int
    /// The index of the next position; when iterating downwards, that index plus one.
    private var index: Int
    private let isAscending: Bool

    fileprivate init(_ chunks: [[IndexEntry]], from slot: Slot?, isAscending: Bool) {
      self.chunks = chunks
      chunk = slot?.chunk ?? 0
      index = slot?.index ?? 0
      self.isAscending = isAscending
    }

    mutating func next() -> IndexEntry? {
      isAscending ? nextUp() : nextDown()
    }

    private mutating func nextUp() -> IndexEntry? {
      while chunk < chunks.count {
        if index < chunks[chunk].count {
          defer { index += 1 }
          return chunks[chunk][index]
        }
        chunk += 1
        index = 0
      }
      return nil
    }

    private mutating func nextDown() -> IndexEntry? {
      while index == 0 {
        guard chunk > 0 else { return nil }
        chunk -= 1
        index = chunks[chunk].count
      }
      index -= 1
      return chunks[chunk][index]
    }
  }

  func ascending(after isBefore: (IndexEntry) -> Bool) -> Iterator {
    Iterator(chunks, from: slot(after: isBefore), isAscending: true)
  }

  func descending(within isWithin: (IndexEntry) -> Bool) -> Iterator {
    Iterator(chunks, from: slot(after: isWithin), isAscending: false)
  }
}
