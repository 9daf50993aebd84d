package import BlogModel

/// The state in which a program started; together with its events it determines all screens.
package struct RecordingStart: Hashable, Sendable, Codable {
  package var me: Author
  package var databaseName: String
  package var size: Size
  package var isASCII = false
  /// The time by the server's clock, in milliseconds since 1970.
  package var now: Int64
  /// What was typed earlier and not sent; the last post is offered first.
  package var unsent = Unsent()
  package var history: [String] = []
}

extension RecordingStart {
  package init(me: Author, databaseName: String, size: Size, now: Int64) {
    self.init(me: me, databaseName: databaseName, size: size, isASCII: false, now: now)
  }
}

/// Everything that is on the screen, as a value: what all screens share, and the screens.
///
/// Only ``update(_:with:)`` changes it, and ``view(_:)`` draws it.
@dynamicMemberLookup
package struct Model: Sendable {
  package internal(set) var session: Session
  var stack = ScreenStack()

  /// Makes the state before the first event, both live and in a replay.
  package init(_ start: RecordingStart) {
    session = Session(start)
    relayout()
  }

  /// Reads a property of the session as if it belonged to the model itself.
  package subscript<Value>(dynamicMember path: KeyPath<Session, Value>) -> Value {
    session[keyPath: path]
  }

  /// Reads or changes a property of the session as if it belonged to the model itself.
  subscript<Value>(dynamicMember path: WritableKeyPath<Session, Value>) -> Value {
    get { session[keyPath: path] }
    _modify { yield &session[keyPath: path] }
  }

  package internal(set) subscript(feed: FeedKind) -> Feed {
    get { session[feed] }
    _modify { yield &session[feed] }
  }

  /// Tells every screen how much space it has.
  mutating func relayout() {
    session.resizeLists()
    stack.resize(in: session)
  }
}

// MARK: Where the user is

extension Model {
  /// The context in which keys are interpreted.
  package var context: Context { stack.front.context(in: session) }

  /// The context in which commands act: that of the screen behind the command line or picker.
  var commandContext: Context { stack.screen(below: .chooser).context(in: session) }

  /// The post that keys act on: the open one, or the selected one.
  var currentPost: Post? { openPost?.post ?? (openPost == nil ? session.feed.selectedPost : nil) }

  /// The post with that key, as any of the screens knows it.
  func knownPost(_ id: PostID) -> Post? {
    if let openPost, openPost.id == id, let post = openPost.post { return post }
    return session.feed.post(id)
      ?? session.allFeeds.lazy.compactMap { session[$0].post(id) }.first
  }
}

// MARK: Unfinished work

extension Model {
  /// Posts that were typed and not sent; the one in the form comes last.
  package var unsentDrafts: [Draft] {
    session.writing.unsent.posts + (composer.map { $0.isIdle ? [] : [$0.draft] } ?? [])
  }

  /// Everything that was typed and not sent, in the form in which it is saved for the next run.
  package var unsent: Unsent {
    var unsent = session.writing.unsent
    unsent.posts = unsentDrafts
    if let openPost, openPost.line.hasDraft { unsent.keep(openPost.line.draft, on: openPost.id) }
    return unsent
  }

  package var unsentComments: [String] {
    let typed = openPost.map { $0.line.hasDraft ? [$0.line.field.text] : [] } ?? []
    return session.writing.unsent.comments.values.flatMap { $0.map(\.text) } + typed
  }

  /// Whether something was typed and not sent, or written and not acknowledged.
  var hasOpenEnds: Bool {
    !unsentDrafts.isEmpty || !unsentComments.isEmpty || session.writing.pendingWrites > 0
  }

  package var isOnline: Bool { session.connection.state == .online }

  /// Whether nothing is pending: connected, all writes acknowledged, and everything shown has
  /// loaded.
  package var isQuiet: Bool {
    guard isOnline, session.writing.pendingWrites == 0,
      session.writing.starIntents.isEmpty
    else { return false }
    guard session.feed.phase != .loading, session.feed.phase != .idle else { return false }
    guard let openPost else { return true }
    return openPost.isLoaded
  }

  /// How long the screen stays accurate if nothing happens; nil means forever.
  package var nextTick: Duration? {
    if let seconds = session.connection.secondsUntilRetry(at: session.now), seconds > 0 {
      return .seconds(1)
    }
    if session.connection.silence != nil { return .seconds(1) }
    if let time = nextChange { return .milliseconds(max(1, time - session.now)) }
    let showsAges = openPost != nil || !session.feed.posts.isEmpty
    return showsAges ? .seconds(30) : nil
  }

  /// When the next transient item on the screen expires: a deletion, a symbol, a person's typing.
  private var nextChange: Int64? {
    var times = session.writing.times
    times += (openPost?.typists ?? []).map { $0.at + Typist.patience }
    if let rest = session.reading.arrivals.nextRest { times.append(rest) }
    return times.filter { $0 > session.now }.min()
  }

  /// Leaves; asks first if something would be lost, and then leaves once nothing would be.
  mutating func quit() -> [Effect] {
    guard hasOpenEnds else { return [.quit] }
    question = .quit
    return []
  }
}
