import BlogModel
import Dispatch
import RealtimeCore
import RealtimeDatabase

extension SwarmUser {
  private static let recentName = "recent"
  private static let topName = "top"

  var recentView: SwarmView {
    SwarmView(
      name: Self.recentName,
      path: "/posts",
      query: blog.paths.query(.recent, of: me.uid),
      limit: Int(BlogPaths.feedLength)
    )
  }

  var topView: SwarmView {
    SwarmView(
      name: Self.topName,
      path: "/posts",
      query: blog.paths.query(.top, of: me.uid),
      orderedBy: "starCount",
      limit: Int(BlogPaths.feedLength)
    )
  }

  static func commentsName(_ post: PostID) -> String { "comments/\(post)" }

  private func commentsView(_ post: PostID) -> SwarmView {
    SwarmView(
      name: Self.commentsName(post),
      path: "/post-comments/\(post)",
      query: blog.paths.comments(on: post),
      commentedPost: post
    )
  }

  func look(at view: SwarmView) {
    guard views[view.name] == nil else { return }
    views[view.name] = view
    let name = view.name
    _ = view.query.observe([.childAdded, .childChanged, .childRemoved, .value]) {
      [weak self] event, snapshot, _ in
      self?.take(event, of: snapshot, in: name)
    }
  }

  private func take(_ event: DataEventType, of snapshot: DataSnapshot, in name: String) {
    guard bug != .divergingView else { return }
    if isWatcher { tell(event, of: snapshot, in: name) }
    if event == .value {
      views[name]?.shown = snapshot
      if views[name]?.isListDue == true { noteComments(in: name) }
      return
    }
    if name == recentView.name {
      takePost(event, of: snapshot)
    } else if name == topView.name {
      show(event == .childRemoved ? nil : Post(snapshot), of: snapshot, in: name)
    } else if event == .childAdded, let comment = Comment(snapshot) {
      noteSeen(comment.text, by: comment.uid)
    }
  }

  /// Records what a listener receives, each event separately.
  private func tell(_ event: DataEventType, of snapshot: DataSnapshot, in name: String) {
    guard let view = views[name] else { return }
    if event == .value {
      guard !snapshot.metadata.isFromCache else { return }
      return note(.everything(limit: view.limit), at: view.path, in: name)
    }
    let node = event == .childRemoved ? Node.empty : snapshot.node
    let old = told[name, default: [:]].updateValue(node, forKey: snapshot.key)
    let isCertain = !snapshot.metadata.hasPendingWrites
    let changes = isCertain && !node.isEmpty ? old.flatMap(node.changedValues) : nil
    note(
      Self.content(of: node, isCertain: isCertain, changes: changes),
      at: "\(view.path)/\(snapshot.key)",
      in: name
    )
  }

  /// Records the state of a child again once no write of the user hides it.
  private func tellAgain(_ key: String, in name: String) {
    guard isWatcher, bug != .divergingView, let view = views[name] else { return }
    let content = Self.content(of: told[name]?[key] ?? .empty, isCertain: true, changes: nil)
    note(content, at: "\(view.path)/\(key)", in: name)
  }

  private static func content(
    of node: Node,
    isCertain: Bool,
    changes: JSONValue?
  ) -> Telling.Content {
    guard isCertain else { return .child(version: nil, changes: nil) }
    return node.isEmpty ? .gone : .child(version: node.hash, changes: changes)
  }

  private func note(_ content: Telling.Content, at path: String, in name: String) {
    history.append(.told(Telling(view: name, path: path, content: content)))
  }

  /// Notes that one of the user's operations starts to hide what the database has.
  func touch(_ intent: Intent) {
    for (name, key) in Self.children(touchedBy: intent) {
      touched[name, default: [:]][key, default: 0] += 1
    }
  }

  /// Notes that one of the user's operations no longer hides anything.
  func release(_ intent: Intent) {
    for (name, key) in Self.children(touchedBy: intent) {
      let left = touched[name, default: [:]][key, default: 1] - 1
      touched[name]?[key] = left == 0 ? nil : left
      if left == 0 { tellAgain(key, in: name) }
    }
  }

  /// The children of views that show an operation's intended result immediately.
  private static func children(touchedBy intent: Intent) -> [(view: String, key: String)] {
    switch intent {
    case .comment(let post, let comment, _), .deleteComment(let post, let comment):
      return [(commentsName(post), comment)]
    case .post, .editPost, .deletePost, .star, .unstar, .starAs, .editOther:
      return intent.post.map { [(recentName, $0), (topName, $0)] } ?? []
    case .increment, .read, .administer: return []
    }
  }

  private func takePost(_ event: DataEventType, of snapshot: DataSnapshot) {
    let post = event == .childRemoved ? nil : Post(snapshot)
    posts[snapshot.key] = post
    if isWatcher { show(post, of: snapshot, in: recentView.name) }
    guard event == .childAdded, let post, concerns(post) else { return }
    noteSeen(post.body, by: post.uid)
    guard
      let index = (0..<settings.hotPosts).first(where: {
        SwarmSettings.hotTitle($0) == post.title
      })
    else { return }
    hotPosts[post.title] = post.id
    // Everybody follows the comments on one hot post, watchers those on all of them.
    if isWatcher || number % settings.hotPosts == index { look(at: commentsView(post.id)) }
  }

  /// Records what a list shows of a post after an event.
  private func show(_ post: Post?, of snapshot: DataSnapshot, in name: String) {
    guard let post else { return show(.postGone(snapshot.key), of: snapshot.key, in: name) }
    let content = Showing.Content.post(
      post.id,
      starCount: post.starCount,
      stars: post.stars.count,
      isMine: post.stars.contains(me.uid),
      version: snapshot.metadata.hasPendingWrites ? nil : snapshot.node.hash
    )
    show(content, of: post.id, in: name)
  }

  /// Shows the content once all events of one change have arrived, as a screen is redrawn after
  /// them.
  private func show(_ content: Showing.Content, of post: PostID, in name: String) {
    if unshown.isEmpty { queue.async { [weak self] in self?.draw() } }
    if let index = unshown.firstIndex(where: { $0.view == name && $0.post == post }) {
      unshown[index].content = content
    } else {
      unshown.append((name, post, content))
    }
  }

  private func draw() {
    for (view, post, content) in unshown {
      append(content, in: view)
      guard bug == .staleRead, view == recentView.name else { continue }
      if let old = lastShown.updateValue(content, forKey: post) {
        append(old, in: view)
        append(content, in: view)
      }
    }
    unshown = []
  }

  /// Records all comments that a view shows, once they come from the server rather than the cache.
  ///
  /// The lists grow, so not every change of one is recorded. They are recorded when a client might
  /// forget something (after it has connected, and after its own comments were acknowledged) and at
  /// the end.
  func noteComments(in name: String) {
    guard isWatcher, let view = views[name], let post = view.commentedPost, let shown = view.shown,
      !shown.metadata.isFromCache
    else { return }
    views[name]?.isListDue = false
    var keys = shown.childSnapshots.map(\.key)
    if bug == .forgottenComment {
      keys.removeAll { acknowledgedComments.contains(OwnComment(post: post, key: $0)) }
    }
    append(.comments(post: post, keys: keys), in: name)
  }

  private func append(_ content: Showing.Content, in name: String) {
    views[name]?.order += 1
    history.append(.shown(Showing(view: name, order: views[name]?.order ?? 0, content: content)))
  }

  /// Measures how overdue the shown text is, when another user of this run has written it.
  private func noteSeen(_ text: String, by uid: String) {
    guard uid != me.uid, let due = Self.dueTime(in: text), due > born.microseconds else { return }
    tally.seen.record(microseconds: Moment.now.microseconds - due)
  }

  /// The time at which a text of a swarm was due, which tells a reader how old the text is.
  static func dueTime(in text: String) -> Int64? {
    text.lastIndex(of: "+").flatMap { Int64(text[text.index(after: $0)...]) }
  }
}

/// One list that a user follows, and what it shows.
struct SwarmView {
  let name: String
  let path: String
  let query: DatabaseQuery
  /// The child that determines the order, unless it is the key.
  var orderedBy: String?
  /// The maximum number of children.
  var limit: Int?
  /// The post whose comments the view shows, if it shows comments.
  var commentedPost: String?
  /// Everything that the view shows, once it is known.
  var shown: DataSnapshot?
  /// Whether all comments are to be recorded as soon as they come from the server.
  var isListDue = true
  /// How often the view has shown something.
  var order = 0

  /// The content of the view, for the end of a history.
  var finalView: FinalView? {
    shown.map {
      FinalView(
        view: name,
        path: path,
        orderedBy: orderedBy,
        limit: limit,
        digest: $0.node.hash
      )
    }
  }
}
