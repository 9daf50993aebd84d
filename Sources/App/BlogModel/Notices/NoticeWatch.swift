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
      [weak self] event, snapshot, _ in self?.take(event, snapshot)
    }
  }

  func stop() {
    if let handle { posts.removeObserver(withHandle: handle) }
    handle = nil
    for id in watched.keys { forget(id) }
  }

  private func take(_ event: DataEventType, _ snapshot: DataSnapshot) {
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
      [weak self] event, snapshot, _ in self?.comment(on: post.id, event, snapshot)
    }
  }

  private func comment(on id: PostID, _ event: DataEventType, _ snapshot: DataSnapshot) {
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
