internal import RealtimeCore
internal import RealtimeDatabase

/// A part of a list: what is observed, and the two ends between which it is shown.
///
/// States: window → settling → settled. A window is a query with a limit, which ends where its posts
/// do; the page beyond that end begins there, and that place becomes an end of this page too. As long
/// as nothing comes between, the window shows all that there is up to its end. It settles to a range
/// between the ends once it has pushed out a post, or no longer ends where the other page begins.
struct FeedPage {
  /// What an observer has told of a part.
  struct Part {
    let range: FeedRange
    let token: Int
    /// Whether the children only name posts that are elsewhere.
    let isIndex: Bool
    var entries: OrderedSnapshots<FeedEntry>
    let query: DatabaseQuery
    var handle: DatabaseHandle = 0
  }

  /// What is shown.
  private(set) var part: Part
  /// What will be shown once all of it is whole, from the highest to the lowest.
  var next: [Part] = []
  /// Where the page below ends; nil as long as this one goes down as far as its part does.
  private(set) var lower: FeedBound?
  /// Where the page above begins; nil as long as this one goes up as far as its part does.
  private(set) var upper: FeedBound?
  /// Posts that the limit has pushed out and that stay until the page has settled.
  private var held: [FeedEntry] = []
  /// Posts that have left the part since it was whole last.
  private var leaving: [FeedEntry] = []

  init(_ part: Part) {
    self.part = part
    lower = part.range.lower
    upper = part.range.upper
  }

  /// Whether the server has said what there is.
  var isLoaded: Bool { part.entries.isLoaded }
  /// Whether another query is on its way to take the place of this one.
  var isSettling: Bool { !next.isEmpty }
  /// Whether the page has two ends that nothing moves.
  var isSettled: Bool { part.range.limit == nil }

  /// Whether there may be more than the limit lets through.
  private var isFull: Bool {
    switch part.range.limit {
    case .highest(let count), .lowest(let count): part.entries.elements.count >= count
    case nil: false
    }
  }

  // MARK: Events

  /// Takes an event of the part.
  mutating func take(_ event: DataEventType, of snapshot: DataSnapshot, by index: Index) {
    if event == .childRemoved {
      if let gone = part.entries.element(snapshot.key) { leaving.append(gone) }
    } else if event != .value {
      held.removeAll { $0.id == snapshot.key }
    }
    _ = part.entries.take(event, of: snapshot, as: FeedEntry(snapshot, by: index))
  }

  /// Which of the parts to come has that token.
  func nextIndex(_ token: Int) -> Int? { next.firstIndex { $0.token == token } }

  /// Takes an event of one of the parts to come.
  mutating func takeNext(
    _ event: DataEventType,
    of snapshot: DataSnapshot,
    token: Int,
    by index: Index
  ) {
    guard let number = nextIndex(token) else { return }
    _ = next[number].entries.take(event, of: snapshot, as: FeedEntry(snapshot, by: index))
  }

  /// The range to settle to when events that came together have left the page without a part that
  /// shows all between its ends and nothing else.
  mutating func rangeToSettle() -> FeedRange? {
    hold()
    guard !isSettling, !held.isEmpty || !endsAtNeighbour else { return nil }
    switch part.range.limit {
    case .highest:
      lower = lower ?? nameable(entries, isAfter: false)
      guard lower != nil else { return nil }
    case .lowest:
      upper = upper ?? nameable(entries.reversed(), isAfter: true)
      guard upper != nil else { return nil }
    case nil: return nil
    }
    return FeedRange(lower: lower, upper: upper)
  }

  /// The first of some places that a query can name.
  private func nameable(_ entries: [FeedEntry], isAfter: Bool) -> FeedBound? {
    entries.lazy.map { FeedBound(entry: $0, isAfter: isAfter) }.first(where: \.canBeNamed)
  }

  /// Keeps the posts that the limit, and not their authors, may have removed.
  private mutating func hold() {
    defer { leaving = [] }
    guard !leaving.isEmpty, isFull, let lowest = part.entries.elements.first,
      let highest = part.entries.elements.last
    else { return }
    switch part.range.limit {
    case .highest: held += leaving.filter { $0.position < lowest.position && isBetweenEnds($0) }
    case .lowest: held += leaving.filter { highest.position < $0.position && isBetweenEnds($0) }
    case nil: return
    }
  }

  private func isBetweenEnds(_ entry: FeedEntry) -> Bool {
    lower?.isAbove(entry.position) != true && upper?.isAbove(entry.position) != false
  }

  /// Whether the window ends where the page beyond its end begins.
  ///
  /// Where it ends earlier, a post that comes between would be in neither page.
  private var endsAtNeighbour: Bool {
    let elements = part.entries.elements
    switch part.range.limit {
    case .highest:
      guard let lower, let end = elements.first else { return true }
      return isFull ? end.position == lower.entry.position : !lower.isAbove(end.position)
    case .lowest:
      guard let upper, let end = elements.last else { return true }
      return isFull ? end.position == upper.entry.position : upper.isAbove(end.position)
    case nil: return true
    }
  }

  // MARK: What is shown

  /// The posts between the ends, in ascending order.
  var entries: [FeedEntry] {
    let shown = part.entries.elements[shownRange]
    return held.isEmpty ? Array(shown) : (held + shown).sorted { $0.position < $1.position }
  }

  private var shownRange: Range<Int> {
    let start = lower.map { part.entries.count(before: $0.isAbove) } ?? 0
    let end = upper.map { part.entries.count(before: $0.isAbove) } ?? part.entries.elements.count
    return start..<max(start, end)
  }

  /// The child of that key; nil when the page does not show it.
  func entry(_ key: String) -> FeedEntry? {
    guard let index = part.entries.index(of: key), shownRange.contains(index) else {
      return held.first { $0.id == key }
    }
    return part.entries.elements[index]
  }

  /// How many posts stand above a position, and how many there or below.
  func counts(around position: IndexEntry) -> (above: Int, below: Int) {
    let entries = entries
    let index = Self.index(of: position, in: entries)
    guard !part.isIndex else { return (entries.count - index, index) }
    return (
      entries[index...].count { $0.post != nil }, entries[..<index].count { $0.post != nil }
    )
  }

  /// How many of some ascending entries stand at a position or below.
  private static func index(of position: IndexEntry, in entries: [FeedEntry]) -> Int {
    var range = 0..<entries.count
    while !range.isEmpty {
      let middle = range.lowerBound + range.count / 2
      range =
        position < entries[middle].position
        ? range.lowerBound..<middle : middle + 1..<range.upperBound
    }
    return range.lowerBound
  }

  // MARK: Reading on

  /// Where the list goes on below the page; nil where it ends, as far as that is known.
  var olderEnd: FeedBound? {
    if let lower { return lower }
    guard case .highest? = part.range.limit, isFull else { return nil }
    return part.entries.elements.first.map { FeedBound(entry: $0, isAfter: false) }
  }

  /// Where the list goes on above the page; nil where it begins, as far as that is known.
  var newerEnd: FeedBound? {
    if let upper { return upper }
    guard case .lowest? = part.range.limit, isFull else { return nil }
    return part.entries.elements.last.map { FeedBound(entry: $0, isAfter: true) }
  }

  /// Whether the list may go on below the page.
  var hasOlder: Bool { olderEnd != nil || !isLoaded }

  /// Whether the list may go on above the page.
  var hasNewer: Bool {
    if case .lowest? = part.range.limit, !isLoaded { return true }
    return newerEnd != nil
  }

  /// Ends the page where the list goes on below; nil when that cannot be read.
  mutating func endBelow() -> FeedBound? {
    guard isLoaded, !isSettling, let end = olderEnd, end.canBeNamed else { return nil }
    lower = end
    return end
  }

  /// Ends the page where the list goes on above; nil when that cannot be read.
  mutating func endAbove() -> FeedBound? {
    guard isLoaded, !isSettling, let end = newerEnd, end.canBeNamed else { return nil }
    upper = end
    return end
  }

  /// The two ranges to divide a page into that has settled and has more than so many posts, the higher
  /// one first, with its share of the posts; none when the page stays as it is.
  func rangesToDivide(over length: Int, higher count: Int) -> [FeedRange] {
    let entries = part.entries.elements
    guard isSettled, isLoaded, !isSettling, entries.count > length else { return [] }
    let middle = FeedBound(entry: entries[entries.count - count], isAfter: false)
    guard middle.canBeNamed else { return [] }
    return [FeedRange(lower: middle, upper: upper), FeedRange(lower: lower, upper: middle)]
  }
}

/// A part of a list: which posts an observer is told of.
struct FeedRange {
  /// Which posts are left of more than there is room for.
  enum Limit: Hashable {
    /// The highest in the order of the list.
    case highest(Int)
    /// The lowest in the order of the list.
    case lowest(Int)
  }

  /// Where the part begins; nil where the list does.
  var lower: FeedBound?
  /// Where the part ends; nil where the list does.
  var upper: FeedBound?
  /// How many there may be; nil for all.
  var limit: Limit?

  /// The query for the part, of the whole list in its order.
  func query(in list: DatabaseQuery, isByStars: Bool) -> DatabaseQuery {
    var query = list
    if let lower {
      let (value, key) = Self.place(of: lower, isByStars: isByStars)
      query =
        lower.isAfter
        ? query.queryStarting(afterValue: value, childKey: key)
        : query.queryStarting(atValue: value, childKey: key)
    }
    if let upper {
      let (value, key) = Self.place(of: upper, isByStars: isByStars)
      query =
        upper.isAfter
        ? query.queryEnding(atValue: value, childKey: key)
        : query.queryEnding(beforeValue: value, childKey: key)
    }
    switch limit {
    case .highest(let count): return query.queryLimited(toLast: UInt(count))
    case .lowest(let count): return query.queryLimited(toFirst: UInt(count))
    case nil: return query
    }
  }

  private static func place(of bound: FeedBound, isByStars: Bool) -> (value: Any?, key: String?) {
    isByStars ? (bound.starCount.value, bound.entry.id) : (bound.entry.id, nil)
  }
}

/// An end of a part of a list: right before or right after where a post stood when it was found.
///
/// It stays where it is when the post goes or moves.
struct FeedBound {
  /// The post.
  let entry: FeedEntry
  /// Whether the post itself lies below the bound.
  let isAfter: Bool

  /// Whether a position lies below the bound.
  func isAbove(_ position: IndexEntry) -> Bool {
    isAfter ? !(entry.position < position) : position < entry.position
  }

  /// Whether a query can name the bound.
  ///
  /// Others may have written anything: a count that is an object has a place in the order, but no
  /// query can name it.
  var canBeNamed: Bool { !starCount.hasChildren() }

  /// The count of stars of the post.
  var starCount: DataSnapshot { entry.snapshot.childSnapshot(forPath: "starCount") }
}

/// A child of a list, which may be no post at all.
///
/// A class, since a list of some hundreds is put together again and again from its pages.
final class FeedEntry: Identifiable {
  let id: String
  let snapshot: DataSnapshot
  /// Where the child stands in the list.
  let position: IndexEntry
  /// The post; nil when the child does not read as one.
  let post: Post?

  init(_ snapshot: DataSnapshot, by index: Index) {
    id = snapshot.key
    self.snapshot = snapshot
    position = index.entry(for: ChildKey(snapshot.key), node: snapshot.node)
    post = Post(snapshot)
  }

  /// Whether writes of mine in the child were not acknowledged when it came.
  var isPending: Bool { snapshot.metadata.hasPendingWrites }

  /// Whether both show the same.
  func looksLike(_ other: FeedEntry) -> Bool {
    self === other || (id == other.id && isPending == other.isPending && post == other.post)
  }
}
