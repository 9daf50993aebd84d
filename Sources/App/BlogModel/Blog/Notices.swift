internal import RealtimeDatabase

// Safety: everything is touched only on the callback queue of the database.
/// Watches what others do to my newest posts.
final class NoticeWatch: @unchecked Sendable {
  /// How many of my posts are watched.
  static let length: UInt = 20

  private struct WatchedPost {
    var post: Post
    let comments: DatabaseQuery
    var handle: DatabaseHandle = 0
    /// Whether the comments that were there before have been told.
    var isLoaded = false
  }

  private let paths: BlogPaths
  private let me: Author
  private let tell: @Sendable (Notice) -> Void
  private let posts: DatabaseQuery
  private var handle: DatabaseHandle?
  private var watched: [PostID: WatchedPost] = [:]

  init(_ paths: BlogPaths, me: Author, tell: @escaping @Sendable (Notice) -> Void) {
    self.paths = paths
    self.me = me
    self.tell = tell
    posts = paths.posts(of: me.uid).queryOrderedByKey().queryLimited(toLast: Self.length)
  }

  func start() {
    guard handle == nil else { return }
    handle = posts.observe([.childAdded, .childChanged, .childRemoved]) {
      [weak self] event, snapshot, _ in self?.take(event, of: snapshot)
    }
  }

  func stop() {
    if let handle { posts.removeObserver(withHandle: handle) }
    handle = nil
    for id in watched.keys { forget(id) }
  }

  private func take(_ event: DataEventType, of snapshot: DataSnapshot) {
    let id = snapshot.key
    switch event {
    case .childAdded:
      if let post = Post(snapshot) { watch(post) }
    case .childChanged:
      guard let post = Post(snapshot), let old = watched[id]?.post else { return }
      watched[id]?.post = post
      if !post.stars.subtracting(old.stars).subtracting([me.uid]).isEmpty {
        tell(.star(id, title: post.title, count: post.starCount))
      }
    case .childRemoved: forget(id)
    case .childMoved, .value: return
    }
  }

  private func watch(_ post: Post) {
    guard watched[post.id] == nil else { return }
    let comments = paths.comments(on: post.id).queryLimited(toLast: 1)
    watched[post.id] = WatchedPost(post: post, comments: comments)
    watched[post.id]?.handle = comments.observe([.childAdded, .value]) {
      [weak self] event, snapshot, _ in self?.take(event, of: snapshot, commentOn: post.id)
    }
  }

  private func take(
    _ event: DataEventType,
    of snapshot: DataSnapshot,
    commentOn id: PostID
  ) {
    guard let post = watched[id] else { return }
    if event == .value {
      watched[id]?.isLoaded = true
    } else if post.isLoaded, let comment = Comment(snapshot), comment.uid != me.uid {
      let author = Author(uid: comment.uid, name: comment.author)
      tell(.comment(id, title: post.post.title, by: author))
    }
  }

  private func forget(_ id: PostID) {
    guard let post = watched.removeValue(forKey: id) else { return }
    post.comments.removeObserver(withHandle: post.handle)
  }
}

/// Something that others did to what I wrote.
package enum Notice: Hashable, Sendable, Codable {
  /// Somebody commented on a post of mine.
  case comment(PostID, title: String, by: Author)
  /// A post of mine has more stars than before.
  case star(PostID, title: String, count: Int)

  /// The post that it is about.
  package var post: PostID {
    switch self {
    case .comment(let post, _, _), .star(let post, _, _): post
    }
  }
}

// Safety: everything is touched only on the callback queue of the database.
/// Watches the newest comments on a few posts that are not open, so that new ones are noticed.
///
/// One narrow query for each post that was asked for, and none for any other: what is watched is what
/// is in view, so the number of queries does not depend on how long a list is or how far it scrolled.
final class CommentWatch: @unchecked Sendable {
  /// How many of the newest comments of a post are known; more are only "at least so many".
  static let length = UInt(NewComments.limit)
  /// How many posts can be watched at once.
  static let limit = 100

  private struct Watched {
    let query: DatabaseQuery
    var handle: DatabaseHandle = 0
  }

  private let paths: BlogPaths
  private let tell: @Sendable (PostID, [Comment]) -> Void
  private var watched: [PostID: Watched] = [:]

  init(_ paths: BlogPaths, tell: @escaping @Sendable (PostID, [Comment]) -> Void) {
    self.paths = paths
    self.tell = tell
  }

  /// Watches these posts and no others; those that were watched before go on.
  func watch(_ posts: [PostID]) {
    let wanted = Set(posts.prefix(Self.limit))
    for (post, entry) in watched where !wanted.contains(post) {
      entry.query.removeObserver(withHandle: entry.handle)
      watched[post] = nil
    }
    for post in wanted where watched[post] == nil {
      let query = paths.comments(on: post).queryOrderedByKey().queryLimited(toLast: Self.length)
      watched[post] = Watched(query: query)
      watched[post]?.handle = query.observe(.value) { [weak self] snapshot in
        self?.take(snapshot, on: post)
      }
    }
  }

  private func take(_ snapshot: DataSnapshot, on post: PostID) {
    guard watched[post] != nil else { return }
    tell(post, snapshot.childSnapshots.compactMap(Comment.init))
  }
}

/// How many comments of others came since a post was read.
package struct NewComments: Hashable, Sendable {
  /// The greatest number that is counted.
  package static let limit = 10

  /// The number.
  package let count: Int
  /// Whether there may be more than that.
  package var isAtLeast: Bool { count >= Self.limit }

  /// Makes a number of comments.
  package init(count: Int) { self.count = min(count, Self.limit) }
}
