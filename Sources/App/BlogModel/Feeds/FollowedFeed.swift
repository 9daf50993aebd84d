internal import Dispatch
internal import RealtimeCore
internal import RealtimeDatabase

// Safety: everything is touched only on `queue`, the callback queue of the database.
/// A list as a reader scrolls it: adjacent pages around the reader's position.
///
/// At first there is one page, the highest posts. Further pages are read when the reader gets near an
/// end, each by one query; those far away are given up, so that the memory does not depend on the
/// length of the list. Nothing leaves the screen of a reader because of what comes elsewhere.
final class FollowedFeed: @unchecked Sendable {
  /// How much of a list is read and kept.
  struct Bounds {
    /// How many posts a page has when it is found.
    var pageLength = Int(BlogPaths.feedLength)
    /// How many posts may gather in a page before it is divided.
    var longestPage = 250
    /// How many pages are kept, unless so few posts are left in them that the reader is near an end.
    var pageLimit = 8
    /// How near to an end the next page is read.
    var margin = 60
  }

  private let list: DatabaseQuery
  private let isByStars: Bool
  /// Whether the children only name posts that are elsewhere.
  private let isIndex: Bool
  private let bounds: Bounds
  private let order: Index
  private let queue: DispatchQueue
  private let tell: @Sendable ([FeedEntry], FeedExtent) -> Void
  private let fail: @Sendable (any Error) -> Void

  /// The pages, from the highest to the lowest.
  private var pages: [FeedPage] = []
  private var lastToken = 0
  /// The post where the reader is, and where it stood when that was told.
  private var anchor: (id: String, position: IndexEntry)?
  private var isPublishing = false
  /// What was told last.
  private var told: (entries: [FeedEntry], extent: FeedExtent)?

  init(
    _ list: DatabaseQuery,
    isByStars: Bool,
    isIndex: Bool = false,
    bounds: Bounds = Bounds(),
    queue: DispatchQueue,
    tell: @escaping @Sendable ([FeedEntry], FeedExtent) -> Void,
    fail: @escaping @Sendable (any Error) -> Void
  ) {
    self.list = list
    self.isByStars = isByStars
    self.isIndex = isIndex
    self.bounds = bounds
    order = list.query.index
    self.queue = queue
    self.tell = tell
    self.fail = fail
  }

  /// Begins with the highest posts.
  func start() {
    pages = [FeedPage(observe(FeedRange(limit: .highest(bounds.pageLength))))]
  }

  /// Ends all observers.
  func stop() {
    for page in pages { forget(page) }
    pages = []
  }

  /// Goes to the highest posts again; what was told stays until they are there.
  func showHighest() {
    anchor = nil
    guard pages.first?.hasNewer == true else { return publish() }
    stop()
    start()
  }

  // MARK: Pages

  /// Learns where the reader is, and reads on where little is left.
  func read(at post: PostID) {
    if let entry = entry(post) { anchor = (entry.id, entry.position) }
    readAround()
  }

  /// Learns next to which place of a list in the order of its keys the reader is, whoever is there.
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

  /// A child of the list, as far as it is known.
  func entry(_ post: PostID) -> FeedEntry? {
    pages.lazy.compactMap { $0.entry(post) }.first
  }

  /// The numbers of posts before the reader, and of those from there on; a reader whose post has gone
  /// is where it was.
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

  /// Gives up the pages that are farthest from the reader, unless they are near.
  private func trim() {
    while pages.count > bounds.pageLimit {
      let (above, below) = distances
      let isAbove = above > below
      guard let page = isAbove ? pages.first : pages.last else { return }
      let left = (isAbove ? above : below) - page.entries.count
      guard left > bounds.margin else { return }
      forget(isAbove ? pages.removeFirst() : pages.removeLast())
    }
  }

  /// Divides a page that has become long, so that its parts can be given up.
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
    let query = range.query(in: list, isByStars: isByStars)
    let entries = OrderedSnapshots<FeedEntry>(by: order)
    var part = FeedPage.Part(
      range: range,
      token: token,
      isIndex: isIndex,
      entries: entries,
      query: query
    )
    part.handle = query.observe(
      [.childAdded, .childChanged, .childMoved, .childRemoved, .value]
    ) { [weak self] event, snapshot, _ in
      self?.take(event, of: snapshot, for: token)
    } withCancel: { [weak self] error in
      self?.cancelled(token, with: error)
    }
    return part
  }

  private func forget(_ page: FeedPage) {
    for part in [page.part] + page.next { part.query.removeObserver(withHandle: part.handle) }
  }

  private func cancelled(_ token: Int, with error: any Error) {
    guard pages.contains(where: { $0.part.token == token || $0.nextIndex(token) != nil }) else {
      return
    }
    stop()
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

  /// Takes an event of what is shown; those that come together end with the value.
  private func takeShown(_ event: DataEventType, of snapshot: DataSnapshot, at index: Int) {
    let wasLoaded = pages[index].isLoaded
    pages[index].take(event, of: snapshot, by: order)
    guard event == .value else { return }
    if let range = pages[index].rangeToSettle() { pages[index].next = [observe(range)] }
    if !wasLoaded { pagesChanged() }
  }

  /// Shows what a page has settled to, once that is whole.
  private func replace(_ index: Int) {
    let page = pages[index]
    guard page.next.allSatisfy(\.entries.isLoaded) else { return }
    pages.replaceSubrange(index...index, with: page.next.map { FeedPage($0) })
    page.part.query.removeObserver(withHandle: page.part.handle)
    pagesChanged()
    publishSoon()
  }

  /// Gives up and reads on as the pages are now.
  ///
  /// The reader may have come near an end while it could not be read on from there, or because posts
  /// have gone.
  private func pagesChanged() {
    trim()
    readAround()
  }

  // MARK: Telling

  /// What comes in one burst is told once, after the burst.
  private func publishSoon() {
    guard !isPublishing else { return }
    isPublishing = true
    queue.async { [weak self] in
      self?.isPublishing = false
      self?.publish(onlyChange: true)
    }
  }

  /// Tells what the list is now.
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
    // A page that settles has what it had before.
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
  /// A further page is shown as soon as it is whole: what is known of it before has gaps.
  private var allEntries: [FeedEntry] {
    let shown = pages.count > 1 ? pages.filter(\.isLoaded) : pages
    let entries = shown.flatMap { $0.entries.reversed() }
    // A post that moves may come to one page before it leaves the other; by age, none moves.
    guard isByStars else { return entries }
    var seen: Set<String> = []
    return entries.filter { seen.insert($0.id).inserted }
  }
}

/// How much of a list is kept here.
package struct FeedExtent: Hashable, Sendable, Codable {
  /// Whether the list goes on below what is kept.
  package let hasOlder: Bool
  /// Whether the list goes on above what is kept.
  package let hasNewer: Bool
  /// The posts that had writes of mine in them that were not acknowledged when they came.
  package let pending: Set<PostID>

  /// Makes an extent; without arguments that of a list that is kept as a whole.
  package init(hasOlder: Bool = false, hasNewer: Bool = false, pending: Set<PostID> = []) {
    self.hasOlder = hasOlder
    self.hasNewer = hasNewer
    self.pending = pending
  }
}
