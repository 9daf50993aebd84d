internal import Dispatch
internal import RealtimeDatabase

// Safety: everything is touched only on `queue`, the callback queue of the database.
/// A list that is followed: pages next to each other around the place where the reader is.
///
/// At first there is one page, the highest posts. It becomes a range with a fixed end as soon as a
/// new post would push out the lowest, so that nothing leaves the screen of a reader because of what
/// comes above. Further pages are read when the reader gets near an end; those far away are given up,
/// so that the memory does not depend on the length of the list.
final class FollowedFeed: @unchecked Sendable {
  /// How many posts a page has when it is found.
  static let pageLength = Int(BlogPaths.feedLength)
  /// How many posts may gather in the highest page before it is divided.
  static let longestPage = 250
  /// How many pages are kept.
  static let pageLimit = 12
  /// How near to an end the next page is read.
  static let margin = 60

  private let list: DatabaseQuery
  private let isByStars: Bool
  private let queue: DispatchQueue
  private let tell: @Sendable ([Post], FeedExtent) -> Void
  private let fail: @Sendable (any Error) -> Void

  /// The pages, from the highest to the lowest.
  private var pages: [FeedPage] = []
  private var lastToken = 0
  /// The post where the reader is.
  private var anchor: PostID?
  private var isPublishing = false
  /// What was told last.
  private var told: (posts: [Post], extent: FeedExtent)?

  init(
    _ list: DatabaseQuery,
    isByStars: Bool,
    queue: DispatchQueue,
    tell: @escaping @Sendable ([Post], FeedExtent) -> Void,
    fail: @escaping @Sendable (any Error) -> Void
  ) {
    self.list = list
    self.isByStars = isByStars
    self.queue = queue
    self.tell = tell
    self.fail = fail
  }

  /// Begins with the highest posts.
  func start() {
    pages = [FeedPage(part: observe(FeedRange(limit: .highest(Self.pageLength))))]
  }

  /// Ends all observers.
  func stop() {
    for page in pages { forget(page) }
    pages = []
  }

  /// Goes to the highest posts again; what was told stays until they are there.
  func showHighest() {
    anchor = nil
    guard hasNewer else { return publish() }
    stop()
    start()
  }

  /// Learns where the reader is, and reads on where little is left.
  func read(at post: PostID) {
    anchor = post
    readAround()
  }

  private func readAround() {
    guard let (above, below) = distances else { return }
    if below <= Self.margin { readOlder() }
    if above < Self.margin { readNewer() }
  }

  /// The numbers of posts before the reader, and of those from there on.
  private var distances: (above: Int, below: Int)? {
    var above = 0
    for (number, page) in pages.enumerated() {
      let entries = page.entries
      if let index = entries.lastIndex(where: { $0.id == anchor }) {
        let below = pages[(number + 1)...].reduce(index + 1) { $0 + $1.count }
        return (above + entries.count - 1 - index, below)
      }
      above += entries.count
    }
    return nil
  }

  // MARK: Pages

  /// Whether the list goes on above the highest page, as far as that is known.
  private var hasNewer: Bool {
    guard let range = pages.first?.part.range else { return false }
    if case .lowest = range.limit { return true }
    return range.upper != nil
  }

  /// Whether the list may go on below the lowest page.
  private var hasOlder: Bool {
    guard let page = pages.last else { return false }
    if page.part.range.lower != nil || !page.part.entries.isLoaded { return true }
    return !page.isSettled && page.entries.count >= Self.pageLength
  }

  /// All entries as they are shown, from the highest to the lowest.
  private var allEntries: [FeedEntry] {
    var seen: Set<String> = []
    return pages.flatMap { $0.entries.reversed() }.filter { seen.insert($0.id).inserted }
  }

  private func readOlder() {
    guard hasOlder, let last = pages.last, last.part.entries.isLoaded, last.next == nil else {
      return
    }
    if !last.isSettled { settle(pages.count - 1) }
    guard let end = last.part.range.lower ?? last.entries.first?.snapshot, FeedRange.canBound(end)
    else { return }
    let range = FeedRange(upper: end, limit: .highest(Self.pageLength))
    pages.append(FeedPage(part: observe(range)))
    trim()
  }

  private func readNewer() {
    guard let first = pages.first, let end = first.part.range.upper else { return }
    guard first.part.entries.isLoaded, first.next == nil else { return }
    // One more than a page, whose lowest post is the end of the page above.
    let range = FeedRange(lower: end, limit: .lowest(Self.pageLength + 1))
    pages.insert(FeedPage(part: observe(range)), at: 0)
    trim()
  }

  /// Gives a page two ends that stay.
  private func settle(_ index: Int) {
    let page = pages[index]
    guard !page.isSettled, page.next == nil else { return }
    var range = page.part.range
    let entries = page.entries
    switch range.limit {
    case .highest(let count):
      if entries.count >= count { range.lower = entries.first?.snapshot }
    case .lowest(let count):
      if entries.count >= count { range.upper = entries.last?.snapshot }
    case nil: return
    }
    range.limit = nil
    guard [range.lower, range.upper].allSatisfy({ $0.map(FeedRange.canBound) ?? true }) else {
      return
    }
    pages[index].next = observe(range)
  }

  /// Divides the highest page when it has become long, so that pages can be given up.
  private func divideHighest() {
    guard let page = pages.first, page.isSettled, page.next == nil, !hasNewer else { return }
    let entries = page.entries
    guard entries.count > Self.longestPage else { return }
    let end = entries[entries.count - Self.pageLength].snapshot
    guard FeedRange.canBound(end) else { return }
    pages.insert(FeedPage(part: observe(FeedRange(lower: end))), at: 0)
    var rest = page.part.range
    rest.upper = end
    pages[1].next = observe(rest)
    trim()
  }

  /// Gives up the pages that are farthest from the reader.
  private func trim() {
    while pages.count > Self.pageLimit {
      let reader = pages.firstIndex { page in page.entries.contains { $0.id == anchor } } ?? 0
      let isAbove = reader > pages.count / 2
      forget(isAbove ? pages.removeFirst() : pages.removeLast())
    }
  }

  // MARK: Observers

  private func observe(_ range: FeedRange) -> FeedPage.Part {
    lastToken += 1
    let token = lastToken
    let query = range.query(in: list, isByStars: isByStars)
    var part = FeedPage.Part(range: range, token: token, query: query)
    part.handle = query.observe(
      [.childAdded, .childChanged, .childMoved, .childRemoved, .value]
    ) { [weak self] event, snapshot, previousKey in
      self?.take(event, snapshot, previousKey, for: token)
    } withCancel: { [weak self] error in
      self?.cancelled(token, error)
    }
    return part
  }

  private func forget(_ page: FeedPage) {
    page.part.query.removeObserver(withHandle: page.part.handle)
    if let next = page.next { next.query.removeObserver(withHandle: next.handle) }
  }

  private func cancelled(_ token: Int, _ error: any Error) {
    guard pages.contains(where: { $0.part.token == token || $0.next?.token == token }) else {
      return
    }
    stop()
    fail(error)
  }

  private func take(
    _ event: DataEventType,
    _ snapshot: DataSnapshot,
    _ previousKey: String?,
    for token: Int
  ) {
    let entry = FeedEntry(snapshot)
    if let index = pages.firstIndex(where: { $0.part.token == token }) {
      if event == .childRemoved { hold(snapshot.key, index) }
      pages[index].held.removeAll { event != .childRemoved && $0.id == entry.id }
      _ = pages[index].part.entries.take(event, snapshot, previousKey, entry)
      if event == .value { loaded(index) }
    } else if let index = pages.firstIndex(where: { $0.next?.token == token }) {
      _ = pages[index].next?.entries.take(event, snapshot, previousKey, entry)
      if event == .value { replace(index) }
    } else {
      return
    }
    publishSoon()
  }

  /// Keeps the lowest post of a page that is full: a limit, and not its author, may have removed it.
  private func hold(_ key: String, _ index: Int) {
    guard case .highest(let count)? = pages[index].part.range.limit else { return }
    let elements = pages[index].part.entries.elements
    guard elements.count >= count, let lowest = elements.first, lowest.id == key else { return }
    settle(index)
    if pages[index].next != nil { pages[index].held.append(lowest) }
  }

  private func loaded(_ index: Int) {
    // The first page has a limit as long as nobody reads on; it follows what is highest.
    if pages.count > 1 { settle(index) }
  }

  /// Shows what a page has settled to.
  private func replace(_ index: Int) {
    guard let next = pages[index].next else { return }
    let old = pages[index].part
    pages[index] = FeedPage(part: next)
    old.query.removeObserver(withHandle: old.handle)
    // The reader may have come near the end while the page was not ready to be read on from.
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
    divideHighest()
    let entries = allEntries
    let posts = entries.compactMap(\.post)
    let pending = entries.filter { $0.snapshot.metadata.hasPendingWrites }.map(\.id)
    let extent = FeedExtent(hasOlder: hasOlder, hasNewer: hasNewer, pending: Set(pending))
    // A page that settles has what it had before.
    if onlyChange, let told, told.posts == posts, told.extent == extent { return }
    told = (posts, extent)
    tell(posts, extent)
  }
}
