import BlogModel

/// What has just arrived on the screen: it is tinted for a second, and then at rest.
struct Arrivals: Equatable, Sendable {
  enum Subject: Hashable, Sendable {
    /// A row of a list.
    case post(PostID)
    case stars(PostID)
    /// The number of new comments on a post of a list.
    case newComments(PostID)
    /// A comment on the open post.
    case comment(String)
    /// The number of new posts above the view.
    case unseen
    case notices
  }

  /// How long an arrival is tinted, in milliseconds.
  static let duration: Int64 = 1_000
  /// How many can arrive at once; more are a list that was read again.
  private static let most = 5

  /// When each is at rest.
  private var ends: [Subject: Int64] = [:]

  func contains(_ subject: Subject) -> Bool { !ends.isEmpty && ends[subject] != nil }

  /// The next time at which something is at rest; nil if everything is.
  var nextRest: Int64? { ends.values.min() }

  /// Notes what has arrived together.
  mutating func add(_ subjects: [Subject], at now: Int64) {
    guard subjects.count <= Self.most else { return }
    for subject in subjects { ends[subject] = now + Self.duration }
  }

  /// Forgets what is at rest; a clock that was set back brings all to rest.
  mutating func rest(at now: Int64) {
    ends = ends.filter { $0.value > now && $0.value <= now + Self.duration }
  }
}

extension Session {
  /// Whether arrivals are tinted.
  private var hasMotion: Bool {
    settings.isOn(.motion) && configuration.isFarAway != true && connection.isAlive(at: now)
      // What comes with the connection is not news.
      && now - connection.changedAt >= Arrivals.duration
  }

  /// Notes what has arrived in the rows in view of the list, as compared with the list before.
  mutating func noteArrivals(_ added: Set<PostID>, in kind: FeedKind, since before: Feed) {
    guard kind == tab, before.phase == .loaded, hasMotion else { return }
    let feed = self.feed
    var arrived: [Arrivals.Subject] = []
    for row in feed.list.rows(in: listRect) {
      guard let post = feed.post(row.id) else { continue }
      if added.contains(post.id) {
        arrived.append(.post(post.id))
      } else if let index = before.posts.index(of: post.id, near: feed.list.top, within: 100) {
        if isNews(post, since: before.posts[index]) { arrived.append(.stars(post.id)) }
      }
    }
    if feed.unseenCount > before.unseenCount { arrived.append(.unseen) }
    reading.arrivals.add(arrived, at: now)
  }

  /// Notes that somebody has starred a post.
  mutating func noteStars(of post: Post, since before: Post?) {
    guard hasMotion, let before, isNews(post, since: before) else { return }
    reading.arrivals.add([.stars(post.id)], at: now)
  }

  /// Whether a post has stars of others that it did not have before.
  private func isNews(_ post: Post, since before: Post) -> Bool {
    post.starCount > before.starCount
      && post.stars.contains(me.uid) == before.stars.contains(me.uid)
  }

  /// Notes comments of others that are newer than the newest one before, if any was known.
  ///
  /// The closure returns what to tint for a comment.
  mutating func noteComments(
    _ comments: [Comment],
    since newest: String?,
    as subject: (Comment) -> Arrivals.Subject
  ) {
    guard hasMotion, let newest else { return }
    let unheard = reading.lists.muted.union([me.uid])
    let arrived = comments.filter {
      !unheard.contains($0.uid) && newest.utf16.lexicographicallyPrecedes($0.id.utf16)
    }
    reading.arrivals.add(Array(Set(arrived.map(subject))), at: now)
  }

  /// Notes that there are more notices than before, if any were known.
  mutating func noteNotices(since before: Int?) {
    if hasMotion, let before, unreadNotices > before { reading.arrivals.add([.notices], at: now) }
  }
}
