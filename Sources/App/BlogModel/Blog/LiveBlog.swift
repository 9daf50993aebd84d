internal import Dispatch
private import Foundation
package import RealtimeCore
package import RealtimeDatabase

// Safety: every mutable property is accessed only on `queue`.
/// The blog as a screen follows it: lists and posts stay up to date, and writes are visible at
/// once.
///
/// All state belongs to one serial queue, which is also the database's callback queue: calls are
/// dispatched to it in order, callbacks arrive on it in order, and the handler is called on it.
package final class LiveBlog: BlogRepository, @unchecked Sendable {
  package var me: Author { blog.me }
  package let databaseName: String
  let blog: Blog
  private let database: Database
  private let refusal: DatabaseErrorText
  let queue: DispatchQueue
  private var handler: (@Sendable (BlogEvent) -> Void)?
  private var feeds: [FeedKind: any FeedSource] = [:]
  private var opened: [PostID: OpenedPost] = [:]
  private var pulse: Pulse?
  private var phase: ConnectionStatus.Phase?
  private var connectionProblem: ConnectionProblem?
  /// What keeps a local server from starting, while there is no connection.
  private let obstacle: @Sendable () -> String?
  /// Called when many comments, or copies of them, will soon not be needed.
  private let releaseMemory: @Sendable () -> Void
  private let naming: Naming
  /// Called when the user has chosen another name here, and the database has it.
  private let keepName: @Sendable (String) -> Void
  private var isNamed = false
  private var nameObservation: Observation?
  /// Whether a list could not be read; what refused it may have ended other observers as well.
  private var isRefused = false
  private var silence: Silence?
  private var search: PostSearch?
  /// Whether writes from an earlier run are waiting to be sent; nil until that is known.
  private var restoredWrites: Bool?
  private var people: PeopleWatch?
  private var share: ReadingShare?
  private var readers: ReadingWatch?
  /// The posts that are open, the latest last.
  private var openPosts: [PostID] = []
  private var marks: ReadMarks?
  private var notices: NoticeWatch?
  private var latest: CommentWatch?
  private var ownLists: OwnListsWatch?

  /// The keys of the posts and comments that were deleted on this terminal.
  private var deleted: Set<String> = []

  /// Where the user's name comes from.
  package enum Naming: Sendable {
    /// It stays as it is, for that reason.
    case fixed(reason: String)
    /// The database has it, and it may change; the user may be asked for it while there is none.
    case kept(asks: Bool)

    fileprivate var isFixed: Bool { if case .fixed = self { true } else { false } }
  }

  private struct OpenedPost {
    var comments: OpenedComments
    /// A longer selection that replaces the comments once it is known.
    var longer: OpenedComments?
    var post: Post?
    let observation: Observation
  }

  /// The newest comments on an open post.
  private struct OpenedComments {
    /// How many there are at first, so that opening a post costs what is shown.
    static let length = 500

    let length: Int
    let observation: Observation
    /// The selection, with one more to tell whether there are earlier ones.
    var all = OrderedComments()

    var hasEarlier: Bool { all.elements.count > length }
    var elements: [Comment] { hasEarlier ? all.elements.suffix(length) : all.elements }
  }

  /// Makes a live blog, whose queue becomes the callback queue of a database that nobody else uses
  /// yet.
  ///
  /// Without the name of a terminal, the user stays invisible. Others see what is read here only if
  /// that is shared and the screen asks for it. `signIn` returns how to sign in, such as ":account
  /// signs in", while the user has no account here. `keepRefused` stores a request that the rules
  /// refused, and returns the path of the file.
  package init(
    database: Database,
    name: String,
    me: Author,
    naming: Naming = .fixed(reason: "it cannot be changed here"),
    stars: StarMethod = .transaction,
    terminal: TerminalName? = nil,
    sharesReading: Bool = false,
    signIn: @escaping @Sendable () -> String? = { nil },
    keepName: @escaping @Sendable (String) -> Void = { _ in },
    keepRefused: @escaping @Sendable (JSONValue) -> String? = { _ in nil },
    obstacle: @escaping @Sendable () -> String? = { nil },
    releaseMemory: @escaping @Sendable () -> Void = {}
  ) {
    self.database = database
    self.obstacle = obstacle
    self.releaseMemory = releaseMemory
    self.naming = naming
    self.keepName = keepName
    refusal = DatabaseErrorText(uid: me.uid, signIn: signIn, keep: keepRefused)
    databaseName = name
    queue = DispatchQueue(label: "hearth.blog")
    database.callbackQueue = queue
    database.leaveOutOfPendingWrites(below: BlogPaths.untold)
    database.endWithConnection(writesBelow: BlogPaths.ephemeral)
    blog = Blog(database: database, me: me, stars: stars)
    let paths = blog.paths
    let tell: @Sendable (BlogEvent) -> Void = { [weak self] in self?.handler?($0) }
    people = PeopleWatch(paths, me: me, terminal: terminal) { [weak self] event in
      tell(event)
      guard case .people(let people) = event else { return }
      self?.readers?.follow(Set(people.map(\.person.uid)).sorted())
    }
    readers = ReadingWatch(
      paths,
      title: { [weak self] in self?.known($0)?.title },
      tell: { tell(.reading($0)) }
    )
    if sharesReading, let terminal {
      let place = paths.reading(of: me.uid).child(of: ChildKey(terminal.key))
      share = ReadingShare(at: place)
    }
    marks = ReadMarks(paths.seen(by: me.uid), tell: tell)
    notices = NoticeWatch(paths, me: me, tell: tell)
    ownLists = OwnListsWatch(paths, of: me.uid, tell: tell)
    latest = CommentWatch(paths) { tell(.latestComments($0, $1)) }
    // What is observed is known without asking the server; a neighbour may be read as well.
    let beat = paths.user(me.uid).child(naming.isFixed ? "username" : "pulse")
    pulse = Pulse(beat) { tell(.roundTrip(milliseconds: $0)) }
  }

  package var now: Int64 { database.serverTime }

  package func start(_ handler: @escaping @Sendable (BlogEvent) -> Void) {
    queue.async { [self] in
      self.handler = handler
      watch()
    }
    database.observeConnection { [queue, weak self] status in
      queue.async { [weak self] in self?.connectionChanged(status) }
    }
  }

  /// Observes what is shown beside the lists, or does so anew.
  private func watch() {
    people?.start()
    marks?.start()
    notices?.restart()
    ownLists?.restart()
    latest?.restart()
    guard !naming.isFixed else { return }
    let name = blog.paths.user(me.uid).child("username")
    nameObservation = nil
    nameObservation = Observation(name) { [weak self] snapshot in
      self?.take(name: snapshot.value as? String)
    }
  }

  /// Takes the name that the database has, or that a terminal or a command has given since.
  private func take(name: String?) {
    let isFirst = !isNamed
    isNamed = true
    let isName = name.map { (try? Author(userName: $0)) != nil } ?? false
    if let name, isName, name != me.name {
      blog.rename(name)
      people?.rename(me)
      notices?.rename(me)
      if !isFirst { handler?(.renamed(me)) }
    }
    guard isFirst else { return }
    if name != nil {
      handler?(.named(me))
    } else if case .kept(asks: true) = naming {
      handler?(.unnamed)
    }
  }

  private func connectionChanged(_ status: ConnectionStatus) {
    if status.phase != phase {
      phase = status.phase
      if status.phase == .connected {
        people?.connected(now: now)
        share?.connected()
        pulse?.start()
      } else {
        people?.disconnected()
        share?.disconnected()
        pulse?.stop()
      }
    }
    var problem = status.problem.map(ConnectionProblem.init)
    if problem?.isPermanent == false, let reason = obstacle() {
      problem = ConnectionProblem(reason: reason, isPermanent: false)
    }
    if problem != connectionProblem {
      connectionProblem = problem
      handler?(.connectionProblem(problem))
    }
    let silence = silence(in: status)
    if silence != self.silence {
      self.silence = silence
      handler?(.silence(silence))
    }
    sweepFragments(status)
    handler?(.connection(ConnectionState(status.phase)))
    handler?(.pendingWrites(status.pendingWrites))
  }

  /// The current silence of the server, which spans all attempts to reconnect.
  private func silence(in status: ConnectionStatus) -> Silence? {
    if let start = status.silentSince {
      let passed = Int64((Date().timeIntervalSince(start) * 1_000).rounded())
      return silence ?? Silence(since: now - passed, address: Self.words(for: status.address))
    }
    let isAnswered = status.phase == .connected || status.problem?.isSilence == false
    return isAnswered ? nil : silence
  }

  /// An address in words; the path of a socket means nothing to users.
  fileprivate static func words(for address: String) -> String {
    address.hasPrefix("/") ? "the local server" : address
  }

  package func probe() { database.probe() }

  /// Checks the posts that an earlier run has edited, once the server has received all its writes.
  private func sweepFragments(_ status: ConnectionStatus) {
    if restoredWrites == nil { restoredWrites = status.pendingWrites > 0 }
    guard restoredWrites == true, status.phase == .connected, status.pendingWrites == 0 else {
      return
    }
    restoredWrites = false
    blog.fragments.sweep()
  }

  package func request(_ request: BlogRequest) {
    queue.async { [self] in
      switch request {
      case .follow(let feed): follow(feed)
      case .stopFollowing(let feed): feeds[feed] = nil
      case .read(let feed, let post): feeds[feed]?.read(at: post)
      case .showFirst(let feed): feeds[feed]?.showHighest()
      case .open(let post): open(post)
      case .showEarlierComments(let post): showEarlierComments(on: post)
      case .close(let post): close(post)
      case .watchComments(let posts): latest?.watch(posts)
      case .hearNotices(let areHeard):
        areHeard ? notices?.start() : notices?.stop()
        areHeard ? ownLists?.start() : ownLists?.stop()
      case .typing(let post, let isTyping): people?.setTyping(isTyping, on: post)
      case .shareReading(let isOn): share?.share(isOn)
      case .watchReading(let isOn): readers?.watch(isOn)
      }
    }
  }

  // MARK: Lists

  private func follow(_ feed: FeedKind) {
    if let followed = feeds[feed] { return followed.publish() }
    if isRefused {
      isRefused = false
      watch()
    }
    let tell: @Sendable ([Post], FeedExtent) -> Void = { [weak self] posts, extent in
      self?.handler?(.extent(feed, extent))
      self?.handler?(.feed(feed, posts: posts))
    }
    let fail: @Sendable (any Error) -> Void = { [weak self] error in
      self?.feeds[feed] = nil
      self?.isRefused = true
      self?.feedFailed(feed, with: error)
    }
    feeds[feed] = source(of: feed, tell: tell, fail: fail)
  }

  private func source(
    of feed: FeedKind,
    tell: @escaping @Sendable ([Post], FeedExtent) -> Void,
    fail: @escaping @Sendable (any Error) -> Void
  ) -> any FeedSource {
    switch feed {
    case .tag, .bookmarks:
      return IndexedFeed(feed, of: me.uid, in: blog.paths, tell: tell, fail: fail)
    case .following:
      return PeopleFeed(followedBy: me.uid, blog.paths, tell: tell, fail: fail)
    case .recent, .top, .mine, .myTop, .author:
      return FollowedFeed(
        blog.paths.list(feed, of: me.uid),
        tell: { entries, extent in tell(entries.compactMap(\.post), extent) },
        fail: fail
      )
    }
  }

  private func feedFailed(_ feed: FeedKind, with error: any Error) {
    let place = blog.paths.place(of: feed, for: me.uid).pathText
    let reason = refusal.text(error, for: .read, at: place)
    handler?(.feedFailed(feed, reason: reason))
  }

  package func search(
    _ number: Int,
    in feed: FeedKind,
    withComments: Bool,
    matching matches: @escaping @Sendable (Post, [Comment]) -> Bool
  ) {
    let list = blog.paths.all(feed, of: me.uid)
    let comments = withComments ? blog.paths.allComments : nil
    queue.async { [self] in
      search?.stop()
      search = PostSearch(number, in: list, comments: comments, matching: matches) {
        [queue, weak self] progress in
        queue.async { [weak self] in self?.handler?(.found(progress)) }
      }
      search?.start()
    }
  }

  package func stopSearching() {
    queue.async { [self] in
      search?.stop()
      search = nil
    }
  }

  // MARK: One post

  private func open(_ post: PostID) {
    guard opened[post] == nil else { return }
    let observation = Observation(blog.paths.post(post)) { [weak self] snapshot in
      let found = Post(snapshot)
      self?.opened[post]?.post = found
      self?.handler?(.post(post, found))
    } cancelled: { [weak self] error in
      self?.postFailed(post, with: error)
    }
    let comments = observeComments(OpenedComments.length, on: post)
    opened[post] = OpenedPost(comments: comments, observation: observation)
    people?.watchTyping(on: post)
    openPosts.append(post)
    share?.read(post)
  }

  private func observeComments(_ length: Int, on post: PostID) -> OpenedComments {
    let query = blog.paths.comments(on: post).queryOrderedByKey()
      .queryLimited(toLast: UInt(length) + 1)
    let observation = Observation(changesOf: query) { [weak self] event, snapshot in
      self?.takeComment(event, of: snapshot, on: post, among: length)
    } cancelled: { [weak self] error in
      // Earlier comments may be asked for again.
      if self?.opened[post]?.longer?.length == length { self?.opened[post]?.longer = nil }
      self?.postFailed(post, with: error)
    }
    return OpenedComments(length: length, observation: observation)
  }

  private func postFailed(_ post: PostID, with error: any Error) {
    guard opened[post] != nil else { return }
    let reason = refusal.text(error, for: .read, at: blog.paths.post(post).pathText)
    handler?(.postFailed(post, reason: reason))
  }

  private func showEarlierComments(on post: PostID) {
    guard let comments = opened[post]?.comments, comments.hasEarlier, opened[post]?.longer == nil
    else { return }
    opened[post]?.longer = observeComments(comments.length * 2, on: post)
  }

  private func close(_ post: PostID) {
    guard let closed = opened.removeValue(forKey: post) else { return }
    people?.unwatchTyping(on: post)
    openPosts.removeAll { $0 == post }
    share?.read(openPosts.last)
    if closed.comments.length > OpenedComments.length { releaseMemory() }
  }

  private func takeComment(
    _ event: DataEventType,
    of snapshot: DataSnapshot,
    on post: PostID,
    among length: Int
  ) {
    if length == opened[post]?.comments.length {
      guard opened[post]?.comments.all.take(event, of: snapshot) == true
      else { return }
      queue.async { [weak self] in self?.publishComments(of: post) }
      return
    }
    guard opened[post]?.longer?.length == length else { return }
    _ = opened[post]?.longer?.all.take(event, of: snapshot)
    guard let new = opened[post]?.longer, new.all.isLoaded else { return }
    opened[post]?.comments = new
    opened[post]?.longer = nil
    publishComments(of: post)
    releaseMemory()
  }

  private func publishComments(of post: PostID) {
    opened[post]?.comments.all.clean()
    guard let comments = opened[post]?.comments, comments.all.isKnown else { return }
    handler?(.hasEarlierComments(post, comments.hasEarlier))
    handler?(.comments(post, comments.elements))
  }

  /// A post as the open post or a list has it.
  private func known(_ post: PostID) -> Post? {
    opened[post]?.post ?? feeds.values.lazy.compactMap { $0.post(post) }.first
  }

  // MARK: Changes

  package func mark(_ change: ReadChange) {
    enqueue { [self] in
      let place = blog.paths.seen(by: me.uid).pathText
      marks?.apply(change) { [weak self, refusal] error in
        guard let error else { return }
        let reason = refusal.text(error, for: .write, at: place)
        self?.handler?(.markRefused(change, reason: reason))
      }
    }
  }

  @discardableResult
  package func perform(_ action: BlogAction) -> BlogAction {
    if case .rename = action, case .fixed(let reason) = naming {
      queue.async { [self] in handler?(.failed(action, reason: reason)) }
      return action
    }
    let keyed = blog.withKey(action)
    // What is new needs nothing from the queue, and is on its way even if the user leaves at once.
    guard keyed == action, let key = action.key else {
      blog.perform(keyed, completion: report(keyed))
      return keyed
    }
    enqueue { [self] in
      if action.isDeletion { deleted.insert(key) }
      blog.perform(action, on: subject(of: action), completion: report(action))
    }
    return action
  }

  /// Calls a closure once everything requested so far was reported as the server has it now.
  ///
  /// It is called on any thread; never if there is no connection.
  package func whenCurrent(_ block: @escaping @Sendable () -> Void) {
    queue.async { [queue, database] in
      // A list is reported after the events that have changed it.
      database.whenCurrent { queue.async(execute: block) }
    }
  }

  /// Returns once the database has all changes made so far, so that it can be closed.
  package func flush() async {
    await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
  }

  /// Makes a change on the queue; its writes keep the cause that the caller has named.
  private func enqueue(_ change: @escaping @Sendable () -> Void) {
    let cause = Database.causeOfWrites
    queue.async { Database.$causeOfWrites.withValue(cause, operation: change) }
  }

  /// What the lists and the open post know of what an action is about.
  private func subject(of action: BlogAction) -> Blog.Subject {
    let comments = action.post.flatMap { opened[$0]?.comments.all }
    let comment = action.comment.flatMap { comments?.comment($0) }
    return Blog.Subject(
      post: action.post.flatMap(known),
      comment: comment,
      parent: comment?.parent.flatMap { comments?.comment($0) }
    )
  }

  /// The completion for an action: it reports the outcome to the handler.
  private func report(_ action: BlogAction) -> BlogCompletion {
    { [queue, refusal] error in
      queue.async {
        // An edit finds nothing to change if the user has deleted it since.
        let isMine = error is BlogError && action.key.map(self.deleted.contains) == true
        let reason = error.map { refusal.text($0, for: .write, at: action.place) }
        if case .rename(let name) = action, error == nil { self.keepName(name) }
        self.handler?(
          reason.flatMap { isMine ? nil : .failed(action, reason: $0) } ?? .succeeded(action)
        )
      }
    }
  }
}

extension ConnectionStatus.Problem {
  /// Whether the problem is only that the server did not answer.
  fileprivate var isSilence: Bool { summary == Self.noAnswer }
}

extension ConnectionProblem {
  fileprivate init(_ problem: ConnectionStatus.Problem) {
    self.init(
      reason: problem.reason,
      cause: problem.summary,
      address: problem.address.map(LiveBlog.words),
      isPermanent: problem.isPermanent
    )
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
