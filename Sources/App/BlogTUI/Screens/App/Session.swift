package import BlogModel

/// What all screens share: the user, the database, the connection, the clock, the lists of posts,
/// the settings, and what was not sent yet.
///
/// Screens read it, and their actions change it.
package struct Session: Sendable {
  /// The user.
  package internal(set) var me: Author
  /// The name of the database.
  package let databaseName: String
  /// The symbols that the terminal can show.
  package let terminalGlyphs: GlyphSet

  /// The number of columns and rows.
  package internal(set) var size: Size
  /// The time by the server's clock, in milliseconds since 1970.
  package internal(set) var now: Int64
  /// The state of the connection to the database.
  package internal(set) var connection = ConnectionState.connecting
  /// Why there is no connection, as far as that is known.
  package internal(set) var connectionProblem: ConnectionProblem?
  /// The current period in which the server answers nothing, if there is one.
  package internal(set) var silence: Silence?
  /// Whether the user reads without an account, where there are accounts.
  var isWithoutAccount = false
  /// Whether the user has disconnected this terminal.
  package internal(set) var isCutOff = false
  /// When the state of the connection last changed.
  package internal(set) var connectionChangedAt: Int64
  /// The number of writes that are not acknowledged.
  package internal(set) var pendingWrites = 0
  /// The list in view, or behind the screens in front.
  package internal(set) var tab = FeedKind.recent
  /// The search that filters the lists.
  package internal(set) var search: Search?
  /// The search through the posts that are not loaded; it begins when Enter is pressed.
  package internal(set) var restSearch: RestSearch?
  /// The number of the last search.
  var lastSearch = 0
  /// The number of the search that the blog is running; nil if it runs none.
  var toldSearch: Int?
  /// The number of posts in each list when all of it was last searched.
  var listLengths: [FeedKind: Int] = [:]
  /// The message that is shown until the next key.
  package internal(set) var message: Message? {
    didSet { if let message { messageLog.add(message, at: now) } }
  }
  /// Posts that were not sent or were refused; the last one is offered first.
  package internal(set) var drafts: [Draft]
  /// Comments that were not sent or were refused.
  package internal(set) var commentDrafts: [PostID: [CommentDraft]] = [:]
  /// Why what was typed cannot be saved; nil if it can.
  package internal(set) var keepProblem: String?
  /// The key table and the first keys of a pending sequence.
  package internal(set) var keys = KeyTable.standard
  /// What files, variables and options say about the screens.
  package internal(set) var configuration = Configuration()
  /// The styles of all parts.
  package internal(set) var theme = Theme.dark
  /// The commands typed earlier, oldest first.
  package internal(set) var commandHistory: [String] = []
  /// The names of the commands that were run last, the latest first.
  var recentCommands: [String] = []
  /// The shell command that is running.
  var runningCommand: String?
  /// The traffic on the wire.
  package internal(set) var inspector = Inspector()
  /// All messages so far.
  package internal(set) var messageLog = MessageLog()
  /// What readers see apart from the posts.
  package internal(set) var reading = Reading()
  /// What has just arrived.
  var arrivals = Arrivals()
  /// Everyone's names, so that people with the same name can be told apart.
  package internal(set) var names = NameBook()
  /// The stars that were given or removed here and that the database has not acknowledged.
  var starIntents: [PostID: Bool] = [:]

  private var feeds: [FeedKind: Feed] = [:]

  /// Makes the state before anything is known.
  ///
  /// - Parameters:
  ///   - me: The user.
  ///   - databaseName: The name of the database.
  ///   - size: The number of columns and rows.
  ///   - glyphs: The symbols that the terminal can show.
  ///   - now: The time in milliseconds since 1970.
  ///   - unsent: What was typed earlier and not sent; the last post is offered first.
  init(
    me: Author,
    databaseName: String,
    size: Size,
    glyphs: GlyphSet = .unicode,
    now: Int64,
    unsent: Unsent = Unsent()
  ) {
    self.me = me
    names.learn(me)
    self.databaseName = databaseName
    self.size = size
    terminalGlyphs = glyphs
    self.now = now
    drafts = unsent.posts
    commentDrafts = unsent.comments
    connectionChangedAt = now
  }

  /// One of the lists.
  package internal(set) subscript(feed: FeedKind) -> Feed {
    get { feeds[feed] ?? Feed() }
    set { feeds[feed] = newValue }
  }

  /// The list that is shown.
  package internal(set) var feed: Feed {
    get { self[tab] }
    set { self[tab] = newValue }
  }

  /// The user's settings.
  package internal(set) var settings: Settings {
    get { configuration.settings }
    set { configuration.settings = newValue }
  }

  /// The symbols that are drawn.
  package var glyphs: GlyphSet { settings.isOn(.ascii) ? .ascii : terminalGlyphs }

  /// The lists that are followed.
  package var followedFeeds: [FeedKind] { allFeeds.filter { self[$0].phase != .idle } }

  /// All lists: the standard ones and, where they exist, those of the followed people, of an author
  /// and of a tag.
  var allFeeds: [FeedKind] {
    var all = FeedKind.tabs
    if !reading.lists.following.isEmpty || tab == .following { all.append(.following) }
    if !reading.lists.bookmarks.isEmpty || tab == .bookmarks { all.append(.bookmarks) }
    if let author = reading.author { all.append(.author(uid: author.uid)) }
    if let tag = reading.tag { all.append(.tag(tag)) }
    return all
  }

  /// For how many seconds the server has not answered.
  package var silentSeconds: Int? {
    silence.map { silence in
      Int(clamping: max(0, now.subtractingReportingOverflow(silence.since).partialValue / 1_000))
    }
  }

  /// Whether there is a connection and the server has not been silent for so long that it counts as
  /// offline.
  package var isOnline: Bool {
    connection == .online && silentSeconds.map { Int64($0) * 1_000 < Silence.patience } ?? true
  }

  /// The seconds until the next attempt to connect.
  package var secondsUntilRetry: Int? {
    guard case .offline(let seconds?) = connection else { return nil }
    let passed = now.subtractingReportingOverflow(connectionChangedAt).partialValue / 1_000
    return max(0, max(0, seconds) - Int(clamping: max(0, passed)))
  }
}
