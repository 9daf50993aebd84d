internal import RealtimeCore
internal import RealtimeDatabase

// Safety: all state is accessed only on the callback queue of the database.
/// A list as a reader scrolls it: adjacent pages around the reader's position.
///
/// At first there is one page, the highest posts. More pages are loaded, by one query each, when
/// the reader approaches an end. Pages far from the reader are dropped, so that memory use does not
/// depend on the length of the list. Nothing leaves the reader's screen because of posts that
/// arrive elsewhere in the list.
final class FollowedFeed: @unchecked Sendable {
  /// How much of a list is loaded and kept.
  struct Bounds {
    /// How many posts a page has when it is loaded.
    var pageLength = Int(BlogPaths.feedLength)
    /// How many posts may accumulate in a page before it is divided.
    var longestPage = 250
    /// How many pages are kept, unless dropping one would leave too few posts around the reader.
    var pageLimit = 8
    /// How many posts from an end the reader is when the next page is loaded.
    var margin = 60
  }

  private let list: DatabaseQuery
  /// Whether the children only name posts that are stored elsewhere.
  private let isIndex: Bool
  private let bounds: Bounds
  private let order: Index
  private let burst: Burst
  private let tell: @Sendable ([FeedEntry], FeedExtent) -> Void
  private let fail: @Sendable (any Error) -> Void

  /// The pages, from the highest to the lowest.
  private var pages: [FeedPage] = []
  private var lastToken = 0
  /// The post the reader is at, and its position when that was reported.
  private var anchor: (id: String, position: IndexEntry)?
  /// The last report.
  private var told: (entries: [FeedEntry], extent: FeedExtent)?

  init(
    _ list: DatabaseQuery,
    isIndex: Bool = false,
    bounds: Bounds = Bounds(),
    tell: @escaping @Sendable ([FeedEntry], FeedExtent) -> Void,
    fail: @escaping @Sendable (any Error) -> Void
  ) {
    self.list = list
    self.isIndex = isIndex
    self.bounds = bounds
    order = list.query.index
    burst = Burst(on: list.ref.database.callbackQueue)
    self.tell = tell
    self.fail = fail
    begin()
  }

  private func begin() {
    pages = [FeedPage(observe(FeedRange(limit: .highest(bounds.pageLength))))]
  }

  /// Goes back to the highest posts; the last report stays valid until they are loaded.
  func showHighest() {
    anchor = nil
    guard pages.first?.hasNewer == true else { return publish() }
    pages = []
    begin()
  }

  // MARK: Pages

  /// Records the reader's position and loads more where little is left.
  func read(at post: PostID) {
    if let entry = entry(post) { anchor = (entry.id, entry.position) }
    readAround()
  }

  /// Records the reader's position in a list ordered by key, whether or not that key is in the
  /// list.
  func read(near key: String) {
    anchor = (key, order.entry(for: ChildKey(key), node: .empty))
    readAround()
  }

  private func readAround() {
    guard anchor != nil else { return }
    let (above, below) = distances
    if below <= bounds.margin { readOlder() }
    if above < bounds.margin { readNewer() }
  }

  /// A child of the list, if it is loaded.
  func entry(_ post: PostID) -> FeedEntry? {
    pages.lazy.compactMap { $0.entry(post) }.first
  }

  /// The numbers of posts before the reader, and from the reader's position on.
  ///
  /// If the post at that position is gone, the position still counts.
  private var distances: (above: Int, below: Int) {
    guard let anchor else { return (0, .max) }
    let position = entry(anchor.id)?.position ?? anchor.position
    return pages.reduce((0, 0)) { sum, page in
      guard page.isLoaded else { return sum }
      let (above, below) = page.counts(around: position)
      return (sum.0 + above, sum.1 + below)
    }
  }

  private func readOlder() {
    guard !pages.isEmpty, let end = pages[pages.count - 1].endBelow() else { return }
    pages.append(FeedPage(observe(FeedRange(upper: end, limit: .highest(bounds.pageLength)))))
  }

  private func readNewer() {
    guard !pages.isEmpty, let end = pages[0].endAbove() else { return }
    let range = FeedRange(lower: end, limit: .lowest(bounds.pageLength))
    pages.insert(FeedPage(observe(range)), at: 0)
  }

  /// Drops the pages that are farthest from the reader, unless they are near.
  private func trim() {
    while pages.count > bounds.pageLimit {
      let (above, below) = distances
      let isAbove = above > below
      guard let page = isAbove ? pages.first : pages.last else { return }
      let left = (isAbove ? above : below) - page.entries.count
      guard left > bounds.margin else { return }
      _ = isAbove ? pages.removeFirst() : pages.removeLast()
    }
  }

  /// Divides a page that has grown long, so that its parts can be dropped.
  private func divide() {
    for index in pages.indices {
      let ranges = pages[index].rangesToDivide(over: bounds.longestPage, higher: bounds.pageLength)
      if !ranges.isEmpty { pages[index].next = ranges.map(observe) }
    }
  }

  // MARK: Observers

  private func observe(_ range: FeedRange) -> FeedPage.Part {
    lastToken += 1
    let token = lastToken
    let observation = Observation(changesOf: range.query(in: list)) { [weak self] event, snapshot in
      self?.take(event, of: snapshot, for: token)
    } cancelled: { [weak self] error in
      self?.cancelled(token, with: error)
    }
    return FeedPage.Part(range: range, token: token, isIndex: isIndex, observation: observation)
  }

  private func cancelled(_ token: Int, with error: any Error) {
    guard pages.contains(where: { $0.part.token == token || $0.nextIndex(token) != nil }) else {
      return
    }
    pages = []
    fail(error)
  }

  private func take(_ event: DataEventType, of snapshot: DataSnapshot, for token: Int) {
    if let index = pages.firstIndex(where: { $0.part.token == token }) {
      takeShown(event, of: snapshot, at: index)
      publishSoon()
    } else if let index = pages.firstIndex(where: { $0.nextIndex(token) != nil }) {
      pages[index].takeNext(event, of: snapshot, token: token, by: order)
      if event == .value { replace(index) }
    }
  }

  /// Takes an event of a shown page; each burst of events ends with a value event.
  private func takeShown(_ event: DataEventType, of snapshot: DataSnapshot, at index: Int) {
    let wasLoaded = pages[index].isLoaded
    pages[index].take(event, of: snapshot, by: order)
    guard event == .value else { return }
    if let range = pages[index].rangeToSettle() { pages[index].next = [observe(range)] }
    if !wasLoaded { pagesChanged() }
  }

  /// Shows the parts that a page settles to or is divided into, once all of them are loaded.
  private func replace(_ index: Int) {
    let next = pages[index].next
    guard next.allSatisfy(\.entries.isLoaded) else { return }
    pages.replaceSubrange(index...index, with: next.map { FeedPage($0) })
    pagesChanged()
    publishSoon()
  }

  /// Drops pages and loads more, after the pages have changed.
  ///
  /// The reader may have approached an end while the list could not be read from there, or because
  /// posts were removed.
  private func pagesChanged() {
    trim()
    readAround()
  }

  // MARK: Telling

  /// Reports once after each burst of events.
  private func publishSoon() {
    burst.end { [weak self] in self?.publish(onlyChange: true) }
  }

  func publish() { publish(onlyChange: false) }

  private func publish(onlyChange: Bool) {
    guard pages.contains(where: \.part.entries.isKnown) else { return }
    divide()
    let entries = allEntries
    let pending = entries.lazy.filter(\.isPending).map(\.id)
    let extent = FeedExtent(
      hasOlder: pages.last?.hasOlder ?? false,
      hasNewer: pages.first?.hasNewer ?? false,
      pending: Set(pending)
    )
    // A page that has settled shows what it showed before.
    if onlyChange, let told, told.extent == extent,
      told.entries.elementsEqual(entries, by: { $0.looksLike($1) })
    {
      return
    }
    told = (entries, extent)
    tell(entries, extent)
  }

  /// All entries as they are shown, from the highest to the lowest, each once.
  ///
  /// An additional page is shown only once it is loaded, because it has gaps until then.
  private var allEntries: [FeedEntry] {
    let shown = pages.count > 1 ? pages.filter(\.isLoaded) : pages
    let entries = shown.flatMap { $0.entries.reversed() }
    // A post that moves may enter one page before it leaves the other; by age, no post moves.
    guard order != .key else { return entries }
    var seen: Set<String> = []
    return entries.filter { seen.insert($0.id).inserted }
  }
}

/// How much of a list is loaded.
package struct FeedExtent: Hashable, Sendable, Codable {
  /// Whether the list continues below the loaded part.
  package let hasOlder: Bool
  /// Whether the list continues above the loaded part.
  package let hasNewer: Bool
  /// The posts that contained unacknowledged writes of the user when they arrived.
  package let pending: Set<PostID>

  /// Makes an extent; without arguments, that of a list that is fully loaded.
  package init(hasOlder: Bool = false, hasNewer: Bool = false, pending: Set<PostID> = []) {
    self.hasOlder = hasOlder
    self.hasNewer = hasNewer
    self.pending = pending
  }
}
