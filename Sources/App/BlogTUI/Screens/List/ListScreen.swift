import BlogModel

/// The list of posts, which is behind all other screens, and its search line.
///
/// The lists and the search that filters them belong to the ``Session``, since other screens show
/// and change them too.
struct ListScreen: AppScreen {
  static let layer = ScreenLayer.reading

  func context(in session: Session) -> Context {
    session.search?.isEditing == true ? .search : .list
  }

  mutating func type(_ key: KeyEvent, session: inout Session) -> TypingOutcome {
    guard session.search?.isEditing == true else { return .ignored }
    session.typeIntoSearch(key)
    return .taken([])
  }

  mutating func moveCursor(in field: Int, to offset: Position, session: inout Session) {
    session.search?.field.moveCursor(toColumn: offset.column)
  }

  mutating func scroll(by direction: Int, session: inout Session) -> [Effect] {
    session.feed.awaited = nil
    session.feed.isFollowing = false
    session.feed.list.move(by: direction)
    session.feed.markSeen()
    return session.tellPosition()
  }

  func draw(on painter: inout Painter) {
    painter.paintHeader()
    painter.paintList()
    guard painter.session.isSplit else { return }
    painter.paintSplitLine()
    painter.paintPreview()
  }

  func drawFooter(on painter: inout Painter) {
    if painter.session.search?.isEditing == true {
      painter.paintSearchLine()
    } else {
      painter.paintHints()
    }
  }
}

// MARK: Layout

extension Session {
  /// The minimum width at which list and post fit side by side.
  static let splitWidth = 140

  package var isSplit: Bool {
    size.width >= Self.splitWidth && size.height >= 10 && settings.word(.split) != "never"
  }

  var listRect: Rect {
    let content = Frame(size).content
    return isSplit ? content.with(width: content.width * 9 / 20) : content
  }

  mutating func resizeLists() {
    if Density(settings) == .full { refilter() }
    for kind in allFeeds {
      self[kind].list.setRowHeight(Density(settings).rowHeight)
      self[kind].list.resize(to: listRect.size)
      self[kind].markSeen()
    }
    let field = Frame(size).searchField
    search?.field.resize(to: field.size)
    inspector.resize(to: Frame(size).page.size)
  }
}

// MARK: Moving through lists

extension Session {
  /// The filter that decides which posts of a list are shown.
  func filter(of kind: FeedKind) -> PostFilter {
    PostFilter(
      pattern: search?.pattern,
      found: feeds.restSearches.foundByComments(in: kind),
      me: me.uid,
      readState: reading.marks.state,
      hidden: writing.hidden,
      muted: kind.leavesOutMuted ? reading.lists.muted : [],
      dividesDays: settings.isOn(.dayRules) && !kind.isByStars,
      textRoom: Density(settings) == .full ? PostRowColumns.textRoom(in: listRect.size) : nil
    )
  }

  mutating func refilter() {
    feed.filter(filter(of: tab))
    feed.markSeen()
  }

  mutating func moveInList(_ motion: Motion) -> [Effect] {
    feed.awaited = nil
    if motion == .top { return showFirst() }
    feed.list.move(motion)
    feed.isFollowing = false
    feed.markSeen()
    return tellPosition()
  }

  /// Moves to the first row, and loads the beginning of the list if it is not loaded.
  mutating func showFirst() -> [Effect] {
    feed.list.move(to: 0)
    feed.markSeen()
    guard feed.extent.hasNewer else { return [] }
    feed.awaitsFirst = true
    return [.request(.showFirst(tab))]
  }

  /// Reports the reader's position to the blog if it needs to load or drop posts.
  mutating func tellPosition() -> [Effect] {
    // A search of the whole list needs no more loaded posts.
    guard feeds.restSearches.shown == nil,
      let id = feed.positionToTell(isFiltered: search?.pattern != nil)
    else { return [] }
    return [.request(.read(tab, at: id))]
  }

  /// Toggles between following the newest posts and keeping the reader's position.
  mutating func toggleFollowing() -> [Effect] {
    feed.isFollowing.toggle()
    message =
      feed.isFollowing
      ? .note("Following the newest posts; F or any motion ends it")
      : .note("No longer following; what you read stays in view")
    return feed.isFollowing ? showFirst() : []
  }

  /// Shows a list; it stays subscribed from then on, so that returning to it is instant.
  mutating func select(tab kind: FeedKind) -> [Effect] {
    feeds.tab = kind
    refilter()
    guard feed.phase == .idle else { return [] }
    feed.phase = .loading
    return [.request(.follow(kind))]
  }

  mutating func selectNeighbour(by step: Int) -> [Effect] {
    let all = allFeeds
    let index = (all.firstIndex(of: tab) ?? 0) + step
    return select(tab: all[(index + all.count) % all.count])
  }

  /// What reads a list again that could not be read.
  var retryAdvice: String { key("reload") + " tries again." }

  mutating func reload() -> [Effect] {
    if case .failed = feed.phase { feed.phase = .loading }
    message = .note("Reading the list again")
    return [.request(.stopFollowing(tab)), .request(.follow(tab))]
  }

  /// Shows the user's new post at the top of the newest posts, or of the user's posts.
  mutating func showPosted(_ id: PostID) -> [Effect] {
    search = nil
    let kind: FeedKind
    switch tab {
    case .recent, .top: kind = .recent
    case .mine, .myTop: kind = .mine
    case .author, .tag, .following, .bookmarks: kind = .recent
    }
    var effects = feeds.closeAdditional() + select(tab: kind)
    writing.begin(id, isOnline: connection.state == .online)
    feed.awaited = feed.list.select(id) ? nil : id
    if feed.extent.hasNewer { effects.append(.request(.showFirst(kind))) }
    feed.markSeen()
    return effects
  }

  // MARK: The posts of an author

  /// Opens the list of an author's posts, or of posts with a tag.
  mutating func showAdditional(_ kind: FeedKind, author: Author? = nil) -> [Effect] {
    feeds.open(kind, by: author) + select(tab: kind)
  }

  /// Returns from the list of an author or a tag, if one is shown.
  mutating func backFromAuthor() -> [Effect]? {
    guard let before = feeds.listBefore else { return nil }
    return feeds.closeAdditional() + select(tab: before)
  }

  // MARK: Searching

  /// Opens the search line, with the active search if there is one.
  mutating func beginSearch() {
    if search == nil { search = Search(origin: feed.list.selection) }
    search?.isEditing = true
    resizeLists()
  }

  mutating func typeIntoSearch(_ key: KeyEvent) {
    guard var field = search?.field else { return }
    let outcome = type(key, into: &field)
    search?.field = field
    if outcome == .changed { refilter() }
  }

  /// Keeps the search and returns to the list; an empty search ends.
  mutating func keepSearch() {
    if let problem = SearchPattern.problem(in: search?.field.text ?? "") {
      message = .failure(problem)
      return
    }
    search?.isEditing = false
    if search?.pattern == nil { endSearch() }
    feed.markSeen()
  }

  /// Shows all posts again and keeps the selection.
  mutating func endSearch() {
    guard let ended = search else {
      message = .notDone("\(key(.quit)) quits, \(key(.help)) shows the keys")
      return
    }
    let selection = feed.list.selection ?? ended.origin
    search = nil
    refilter()
    if let selection { feed.list.select(selection) }
    feed.markSeen()
  }

  /// Moves by the given number of matches, wrapping around at the ends.
  mutating func moveToMatch(by step: Int) -> [Effect] {
    guard let index = feed.list.selectedIndex else { return [] }
    let count = feed.list.ids.count
    feed.list.move(to: (index + step + count) % count)
    feed.markSeen()
    return tellPosition()
  }
}

// MARK: Opening

extension Model {
  mutating func showAuthor() -> [Effect] {
    guard let post = currentPost, !post.uid.isEmpty else { return [] }
    let kind = FeedKind.author(uid: post.uid)
    if session.tab == kind { return closePost() }
    let author = post.writer
    let effects = closePost() + session.showAdditional(kind, author: author)
    relayout()
    return effects
  }

  mutating func showTag(_ text: String) -> [Effect] {
    guard let tag = TextMarks.key(ofTag: text.trimmingBlanks) else {
      return session.answer(.failure("A tag is one word of letters and digits, such as #tea."))
    }
    if session.tab == .tag(tag) { return closePost() }
    let effects = closePost() + session.showAdditional(.tag(tag))
    relayout()
    return effects
  }

  var tagsInView: [String] {
    if let comment = openPost?.selectedComment { return TextMarks(of: comment.text).tags }
    return postInView.map { TextMarks(of: $0.title, $0.body).tags } ?? []
  }

  mutating func toggleFollow() -> [Effect] {
    guard let post = currentPost else { return [] }
    let isFollowed = !session.reading.lists.following.contains(post.uid)
    let name = session.name(of: post.writer)
    return change(
      .follow(uid: post.uid, isFollowed),
      isFollowed
        ? "You follow \(name); 5 shows all whom you follow" : "You no longer follow \(name)",
      undo: .follow(uid: post.uid, !isFollowed),
      isFollowed ? "You no longer follow \(name)" : "You follow \(name) again"
    )
  }

  /// A click on a post selects it, and a click on the selected one opens it.
  mutating func clickPost(_ id: PostID) -> [Effect] {
    session.search?.isEditing = false
    if openPost != nil {
      session.feed.list.select(id)
      return openPostID == id ? [] : closePost() + open(id)
    }
    if session.feed.list.selection == id { return open(id) }
    session.feed.awaited = nil
    session.feed.isFollowing = false
    session.feed.list.select(id)
    return session.tellPosition()
  }

  mutating func searchPosts(for text: String) -> [Effect] {
    let effects = closeInspector()
    help = nil
    guard context == .list else {
      session.message = .failure("Posts are searched in a list: go back to it first.")
      return effects
    }
    session.beginSearch()
    guard !text.isEmpty else { return effects }
    session.search?.field.setText("")
    session.typeIntoSearch(.paste(text))
    session.keepSearch()
    return effects
  }
}
