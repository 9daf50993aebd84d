package import BlogModel
package import TerminalUI

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
  package let glyphs: GlyphSet

  /// The number of columns and rows.
  package internal(set) var size: Size
  /// The time by the server's clock, in milliseconds since 1970.
  package internal(set) var now: Int64
  /// How the database can be reached.
  package internal(set) var connection = ConnectionState.connecting
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
  package internal(set) var help: HelpPage?
  /// The question that the next key answers.
  package internal(set) var question: Question?
  /// What the user is told until the next key.
  package internal(set) var message: Message?
  /// Posts that were begun and not sent, or that came back; the last one is offered first.
  package internal(set) var drafts: [Draft]
  /// Comments that were begun and not sent, or that came back.
  package internal(set) var commentDrafts: [PostID: [String]] = [:]
  /// The key table and the first key of a sequence.
  package internal(set) var keys = KeyTable.standard
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
  ///   - drafts: Posts that were begun earlier; the last one is offered first.
  package init(
    me: Author,
    databaseName: String,
    size: Size,
    glyphs: GlyphSet = .unicode,
    now: Int64,
    drafts: [Draft] = []
  ) {
    self.me = me
    self.databaseName = databaseName
    self.size = size
    self.glyphs = glyphs
    self.now = now
    self.drafts = drafts
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

  /// Where keys are typed now.
  package var context: Context {
    if question != nil { return .confirm }
    if help != nil { return .help }
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
  package var followedFeeds: [FeedKind] { FeedKind.allCases.filter { self[$0].phase != .idle } }

  /// Posts that were typed and not sent, the one in the form last.
  package var unsentDrafts: [Draft] {
    drafts + (composer.map { $0.draft.isEmpty ? [] : [$0.draft] } ?? [])
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
    let showsAges = openPost != nil || !feed.posts.isEmpty
    return showsAges ? .seconds(30) : nil
  }

  /// The post of that key as any of the screens knows it.
  func knownPost(_ id: PostID) -> Post? {
    if let openPost, openPost.id == id, let post = openPost.post { return post }
    return self[tab].post(id) ?? FeedKind.allCases.lazy.compactMap { self[$0].post(id) }.first
  }

  /// Tells every part how much room it has.
  mutating func relayout() {
    let frame = Frame(size)
    for kind in FeedKind.allCases {
      self[kind].list.resize(to: frame.content.size)
      self[kind].markSeen()
    }
    let postFrame = PostFrame(frame)
    openPost?.resize(text: postFrame.text.size, field: postFrame.field.size)
    let composeFrame = ComposeFrame(frame)
    composer?.title.resize(to: composeFrame.title.size)
    composer?.body.resize(to: composeFrame.body.size)
    search?.field.resize(to: frame.searchField.size)
    if let page = help {
      help = HelpPage(
        keys: keys,
        context: contextBelowHelp,
        size: frame.content.inset(rows: 0, columns: 1).size
      )
      help?.scroll.scroll(to: page.scroll.top)
    }
  }
}
