import BlogModel

extension Painter {
  mutating func paintList() {
    let feed = session.feed
    guard !feed.list.ids.isEmpty else { return paintEmptyList() }
    paintPosition()
    hits.add(.list, at: session.listRect)
    let (visible, rows, look) = rowsInView
    for (item, drawn) in zip(visible, drawnRows.screens(of: rows, look)) {
      if let line = item.section { paintDayRule(above: feed.post(item.id), in: line) }
      screen.put(drawn, in: item.rect)
      hits.add(.post(item.id), at: item.rect)
      if item.isSelected { screen.cursor = item.rect.origin }
    }
  }

  /// The rows of the list that are in view: their positions, their contents, and what they have in
  /// common.
  private var rowsInView: ([ListView<PostID>.Row], [PostRow], PostRowLook) {
    let room = session.listRect
    let feed = session.feed
    let isShort = room.width < 60
    var visible: [ListView<PostID>.Row] = []
    var rows: [PostRow] = []
    // The last post is the oldest in most lists; measuring it keeps the columns stable while the
    // list scrolls.
    let oldest = time(feed.listed.last?.createdAt, isShort: isShort)
    var ageWidth = max(oldest.width, isShort ? 3 : 4)
    var guess = feed.list.top
    for item in feed.list.rows(in: room) {
      guard let number = feed.listed.index(of: item.id, near: guess) else { continue }
      guess = number + 1
      let post = feed.listed[number]
      let row = row(
        of: post,
        isSelected: item.isSelected,
        height: item.height,
        isShort: isShort
      )
      ageWidth = max(ageWidth, row.age.width)
      visible.append(item)
      rows.append(row)
    }
    let look = PostRowLook(
      theme: theme,
      repertoire: glyphs.repertoire,
      width: room.width,
      ageWidth: ageWidth,
      density: Density(session.settings)
    )
    return (visible, rows, look)
  }

  private func row(of post: Post, isSelected: Bool, height: Int, isShort: Bool) -> PostRow {
    let newComments = model.newComments(on: post)
    var glow: PostRow.Glow = []
    if session.reading.arrivals.contains(.post(post.id)) { glow.insert(.row) }
    if session.reading.arrivals.contains(.stars(post.id)) { glow.insert(.stars) }
    if session.reading.arrivals.contains(.newComments(post.id)) { glow.insert(.newComments) }
    return PostRow(
      id: post.id,
      title: post.title,
      body: post.body,
      author: session.reading.names.shown(post.writer),
      starCount: post.starCount,
      isStarred: post.stars.contains(session.me.uid),
      isSelected: isSelected,
      age: time(post.createdAt, isShort: isShort),
      delivery: session.delivery(of: post.id),
      newComments: newComments,
      commentCount: session.commentCount(on: post.id),
      hasNews: newComments.count > 0 || session.isUnread(post),
      height: height,
      glow: glow
    )
  }

  /// Paints the line above the first post of another day.
  private mutating func paintDayRule(above post: Post?, in rect: Rect) {
    screen.horizontalLine(in: rect, glyphs: glyphs, style: theme.rule)
    guard let created = post?.createdAt else { return }
    let day = CalendarDay(created).text(besides: CalendarDay(session.now))
    let room = rect.inset(rows: 0, columns: 2)
    let text = " " + SafeText(untrusted: day) + " "
    put(text, in: room, style: theme.dim)
  }

  /// A time in the format that the user has chosen.
  func time(_ created: Int64?, isShort: Bool = false) -> SafeText {
    session.settings.word(.times) == "date"
      ? Age.exactText(created, isShort: isShort)
      : Age.text(created, now: session.now, isShort: isShort)
  }

  /// Paints the number of the selected row and of all rows, if not all rows fit.
  private mutating func paintPosition() {
    let list = session.feed.list
    guard let index = list.selectedIndex, list.ids.count > list.capacity else { return }
    let extent = session.feed.extent
    let isSearched = session.feeds.restSearches.shown?.phase == .ended(.complete)
    let more: SafeText = !isSearched && (extent.hasOlder || extent.hasNewer) ? "+ " : " "
    let text = " " + SafeText(index + 1) + " of " + SafeText(list.ids.count) + more
    let column = max(0, session.listRect.endColumn - 2 - text.width)
    let position = Position(row: frame.lowerRule.row, column: column)
    screen.put(text, at: position, style: theme.dim, clip: frame.lowerRule)
  }

  mutating func paintSearchLine() {
    guard let search = session.search else { return }
    paintLine(
      search.field,
      of: ListScreen.self,
      after: "/",
      leaving: frame.searchCount.width,
      placeholder: "title, author or text"
    )
    guard search.pattern != nil else { return }
    let count: SafeText = session.feed.list.ids.isEmpty ? "no match" : matchCount
    screen.put(count + " ", in: frame.searchCount, style: theme.dim, aligned: .trailing)
  }
}

/// The tabs of the header, as detailed as the width allows.
struct TabBar {
  /// The name of the program, if there is room for it.
  let brand: SafeText
  let tabs: [(kind: FeedKind, rect: Rect, text: SafeText)]

  init(_ session: Session) {
    let header = Frame(session.size).header
    let kinds = session.allFeeds
    var brand = SafeText.empty
    var texts: [SafeText] = []
    for detail in Self.details {
      brand = detail.brand
      // A loop, because a closure would copy the whole session.
      texts = []
      for kind in kinds {
        let form = kind == session.tab ? detail.active : detail.others
        texts.append(Self.text(of: kind, as: form, in: session))
      }
      if texts.reduce(brand.width, { $0 + $1.width }) <= header.width { break }
    }
    self.brand = brand
    var column = header.column + brand.width
    tabs = zip(kinds, texts).map { kind, text in
      defer { column += text.width }
      let rect = Rect(row: header.row, column: column, width: text.width, height: header.height)
      return (kind, rect.intersection(header), text)
    }
  }

  /// How much of a tab is shown: its name, with or without the number of posts, or only its key.
  private enum Form {
    case counted
    case named
    case spacedKey
    case closeKey
    case key
  }

  /// The levels of detail, from the most to the least.
  private static let details: [(brand: SafeText, active: Form, others: Form)] = [
    (" hearth   ", .counted, .counted), (" hearth ", .named, .named),
    (.empty, .counted, .spacedKey), (.empty, .named, .closeKey), (.empty, .named, .key),
  ]

  private static func text(of kind: FeedKind, as form: Form, in session: Session) -> SafeText {
    switch form {
    case .counted, .named: long(kind, in: session, counts: form == .counted)
    case .spacedKey: " " + number(kind) + " "
    case .closeKey: number(kind) + " "
    case .key: number(kind)
    }
  }

  private static func name(_ kind: FeedKind, in session: Session) -> SafeText {
    switch kind {
    case .recent: "Recent"
    case .top: "Top"
    case .mine: "My posts"
    case .myTop: "My top posts"
    case .following: "Following"
    case .bookmarks: "Bookmarks"
    case .tag(let tag): SafeText(untrusted: tag, limit: 20)
    case .author:
      SafeText(untrusted: session.feeds.author.map(session.reading.names.shown) ?? "", limit: 20)
    }
  }

  /// The key that shows the list; an author's or a tag's list has none, since it is reached from a
  /// post.
  private static func number(_ kind: FeedKind) -> SafeText {
    switch kind {
    case .following: "5"
    case .bookmarks: "6"
    case .author: "@"
    case .tag: "#"
    case .recent, .top, .mine, .myTop: SafeText((FeedKind.tabs.firstIndex(of: kind) ?? 0) + 1)
    }
  }

  private static func long(_ kind: FeedKind, in session: Session, counts: Bool) -> SafeText {
    var text = " " + number(kind) + " " + name(kind, in: session) + " "
    let isKnown = counts && session[kind].phase == .loaded
    if isKnown {
      let extent = session[kind].extent
      let more: SafeText = extent.hasOlder || extent.hasNewer ? "+ " : " "
      text.append(SafeText(session[kind].posts.count) + more)
    }
    return text
  }
}
