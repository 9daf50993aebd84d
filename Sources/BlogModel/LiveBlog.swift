private import Dispatch
package import RealtimeDatabase
private import RealtimeTree

// Safety: every mutable property is touched only on `queue`.
/// The blog as a screen follows it: lists and posts that stay up to date, and writes that show at once.
///
/// All state belongs to one serial queue, which is also the database's callback queue: calls are
/// handed to it in order, callbacks arrive on it in order, and the handler is called on it.
package final class LiveBlog: BlogRepository, @unchecked Sendable {
  package let me: Author
  package let databaseName: String
  private let blog: Blog
  private let database: Database
  private let queue: DispatchQueue
  private var handler: (@Sendable (BlogEvent) -> Void)?
  private var feeds: [FeedKind: FollowedFeed] = [:]
  private var opened: [PostID: OpenedPost] = [:]

  private struct FollowedFeed {
    var posts = OrderedSnapshots<Post>()
    let query: DatabaseQuery
    var handle: DatabaseHandle = 0
  }

  private struct OpenedPost {
    var comments = OrderedSnapshots<Comment>()
    var postHandle: DatabaseHandle = 0
    var commentsHandle: DatabaseHandle = 0
  }

  /// Makes a live blog, whose queue becomes the callback queue of the database.
  ///
  /// - Parameters:
  ///   - database: The database, not yet used by anyone else.
  ///   - name: Which database this is, in words for the status bar.
  ///   - me: Who reads and writes.
  ///   - journal: Where unfinished stars are noted.
  package init(database: Database, name: String, me: Author, journal: any StarJournal) {
    self.database = database
    self.me = me
    databaseName = name
    queue = DispatchQueue(label: "hearth.blog")
    database.callbackQueue = queue
    blog = Blog(database: database, me: me, journal: journal)
  }

  package var now: Int64 { database.serverTime }

  package func start(_ handler: @escaping @Sendable (BlogEvent) -> Void) {
    queue.async { self.handler = handler }
    database.observeConnection { [queue] status in
      queue.async {
        self.handler?(.connection(ConnectionState(status.phase)))
        self.handler?(.pendingWrites(status.pendingWrites))
      }
    }
  }

  /// Carries out what an earlier run of the program noted but did not finish.
  package func resume(_ intents: [StarIntent]) {
    for intent in intents { setStar(intent.post, intent.isStarred) }
  }

  // MARK: Lists

  package func follow(_ feed: FeedKind) {
    queue.async { [self] in
      guard feeds[feed] == nil else { return publish(feed) }
      let query = blog.paths.query(feed, of: me.uid)
      feeds[feed] = FollowedFeed(query: query)
      feeds[feed]?.handle = query.observe(
        [.childAdded, .childChanged, .childMoved, .childRemoved, .value]
      ) { [weak self] event, snapshot, previousKey in
        self?.changed(feed, event, snapshot, previousKey)
      } withCancel: { [weak self] error in
        self?.feeds[feed] = nil
        self?.handler?(.feedFailed(feed, reason: Self.reason(error)))
      }
    }
  }

  package func stopFollowing(_ feed: FeedKind) {
    queue.async { [self] in
      guard let followed = feeds.removeValue(forKey: feed) else { return }
      followed.query.removeObserver(withHandle: followed.handle)
    }
  }

  private func changed(
    _ feed: FeedKind,
    _ event: DataEventType,
    _ snapshot: DataSnapshot,
    _ previousKey: String?
  ) {
    // What comes in one burst is shown once, after the burst.
    guard feeds[feed]?.posts.take(event, snapshot, previousKey, Post(snapshot)) == true else {
      return
    }
    queue.async { [weak self] in self?.publish(feed) }
  }

  private func publish(_ feed: FeedKind) {
    feeds[feed]?.posts.clean()
    guard let posts = feeds[feed]?.posts, posts.isKnown else { return }
    handler?(.feed(feed, posts: posts.elements.reversed()))
  }

  // MARK: One post

  package func open(_ post: PostID) {
    queue.async { [self] in
      guard opened[post] == nil else { return }
      opened[post] = OpenedPost()
      opened[post]?.postHandle = blog.paths.post(post).observe(.value) { [weak self] snapshot in
        self?.handler?(.post(post, Post(snapshot)))
      }
      opened[post]?.commentsHandle = blog.paths.comments(on: post).observe(
        [.childAdded, .childChanged, .childMoved, .childRemoved, .value]
      ) { [weak self] event, snapshot, previousKey in
        self?.commentsChanged(post, event, snapshot, previousKey)
      }
    }
  }

  package func close(_ post: PostID) {
    queue.async { [self] in
      guard let closed = opened.removeValue(forKey: post) else { return }
      blog.paths.post(post).removeObserver(withHandle: closed.postHandle)
      blog.paths.comments(on: post).removeObserver(withHandle: closed.commentsHandle)
    }
  }

  private func commentsChanged(
    _ post: PostID,
    _ event: DataEventType,
    _ snapshot: DataSnapshot,
    _ previousKey: String?
  ) {
    let comment = Comment(snapshot)
    guard opened[post]?.comments.take(event, snapshot, previousKey, comment) == true else { return }
    queue.async { [weak self] in self?.publishComments(of: post) }
  }

  private func publishComments(of post: PostID) {
    opened[post]?.comments.clean()
    guard let comments = opened[post]?.comments, comments.isKnown else { return }
    handler?(.comments(post, comments.elements))
  }

  // MARK: Doing

  package func post(title: String, body: String) -> PostID {
    let id = blog.paths.posts.childByAutoId().key ?? ""
    blog.write(
      post: id,
      title: title,
      body: body,
      completion: report(.post(id, title: title, body: body))
    )
    return id
  }

  package func comment(on post: PostID, text: String) -> String {
    let id = blog.paths.comments(on: post).childByAutoId().key ?? ""
    blog.write(
      comment: id,
      on: post,
      text: text,
      completion: report(.comment(post, commentID: id, text: text))
    )
    return id
  }

  package func setStar(_ post: PostID, _ isStarred: Bool) {
    blog.starToggle.start(isStarred, on: post, completion: report(.star(post, isStarred)))
  }

  package func deletePost(_ post: PostID) {
    blog.remove(post: post, completion: report(.deletePost(post)))
  }

  package func deleteComment(_ comment: String, on post: PostID) {
    let action = BlogAction.deleteComment(post, commentID: comment)
    let completion = report(action)
    blog.paths.comments(on: post).child(of: ChildKey(comment)).removeValue { error, _ in
      completion(error)
    }
  }

  /// What to call when an action has been answered.
  private func report(_ action: BlogAction) -> @Sendable ((any Error)?) -> Void {
    { [queue] error in
      queue.async {
        self.handler?(
          error.map { .failed(action, reason: Self.reason($0)) } ?? .succeeded(action)
        )
      }
    }
  }

  private static func reason(_ error: any Error) -> String {
    (error as? DatabaseError)?.reason ?? String(describing: error)
  }
}

extension ConnectionState {
  fileprivate init(_ phase: ConnectionStatus.Phase) {
    switch phase {
    case .connecting(isFirst: true): self = .connecting
    case .connecting(isFirst: false): self = .offline(retryInSeconds: nil)
    case .connected: self = .online
    case .waiting(let seconds): self = .offline(retryInSeconds: seconds)
    case .closed: self = .offline(retryInSeconds: nil)
    }
  }
}
