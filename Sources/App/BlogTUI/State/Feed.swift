package import BlogModel

/// One list of posts as the screen shows it.
///
/// States: idle → loading → loaded ⇄ failed. Posts stay in view when a list can no longer be read.
package struct Feed: Equatable, Sendable {
  /// What is known of the list.
  package enum Phase: Hashable, Sendable {
    /// Nobody has looked at it yet.
    case idle
    /// The first answer has not come.
    case loading
    /// The posts are what the database says.
    case loaded
    /// The list can no longer be read, for that reason.
    case failed(String)
  }

  /// How near to an end of what is there more is asked for.
  static let margin = 50
  /// Of how many posts on the blog gives up what is far from the reader.
  static let longList = 600
  /// How many rows away from the place told last another one is told, far from both ends.
  static let step = 50

  /// What is known of the list.
  package internal(set) var phase = Phase.idle
  /// All posts, in the order of the list, each identifier once.
  package private(set) var posts = OrderedPosts()
  /// Whether the list goes on beyond those posts.
  package internal(set) var extent = FeedExtent()
  /// The rows in view and the selected one; fewer than the posts during a search.
  package internal(set) var list = ListView<PostID>()
  /// The post that is to be selected as soon as it is there.
  package internal(set) var awaited: PostID?
  /// Whether the newest posts are always in view; otherwise nothing moves what is read.
  package internal(set) var isFollowing = false
  /// Whether the first row is to be selected as soon as it is there.
  package internal(set) var awaitsFirst = false

  private var unseen: Set<PostID> = []
  /// Where the reader was when more was asked for last, and of how many posts.
  private var asked: (id: PostID, count: Int)?

  /// The post of that key, if it is in the list; found at once if it is near the selected one.
  package func post(_ id: PostID) -> Post? {
    posts.place(of: id, near: list.selectedIndex ?? 0).map { posts[$0] }
  }

  /// The selected post.
  package var selectedPost: Post? { list.selection.flatMap { post($0) } }

  /// The number of posts that came above what is in view and were not seen yet.
  package var unseenCount: Int {
    unseen.isEmpty ? 0 : list.ids[..<list.top].count { unseen.contains($0) }
  }

  /// Replaces the posts; the selected one stays on its line of the screen.
  mutating func update(_ new: [Post], matching filter: PostFilter) {
    let isFirst = phase == .loading || phase == .idle
    let before = posts
    phase = .loaded
    posts = OrderedPosts(new)
    if !isFirst {
      // Posts above what was there are new; those below were only read later.
      unseen.formUnion(posts.added(since: before).filter { $0.uid != filter.me }.map(\.id))
    }
    if !unseen.isEmpty { unseen.formIntersection(posts.lazy.map(\.id)) }
    self.filter(filter)
    if let id = awaited, list.select(id) { awaited = nil }
    if isFollowing || (awaitsFirst && !extent.hasNewer) {
      list.move(to: 0)
      awaitsFirst = false
    }
    markSeen()
  }

  /// Shows only the posts that pass.
  mutating func filter(_ filter: PostFilter) {
    let shown = filter.passesAll ? Array(posts) : posts.filter { filter.passes($0) }
    let starts = filter.dividesDays ? Self.dayStarts(of: shown) : []
    list.update(ids: shown.map(\.id), sectionStarts: starts)
  }

  /// The posts that are of another day than the one before; those without a time divide nothing.
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

  /// Forgets that posts are new once they are in view.
  mutating func markSeen() {
    guard !unseen.isEmpty else { return }
    unseen.subtract(list.visibleIDs)
  }

  /// The post to tell the blog as the reader's place, if it has to know of it now.
  ///
  /// It has to when little is left before or behind the reader, and every so many rows when there is
  /// so much that it gives up what is far away.
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

  /// Whether a long list has to know that the reader is no longer where it was told.
  private func hasGoneFar(from selected: Int) -> Bool {
    guard posts.count > Self.longList else { return false }
    guard let asked, let place = posts.place(of: asked.id, near: selected) else { return true }
    return abs(place - selected) >= Self.step
  }

  /// Compares everything that can be seen.
  package static func == (left: Feed, right: Feed) -> Bool {
    left.phase == right.phase && left.posts == right.posts && left.list == right.list
      && left.extent == right.extent && left.awaited == right.awaited
      && left.isFollowing == right.isFollowing && left.unseen == right.unseen
  }
}
