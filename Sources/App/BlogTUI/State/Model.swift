package import BlogModel

/// Everything that is on the screen, as a value.
///
/// What is in front: question → help → form → post → search line → list. Only ``update(_:_:)``
/// changes it, and ``view(_:)`` draws it.
package struct Model: Sendable {
  /// Who I am.
  package let me: Author
  /// Which database this is.
  package let databaseName: String
  /// The signs that the terminal can show.
  package let terminalGlyphs: GlyphSet

  /// The number of columns and rows.
  package internal(set) var size: Size
  /// The time by the server's clock, in milliseconds since 1970.
  package internal(set) var now: Int64
  /// How the database can be reached.
  package internal(set) var connection = ConnectionState.connecting
  /// Why the server cannot be used, if waiting alone will not change that.
  package internal(set) var connectionProblem: String?
  /// Whether the user has cut this terminal off.
  package internal(set) var isCutOff = false
  /// When the connection came into that state.
  package internal(set) var connectionChangedAt: Int64
  /// The number of writes that are not acknowledged.
  package internal(set) var pendingWrites = 0
  /// The list that is shown, or that is behind what is shown.
  package internal(set) var tab = FeedKind.recent
  /// The open post, in front of the list.
  package internal(set) var openPost: OpenPost?
  /// The form for a post, in front of the list.
  package internal(set) var composer: Composer?
  /// The search that limits the lists.
  package internal(set) var search: Search?
  /// The table of keys, in front of everything but a question.
  package internal(set) var help: Page?
  /// The question that has to be answered; each begins with the answer that changes nothing.
  package internal(set) var question: Question? {
    didSet { answer = .cancel }
  }
  /// The answer in front, which Enter gives.
  package internal(set) var answer = Answer.cancel
  /// What the user is told until the next key.
  package internal(set) var message: Message? {
    didSet { if let message { messageLog.add(message, at: now) } }
  }
  /// Posts that were begun and not sent, or that came back; the last one is offered first.
  package internal(set) var drafts: [Draft]
  /// Comments that were begun and not sent, or that came back.
  package internal(set) var commentDrafts: [PostID: [String]] = [:]
  /// The key table and the first key of a sequence.
  package internal(set) var keys = KeyTable.standard
  /// What files, variables and options say about the screens.
  package internal(set) var configuration = Configuration()
  /// The styles of all parts.
  package internal(set) var theme = Theme.dark
  /// The line in which a command is typed, in front of everything but a question.
  package internal(set) var commandLine: CommandLine?
  /// What was typed into that line before, oldest first.
  package internal(set) var commandHistory: [String] = []
  /// A choice between many things, in front of everything but a question.
  package internal(set) var chooser: Chooser?
  /// What goes over the wire.
  package internal(set) var inspector = Inspector()
  /// What the user was told so far.
  package internal(set) var messageLog = MessageLog()
  /// What readers are told beside the posts.
  package internal(set) var reading = Reading()
  /// Who goes by which name, so that no two people are confused.
  package internal(set) var names = NameBook()
  /// What a star key meant last, until the database has acknowledged it.
  var starIntents: [PostID: Bool] = [:]

  private var feeds: [FeedKind: Feed] = [:]

  /// Makes the state before anything is known.
  ///
  /// - Parameters:
  ///   - me: Who I am.
  ///   - databaseName: Which database this is.
  ///   - size: The number of columns and rows.
  ///   - glyphs: The signs that the terminal can show.
  ///   - now: The time in milliseconds since 1970.
  ///   - unsent: What was typed and not sent earlier; the last post is offered first.
  package init(
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
    relayout()
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

  /// What the user has chosen.
  package internal(set) var settings: Settings {
    get { configuration.settings }
    set { configuration.settings = newValue }
  }

  /// The signs that are drawn.
  package var glyphs: GlyphSet { settings.isOn(.ascii) ? .ascii : terminalGlyphs }

  /// Where keys are typed now.
  package var context: Context {
    if question != nil { return .confirm }
    if commandLine != nil { return .command }
    if chooser != nil { return .chooser }
    return contextBelowCommand
  }

  /// Where commands have their effect.
  var contextBelowCommand: Context {
    if let help { return help.isSearching ? .find : .help }
    if inspector.isOpen { return .inspector }
    return contextBelowHelp
  }

  /// Where keys would be typed without a question and without help.
  var contextBelowHelp: Context {
    if composer != nil { return .compose }
    if let openPost { return openPost.isWriting ? .comment : .post }
    return search?.isEditing == true ? .search : .list
  }

  /// The key of the open post.
  package var openPostID: PostID? { openPost?.id }

  /// The lists that are followed.
  package var followedFeeds: [FeedKind] { allFeeds.filter { self[$0].phase != .idle } }

  /// All lists, that of an author too if there is one.
  var allFeeds: [FeedKind] {
    FeedKind.tabs + (reading.author.map { [.author(uid: $0.uid)] } ?? [])
  }

  /// Posts that were typed and not sent, the one in the form last.
  package var unsentDrafts: [Draft] {
    drafts + (composer.map { $0.draft.isEmpty ? [] : [$0.draft] } ?? [])
  }

  /// Everything that was typed and not sent, as it is kept for another run.
  package var unsent: Unsent {
    var comments = commentDrafts
    if let openPost, !openPost.field.isEmpty {
      comments[openPost.id, default: []].append(openPost.field.text)
    }
    return Unsent(posts: unsentDrafts, comments: comments)
  }

  /// Comments that were typed and not sent.
  package var unsentComments: [String] {
    let typed = openPost.map { $0.field.isEmpty ? [] : [$0.field.text] } ?? []
    return commentDrafts.values.flatMap(\.self) + typed
  }

  /// The seconds until another attempt to connect, by the present time.
  package var secondsUntilRetry: Int? {
    guard case .offline(let seconds?) = connection else { return nil }
    let passed = now.subtractingReportingOverflow(connectionChangedAt).partialValue / 1_000
    return max(0, max(0, seconds) - Int(clamping: max(0, passed)))
  }

  /// How long the screen stays right if nothing happens; nil if for ever.
  package var nextTick: Duration? {
    if let seconds = secondsUntilRetry, seconds > 0 { return .seconds(1) }
    if let time = nextChange { return .milliseconds(max(1, time - now)) }
    let showsAges = openPost != nil || !feed.posts.isEmpty
    return showsAges ? .seconds(30) : nil
  }

  /// When something on the screen is over: a deletion, a sign, somebody's typing.
  private var nextChange: Int64? {
    var times = reading.deletions.filter { !$0.isSent }.map(\.deadline)
    for delivery in reading.deliveries.values {
      if case .acknowledged(let at) = delivery { times.append(at + Delivery.showsFor) }
    }
    times += (openPost?.typists ?? []).map { $0.at + Typist.patience }
    return times.filter { $0 > now }.min()
  }

  /// The post of that key as any of the screens knows it.
  func knownPost(_ id: PostID) -> Post? {
    if let openPost, openPost.id == id, let post = openPost.post { return post }
    return self[tab].post(id) ?? allFeeds.lazy.compactMap { self[$0].post(id) }.first
  }

  /// Tells every part how much room it has.
  mutating func relayout() {
    let frame = Frame(size)
    for kind in allFeeds {
      self[kind].list.setRowHeight(Density(settings).rowHeight)
      self[kind].list.resize(to: listRect.size)
      self[kind].markSeen()
    }
    let postFrame = self.postFrame
    openPost?.resize(text: postFrame.text.size, field: postFrame.field.size)
    let composeFrame = self.composeFrame
    composer?.title.resize(to: composeFrame.title.size)
    composer?.body.resize(to: composeFrame.body.size)
    search?.field.resize(to: frame.searchField.size)
    help?.layout(keys: keys, size: frame.page.size)
    commandLine?.field.resize(to: frame.commandField.size)
    let chooserFrame = ChooserFrame(frame)
    chooser?.field.resize(to: chooserFrame.field.size)
    chooser?.list.resize(to: chooserFrame.list.size)
    inspector.resize(to: frame.page.size)
  }
}
