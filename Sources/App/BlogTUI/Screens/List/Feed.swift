package import BlogModel

/// One list of posts as the screen shows it.
///
/// States: idle → loading → loaded ⇄ failed. Posts stay in view when a list can no longer be read.
package struct Feed: Equatable, Sendable {
  /// The loading state of the list.
  package enum Phase: Hashable, Sendable {
    /// The list has not been requested yet.
    case idle
    /// The first response has not arrived.
    case loading
    /// The posts are those in the database.
    case loaded
    /// The list can no longer be read, for the given reason.
    case failed(String)
  }

  /// The distance in rows from an end of the loaded posts at which more are requested.
  static let margin = 50
  /// The length above which the blog drops posts far from the reader.
  static let longList = 600
  /// The distance from the last reported position at which a new position is reported.
  static let step = 50

  package internal(set) var phase = Phase.idle
  /// All loaded posts, in the order of the list, each identifier once.
  package private(set) var posts = OrderedPosts()
  /// The posts from which rows are made: the loaded ones, and those that a search has found.
  package private(set) var listed = OrderedPosts()
  /// The posts that a search has found, in the order of the list, loaded or not.
  private var found: [Post] = []
  /// Whether the list continues beyond the loaded posts.
  package internal(set) var extent = FeedExtent()
  /// The rows and the selected one; during a search there are fewer rows than posts.
  package internal(set) var list = ListView<PostID>()
  /// The post to select as soon as it arrives.
  package internal(set) var awaited: PostID?
  /// Whether the list stays at the newest posts; otherwise it keeps the reader's position.
  package internal(set) var isFollowing = false
  /// Whether to select the first row as soon as it arrives.
  package internal(set) var awaitsFirst = false

  /// The number of lines that the texts of the posts need, where rows differ in height.
  private var textHeights: [PostID: (body: String, room: Size, lines: Int)] = [:]
  private var foundIsByStars = false
  private var unseen: Set<PostID> = []
  /// The last reported position, and the number of posts at that time.
  private var asked: (id: PostID, count: Int)?

  /// The post with that key, if it is in the list; the lookup is fast near the selected post.
  package func post(_ id: PostID) -> Post? {
    listed.index(of: id, near: list.selectedIndex ?? 0).map { listed[$0] }
  }

  package var selectedPost: Post? { list.selection.flatMap { post($0) } }

  /// The number of unseen posts above the view.
  package var unseenCount: Int {
    unseen.isEmpty ? 0 : list.ids[..<list.top].count { unseen.contains($0) }
  }

  /// Replaces the posts; the selected one stays on the same line of the screen.
  @discardableResult
  mutating func update(_ new: [Post], matching filter: PostFilter) -> Set<PostID> {
    let isFirst = phase == .loading || phase == .idle
    let before = posts
    phase = .loaded
    posts = OrderedPosts(new)
    // Posts above the previous ones are new; posts below them were only loaded later.
    let added = isFirst ? [] : posts.added(since: before).filter { $0.uid != filter.me }.map(\.id)
    unseen.formUnion(added)
    if !unseen.isEmpty { unseen.formIntersection(posts.lazy.map(\.id)) }
    self.filter(filter)
    if let id = awaited, list.select(id) { awaited = nil }
    if isFollowing || (awaitsFirst && !extent.hasNewer) {
      list.move(to: 0)
      awaitsFirst = false
    }
    markSeen()
    return Set(added)
  }

  mutating func filter(_ filter: PostFilter) {
    listed = found.isEmpty ? posts : posts.merged(with: found, isByStars: foundIsByStars)
    let shown = filter.passesAll ? Array(listed) : listed.filter { filter.passes($0) }
    let starts = filter.dividesDays ? Self.dayStarts(of: shown) : []
    let heights = filter.textRoom.map { rowHeights(of: shown, in: $0) } ?? [:]
    if filter.textRoom == nil { textHeights = [:] }
    list.update(ids: shown.map(\.id), sectionStarts: starts, heights: heights)
  }

  /// The number of lines of each post: its title, as much of its text as fits, and a blank line.
  ///
  /// - Complexity: O(n) in the number of posts, and in the length of the texts of new posts
  private mutating func rowHeights(of posts: [Post], in room: Size) -> [PostID: Int] {
    let known = textHeights
    textHeights = [:]
    textHeights.reserveCapacity(posts.count)
    for post in posts {
      if let height = known[post.id], height.room == room, height.body == post.body {
        textHeights[post.id] = height
      } else {
        let lines = PostRowPainter.textLines(post.body, in: room).count
        textHeights[post.id] = (post.body, room, lines)
      }
    }
    return textHeights.mapValues { $0.lines + 2 }
  }

  /// Adds posts that a search has found; they appear with the next filtering.
  mutating func add(found posts: [Post], isByStars: Bool) {
    foundIsByStars = isByStars
    found += posts
    if isByStars { found.sort { ($0.starCount, $0.id) > ($1.starCount, $1.id) } }
  }

  mutating func forgetFound() { found = [] }

  /// Applies a change to a post that a search has found; returns false if it has found no such
  /// post.
  mutating func updateFound(_ id: PostID, to post: Post?) -> Bool {
    guard let index = found.firstIndex(where: { $0.id == id }) else { return false }
    if let post { found[index] = post } else { found.remove(at: index) }
    return true
  }

  /// A post that a search has found and that is not loaded, so that no events report its changes.
  func foundOnly(_ id: PostID) -> Post? {
    guard !found.isEmpty, posts.index(of: id, near: 0) == nil else { return nil }
    return found.first { $0.id == id }
  }

  /// The posts that start a new day; posts without a time start none.
  private static func dayStarts(of posts: [Post]) -> Set<PostID> {
    var starts: Set<PostID> = []
    var last: Int64?
    for post in posts {
      guard let created = post.createdAt else { continue }
      let day = CalendarDay.number(of: created)
      if let last, last != day { starts.insert(post.id) }
      last = day
    }
    return starts
  }

  mutating func markSeen() {
    guard !unseen.isEmpty else { return }
    unseen.subtract(list.visibleIDs)
  }

  /// The post to report to the blog as the reader's position, if a report is due.
  ///
  /// A report is due when few posts are left before or after the reader, and every `step` rows when
  /// the list is so long that the blog drops posts far from the reader.
  mutating func positionToTell(isFiltered: Bool) -> PostID? {
    guard let selected = list.selectedIndex, let selection = list.selection else { return nil }
    let wantsOlder = selected >= list.ids.count - Self.margin && extent.hasOlder
    let wantsNewer = selected < Self.margin && extent.hasNewer
    let isNearEnd = wantsOlder || wantsNewer
    guard isNearEnd || hasGoneFar(from: selected) else { return nil }
    let end = wantsOlder ? posts.last?.id : posts.first?.id
    let id = isFiltered && isNearEnd ? end ?? selection : selection
    if let asked, asked.id == id, asked.count == posts.count { return nil }
    asked = (id, posts.count)
    return id
  }

  /// Whether the reader has moved far from the last reported position in a long list.
  private func hasGoneFar(from selected: Int) -> Bool {
    guard posts.count > Self.longList else { return false }
    guard let asked else { return true }
    return posts.index(of: asked.id, near: selected, within: Self.step - 1) == nil
  }

  /// Compares only what affects the screen.
  package static func == (left: Feed, right: Feed) -> Bool {
    left.phase == right.phase && left.listed == right.listed && left.list == right.list
      && left.extent == right.extent && left.awaited == right.awaited
      && left.isFollowing == right.isFollowing && left.unseen == right.unseen
  }
}

/// The posts of a list in order, each identifier once, with fast lookup near a known index.
///
/// Every change delivers the whole list again, but only a few of its posts are looked up: those in
/// view, one after another.
package struct OrderedPosts: Equatable, Sendable {
  private let posts: [Post]

  /// Makes a list; of several posts with the same identifier, the first is kept.
  ///
  /// - Complexity: O(n)
  package init(_ posts: [Post] = []) {
    // Lists in descending order of keys, the usual case, need no further check.
    let isDescending = zip(posts, posts.dropFirst()).allSatisfy { $0.id > $1.id }
    var seen: Set<PostID> = []
    self.posts = isDescending ? posts : posts.filter { seen.insert($0.id).inserted }
  }

  /// The index of a post; nil if it is not in the list, or too far from the guess.
  ///
  /// The search goes both ways from the guess.
  ///
  /// - Complexity: O(d) in the distance from the guess; O(n) for a post that is not in the list
  package func index(of id: PostID, near guess: Int, within distance: Int = .max) -> Int? {
    let start = Swift.min(Swift.max(guess, 0), posts.count)
    var above = start - 1
    var below = start
    let first = distance < start ? start - distance : 0
    let last = distance < posts.count - start ? start + distance : posts.count - 1
    while above >= first || below <= last {
      if below <= last {
        if posts[below].id == id { return below }
        below += 1
      }
      if above >= first {
        if posts[above].id == id { return above }
        above -= 1
      }
    }
    return nil
  }

  /// Merges these posts with others, each once, in list order; of duplicates, these posts win.
  ///
  /// - Complexity: O(n)
  func merged(with others: [Post], isByStars: Bool) -> OrderedPosts {
    let known = Set(posts.map(\.id))
    var all: [Post] = []
    all.reserveCapacity(posts.count + others.count)
    var rest = posts[...]
    for other in others where !known.contains(other.id) {
      while let next = rest.first,
        isByStars
          ? (next.starCount, next.id) > (other.starCount, other.id) : next.id > other.id
      {
        all.append(next)
        rest.removeFirst()
      }
      all.append(other)
    }
    return OrderedPosts(all + rest)
  }

  /// The posts inserted above the lowest remaining post of an earlier list.
  ///
  /// - Complexity: O(n); only the posts outside the run that both lists share go into a set
  func added(since before: OrderedPosts) -> [Post] {
    guard let first = posts.first, let formerFirst = before.posts.first else { return [] }
    let start = index(of: formerFirst.id, near: 0)
    let formerStart = start == nil ? before.index(of: first.id, near: 0) : 0
    let run = (start ?? 0)..<endOfRun(from: start ?? 0, in: before, from: formerStart ?? 0)
    let formerRun = (formerStart ?? 0)..<((formerStart ?? 0) + run.count)
    var others = Set(before.posts[..<formerRun.lowerBound].map(\.id))
    others.formUnion(before.posts[formerRun.upperBound...].map(\.id))
    let rest = others.isEmpty ? nil : posts[run.upperBound...].lastIndex { others.contains($0.id) }
    let end = rest ?? (run.isEmpty ? nil : run.upperBound) ?? 0
    return posts[..<end].enumerated().filter { number, post in
      !run.contains(number) && !others.contains(post.id)
    }.map(\.element)
  }

  /// The end of the run of posts that both lists share.
  private func endOfRun(from start: Int, in before: OrderedPosts, from formerStart: Int) -> Int {
    let pairs = zip(posts[start...], before.posts[formerStart...])
    return start + pairs.prefix { $0.id == $1.id }.count
  }
}

extension OrderedPosts: RandomAccessCollection {
  package var startIndex: Int { 0 }
  package var endIndex: Int { posts.count }
  package subscript(index: Int) -> Post { posts[index] }
}

/// The lists of posts, and the search that filters them.
package struct Feeds: Sendable {
  /// The list in view, or behind the screens in front.
  var tab = FeedKind.recent
  /// The search that filters the lists.
  var search: Search?
  /// The searches through the posts that are not loaded.
  var restSearches = RestSearches()
  /// The list of an author or with a tag, from which the user returns to the list before.
  private var additional: (kind: FeedKind, author: Author?, before: FeedKind)?
  private var feeds: [FeedKind: Feed] = [:]

  subscript(kind: FeedKind) -> Feed {
    get { feeds[kind] ?? Feed() }
    _modify { yield &feeds[kind, default: Feed()] }
  }

  /// The author whose posts the additional list shows.
  var author: Author? { additional?.author }

  /// All lists: the standard ones and, where they exist, those of the followed people, of bookmarks,
  /// and of an author or a tag.
  func all(for lists: OwnLists) -> [FeedKind] {
    var all = FeedKind.tabs
    if !lists.following.isEmpty || tab == .following { all.append(.following) }
    if !lists.bookmarks.isEmpty || tab == .bookmarks { all.append(.bookmarks) }
    if let additional { all.append(additional.kind) }
    return all
  }

  /// Opens the list of an author's posts, or of posts with a tag, in place of another such list.
  mutating func open(_ kind: FeedKind, by author: Author?) -> [Effect] {
    let before = listBefore ?? tab
    let effects = closeAdditional()
    additional = (kind, author, before)
    search = nil
    return effects
  }

  mutating func closeAdditional() -> [Effect] {
    guard let closed = additional?.kind else { return [] }
    additional = nil
    feeds[closed] = nil
    return [.request(.stopFollowing(closed))]
  }

  /// The list to which the user returns from that list, while it is in view.
  var listBefore: FeedKind? { additional?.kind == tab ? additional?.before : nil }
}
