/// Positions of children in an order, without the children.
///
/// The positions lie in chunks of up to 128, one after the other, beside a directory of the first
/// position of each: a change looks through the directory, which stays in the processor's cache, and
/// moves a few kilobytes of one chunk. Copies share all chunks but those that change.
package struct OrderedPositions: Sendable {
  private var chunks: [[IndexEntry]] = []
  /// The first position of each chunk; no chunk is empty.
  private var firsts: [IndexEntry] = []
  /// The number of positions.
  package private(set) var count = 0

  private static let mostInChunk = 128
  /// A chunk of fewer is joined with the next one, where both have room in one.
  private static let fewestInChunk = 32
  /// How full chunks are when they are made of many positions at once.
  private static let usualInChunk = 64

  /// A chunk, and a place in it, which may be behind its last position.
  fileprivate struct Place {
    var chunk: Int
    var index: Int
  }

  /// Makes a set of positions in ascending order, each once.
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

  /// Whether a position is one of these.
  ///
  /// - Complexity: O(log n)
  package func contains(_ position: IndexEntry) -> Bool {
    guard let place = place(of: position) else { return false }
    return holds(position, at: place)
  }

  /// Adds a position, which may be there already.
  ///
  /// - Complexity: as of `insert(absent:)`
  package mutating func insert(_ position: IndexEntry) {
    if !contains(position) { insert(absent: position) }
  }

  /// Adds a position that is known to be none of these, without looking for it first.
  ///
  /// - Complexity: O(log n), and O(n) with a small factor when a chunk is full, after 64 others
  mutating func insert(absent position: IndexEntry) {
    assert(!contains(position), "a position twice")
    guard var place = place(of: position) else {
      chunks = [[position]]
      firsts = [position]
      count = 1
      return
    }
    if chunks[place.chunk].count == Self.mostInChunk { place = split(at: place) }
    chunks[place.chunk].insert(position, at: place.index)
    if place.index == 0 { firsts[place.chunk] = position }
    count += 1
  }

  /// Removes a position that is known to be one of these.
  ///
  /// - Complexity: as of `insert(absent:)`
  mutating func remove(present position: IndexEntry) {
    guard let place = place(of: position), holds(position, at: place) else {
      return assertionFailure("a position that is missing")
    }
    remove(at: place)
  }

  /// Removes a position, and tells whether it was there.
  ///
  /// - Complexity: as of `insert(absent:)`
  @discardableResult
  package mutating func remove(_ position: IndexEntry) -> Bool {
    guard let place = place(of: position), holds(position, at: place) else { return false }
    remove(at: place)
    return true
  }

  /// The position before another, which need not be one of these.
  ///
  /// - Complexity: O(log n)
  func before(_ position: IndexEntry) -> IndexEntry? {
    guard let place = place(of: position) else { return nil }
    if place.index > 0 { return chunks[place.chunk][place.index - 1] }
    return place.chunk > 0 ? chunks[place.chunk - 1].last : nil
  }

  // MARK: Places

  /// Where a position is or belongs; nil if there are none.
  private func place(of position: IndexEntry) -> Place? {
    place {
      $0 < position
    } orFirst: {
      !(position < $0)
    }
  }

  /// The place of the first position that does not satisfy a predicate that holds for a prefix.
  private func place(after isBefore: (IndexEntry) -> Bool) -> Place? {
    place(isBefore, orFirst: isBefore)
  }

  /// The place behind all positions before it, in the last chunk whose first one may be before it.
  @inline(__always)
  private func place(
    _ isBefore: (IndexEntry) -> Bool,
    orFirst startsAtOrBefore: (IndexEntry) -> Bool
  ) -> Place? {
    if chunks.isEmpty { return nil }
    let chunk = max(0, Self.partition(firsts, startsAtOrBefore) - 1)
    return Place(chunk: chunk, index: Self.partition(chunks[chunk], isBefore))
  }

  /// How many positions at the beginning satisfy a predicate that holds for a prefix only.
  @inline(__always)
  private static func partition(
    _ positions: [IndexEntry],
    _ isBefore: (IndexEntry) -> Bool
  ) -> Int {
    positions.withUnsafeBufferPointer { positions in
      var low = 0
      var high = positions.count
      while low < high {
        let middle = (low + high) / 2
        if isBefore(positions[middle]) { low = middle + 1 } else { high = middle }
      }
      return low
    }
  }

  private func holds(_ position: IndexEntry, at place: Place) -> Bool {
    place.index < chunks[place.chunk].count && chunks[place.chunk][place.index] == position
  }

  // MARK: Chunks

  private mutating func remove(at place: Place) {
    count -= 1
    chunks[place.chunk].remove(at: place.index)
    guard let first = chunks[place.chunk].first else {
      chunks.remove(at: place.chunk)
      firsts.remove(at: place.chunk)
      return
    }
    if place.index == 0 { firsts[place.chunk] = first }
    if chunks[place.chunk].count < Self.fewestInChunk { join(place.chunk) }
  }

  /// Splits a chunk into two that take no more memory than they need, and gives the place in them.
  private mutating func split(at place: Place) -> Place {
    let chunk = place.chunk
    let middle = chunks[chunk].count / 2
    let upper = Array(chunks[chunk][middle...])
    chunks[chunk] = Array(chunks[chunk][..<middle])
    chunks.insert(upper, at: chunk + 1)
    firsts.insert(upper[0], at: chunk + 1)
    return place.index <= middle
      ? place : Place(chunk: chunk + 1, index: place.index - middle)
  }

  /// Joins a chunk with the next one, or the one before it if it is the last.
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

  /// Goes through positions in one direction.
  struct Iterator: IteratorProtocol {
    private let chunks: [[IndexEntry]]
    private var chunk: Int
    /// Of the next position, or behind it when it goes down.
    private var index: Int
    private let isAscending: Bool

    fileprivate init(_ chunks: [[IndexEntry]], from place: Place?, isAscending: Bool) {
      self.chunks = chunks
      chunk = place?.chunk ?? 0
      index = place?.index ?? 0
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
    Iterator(chunks, from: place(after: isBefore), isAscending: true)
  }

  func descending(within isWithin: (IndexEntry) -> Bool) -> Iterator {
    Iterator(chunks, from: place(after: isWithin), isAscending: false)
  }
}
