internal import RealtimeCore
internal import RealtimeDatabase

/// A page of a list: what is observed, and the two ends between which it is shown.
///
/// States: window → settling → settled. A window is a query with a limit; it ends at its last post.
/// The page beyond that end starts there, and that position becomes an end of this page as well. As
/// long as no post arrives in between, the window shows everything up to its end. It settles to a
/// range between its ends once it has pushed out a post, or no longer ends where the other page
/// begins.
struct FeedPage {
  /// One observed query and what its observer has reported.
  struct Part {
    let range: FeedRange
    let token: Int
    /// Whether the children only name posts that are stored elsewhere.
    let isIndex: Bool
    let observation: Observation
    var entries = OrderedEntries()
  }

  private(set) var part: Part
  /// The parts that will replace it once all of them are loaded, from the highest to the lowest.
  var next: [Part] = []
  /// Where the page below ends; nil while this page extends down as far as its part does.
  private(set) var lower: FeedBound?
  /// Where the page above begins; nil while this page extends up as far as its part does.
  private(set) var upper: FeedBound?
  /// Posts that the limit has pushed out; they stay until the page has settled.
  private var held: [FeedEntry] = []
  /// Posts that have left the part in the current burst of events.
  private var leaving: [FeedEntry] = []

  init(_ part: Part) {
    self.part = part
    lower = part.range.lower
    upper = part.range.upper
  }

  /// Whether the server has sent the contents of the part.
  var isLoaded: Bool { part.entries.isLoaded }
  /// Whether other queries are being loaded to replace this one.
  var isSettling: Bool { !next.isEmpty }
  /// Whether the page is a range with fixed ends, without a limit.
  var isSettled: Bool { part.range.limit == nil }

  /// Whether there may be more posts than the limit allows.
  private var isFull: Bool {
    switch part.range.limit {
    case .highest(let count), .lowest(let count): part.entries.elements.count >= count
    case nil: false
    }
  }

  // MARK: Events

  mutating func take(_ event: DataEventType, of snapshot: DataSnapshot, by index: Index) {
    if event == .childRemoved {
      // Until the server has answered, the page shows a guess from other lists, which does not hold.
      if isLoaded, let gone = part.entries.element(snapshot.key) { leaving.append(gone) }
    } else if event != .value {
      held.removeAll { $0.id == snapshot.key }
    }
    part.entries.take(event, of: snapshot, by: index)
  }

  func nextIndex(_ token: Int) -> Int? { next.firstIndex { $0.token == token } }

  /// Takes an event of one of the upcoming parts.
  mutating func takeNext(
    _ event: DataEventType,
    of snapshot: DataSnapshot,
    token: Int,
    by index: Index
  ) {
    guard let number = nextIndex(token) else { return }
    next[number].entries.take(event, of: snapshot, by: index)
  }

  /// The range to settle to; nil unless the last burst of events has left the part showing too much
  /// or too little between its ends.
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

  /// The first of these entries at which a query can begin or end.
  private func nameable(_ entries: [FeedEntry], isAfter: Bool) -> FeedBound? {
    entries.lazy.map { FeedBound(entry: $0, isAfter: isAfter) }.first(where: \.canBeNamed)
  }

  /// Keeps the posts that may have been removed by the limit and not by their authors.
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
  /// If it ends earlier, a post that arrives in between would be in neither page.
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

  /// The entry with this key; nil if the page does not show it.
  func entry(_ key: String) -> FeedEntry? {
    guard let index = part.entries.index(of: key), shownRange.contains(index) else {
      return held.first { $0.id == key }
    }
    return part.entries.elements[index]
  }

  /// How many posts are above a position, and how many are at or below it.
  func counts(around position: IndexEntry) -> (above: Int, below: Int) {
    let entries = entries
    let index = entries.partitioningIndex { position < $0.position }
    guard !part.isIndex else { return (entries.count - index, index) }
    return (
      entries[index...].count { $0.post != nil }, entries[..<index].count { $0.post != nil }
    )
  }

  // MARK: Reading on

  /// Where the list continues below the page; nil if it is not known to continue.
  var olderEnd: FeedBound? {
    if let lower { return lower }
    guard case .highest? = part.range.limit, isFull else { return nil }
    return part.entries.elements.first.map { FeedBound(entry: $0, isAfter: false) }
  }

  /// Where the list continues above the page; nil if it is not known to continue.
  var newerEnd: FeedBound? {
    if let upper { return upper }
    guard case .lowest? = part.range.limit, isFull else { return nil }
    return part.entries.elements.last.map { FeedBound(entry: $0, isAfter: true) }
  }

  /// Whether the list may continue below the page.
  var hasOlder: Bool { olderEnd != nil || !isLoaded }

  /// Whether the list may continue above the page.
  var hasNewer: Bool {
    if case .lowest? = part.range.limit, !isLoaded { return true }
    return newerEnd != nil
  }

  /// Ends the page where the list continues below; nil if the list cannot be read from there.
  mutating func endBelow() -> FeedBound? {
    guard isLoaded, !isSettling, let end = olderEnd, end.canBeNamed else { return nil }
    lower = end
    return end
  }

  /// Ends the page where the list continues above; nil if the list cannot be read from there.
  mutating func endAbove() -> FeedBound? {
    guard isLoaded, !isSettling, let end = newerEnd, end.canBeNamed else { return nil }
    upper = end
    return end
  }

  /// The two ranges into which to divide a settled page that has more than `length` posts.
  ///
  /// The higher range comes first and gets `count` posts. The result is empty if the page stays as
  /// it is.
  func rangesToDivide(over length: Int, higher count: Int) -> [FeedRange] {
    let entries = part.entries.elements
    guard isSettled, isLoaded, !isSettling, entries.count > length else { return [] }
    let middle = FeedBound(entry: entries[entries.count - count], isAfter: false)
    guard middle.canBeNamed else { return [] }
    return [FeedRange(lower: middle, upper: upper), FeedRange(lower: lower, upper: middle)]
  }
}

/// A part of a list: which of its posts an observer receives.
struct FeedRange {
  /// Which posts to keep when there are more than the limit allows.
  enum Limit: Hashable {
    case highest(Int)
    case lowest(Int)
  }

  /// The lower end of the part; nil for the end of the list.
  var lower: FeedBound?
  /// The upper end of the part; nil for the end of the list.
  var upper: FeedBound?
  /// The maximum number of posts; nil for no limit.
  var limit: Limit?

  /// The query for the part, based on a query for the whole list in its order.
  func query(in list: DatabaseQuery) -> DatabaseQuery {
    let isByStars = list.query.index != .key
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

/// An end of a part of a list: just before or just after the position a post had when it was found.
///
/// The bound stays where it is when the post is removed or moves.
struct FeedBound {
  let entry: FeedEntry
  /// Whether the post itself lies below the bound.
  let isAfter: Bool

  /// Whether a position lies below the bound.
  func isAbove(_ position: IndexEntry) -> Bool {
    isAfter ? !(entry.position < position) : position < entry.position
  }

  /// Whether a query can name the bound.
  ///
  /// Other clients may have written anything: a star count that is an object has a position in the
  /// order, but no query can name it.
  var canBeNamed: Bool { !starCount.hasChildren() }

  var starCount: DataSnapshot { entry.snapshot.childSnapshot(forPath: "starCount") }
}

/// A child of a list, which need not be a post.
///
/// It is a class because a list of several hundred entries is assembled from its pages again and
/// again.
final class FeedEntry {
  let id: String
  let snapshot: DataSnapshot
  let position: IndexEntry
  /// The post; nil if the child cannot be read as one.
  let post: Post?

  init(_ snapshot: DataSnapshot, by index: Index) {
    id = snapshot.key
    self.snapshot = snapshot
    position = index.entry(for: ChildKey(snapshot.key), node: snapshot.node)
    post = Post(snapshot)
  }

  /// Whether the child contained unacknowledged writes of the user when it arrived.
  var isPending: Bool { snapshot.metadata.hasPendingWrites }

  /// Whether both look the same on the screen.
  func looksLike(_ other: FeedEntry) -> Bool {
    self === other || (id == other.id && isPending == other.isPending && post == other.post)
  }
}
