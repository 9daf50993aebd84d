import BlogModel

extension Painter {
  mutating func paintList() {
    let feed = session.feed
    guard !feed.list.ids.isEmpty else { return paintEmptyList() }
    paintPosition()
    hits.add(.list, at: session.listRect)
    let (places, rows, look) = rowsInView
    for (place, drawn) in zip(places, drawnRows.screens(of: rows, look)) {
      if let line = place.section { paintDayRule(above: feed.post(place.id), in: line) }
      screen.put(drawn, in: place.rect)
      hits.add(.post(place.id), at: place.rect)
      if place.isSelected { screen.cursor = place.rect.origin }
    }
  }

  /// The rows of the list that are in view: where they are, what they show, what they have in common.
  private var rowsInView: ([ListView<PostID>.Row], [PostRow], PostRowLook) {
    let room = session.listRect
    let feed = session.feed
    let isShort = room.width < 60
    var places: [ListView<PostID>.Row] = []
    var rows: [PostRow] = []
    // The last post is the oldest of most lists, so that the columns stay while the list is scrolled.
    let oldest = time(feed.posts.last?.createdAt, isShort: isShort)
    var ageWidth = max(oldest.width, isShort ? 3 : 4)
    var guess = feed.list.top
    for place in feed.list.rows(in: room) {
      guard let number = feed.posts.place(of: place.id, near: guess) else { continue }
      guess = number + 1
      let post = feed.posts[number]
      let row = row(of: post, isSelected: place.isSelected, isShort: isShort)
      ageWidth = max(ageWidth, row.age.width)
      places.append(place)
      rows.append(row)
    }
    let look = PostRowLook(
      theme: theme,
      repertoire: glyphs.repertoire,
      width: room.width,
      ageWidth: ageWidth,
      density: Density(session.settings)
    )
    return (places, rows, look)
  }

  private func row(of post: Post, isSelected: Bool, isShort: Bool) -> PostRow {
    let newComments = model.newComments(on: post)
    return PostRow(
      id: post.id,
      title: post.title,
      body: post.body,
      author: session.names.shown(Author(uid: post.uid, name: post.author)),
      starCount: post.starCount,
      isStarred: post.stars.contains(session.me.uid),
      isSelected: isSelected,
      age: time(post.createdAt, isShort: isShort),
      delivery: session.delivery(of: post.id),
      newComments: newComments,
      hasNews: newComments.count > 0 || session.isUnread(post)
    )
  }

  /// The line above the first post of another day.
  private mutating func paintDayRule(above post: Post?, in rect: Rect) {
    screen.horizontalLine(in: rect, glyphs: glyphs, style: theme.rule)
    guard let created = post?.createdAt else { return }
    let day = CalendarDay(created).text(besides: CalendarDay(session.now))
    let room = rect.inset(rows: 0, columns: 2)
    let text = " " + SafeText(untrusted: day) + " "
    screen.put(text, in: room, style: theme.dim, ellipsis: glyphs.ellipsis)
  }

  /// A time as the user wants to see it.
  func time(_ created: Int64?, isShort: Bool = false) -> SafeText {
    session.settings.word(.times) == "date"
      ? Age.exactText(created, isShort: isShort)
      : Age.text(created, now: session.now, isShort: isShort)
  }

  /// Which row of how many is selected, where there are more than fit.
  private mutating func paintPosition() {
    let list = session.feed.list
    guard let index = list.selectedIndex, list.ids.count > list.capacity else { return }
    let extent = session.feed.extent
    let more: SafeText = extent.hasOlder || extent.hasNewer ? "+ " : " "
    let text = " " + SafeText(index + 1) + " of " + SafeText(list.ids.count) + more
    let column = max(0, session.listRect.endColumn - 2 - text.width)
    let place = Position(row: frame.lowerRule.row, column: column)
    screen.put(text, at: place, style: theme.dim, clip: frame.lowerRule)
  }

  /// Says why a list is empty, and what to do about it.
  private mutating func paintEmptyList() {
    let place = session.listRect
    let lines = emptyListText.flatMap { $0.wrapped(width: max(1, place.width - 4)) }
    let height = min(lines.count, place.height)
    let room = place.centered(Size(width: place.width - 4, height: height))
    for (index, line) in lines.enumerated() where index < height {
      let style = index == 0 ? theme.text : theme.dim
      screen.put(line, in: room.line(index), style: style, aligned: .center)
    }
  }

  private var emptyListText: [SafeText] {
    if let search = session.search, search.pattern != nil, !session.feed.posts.isEmpty {
      let query = SafeText(untrusted: search.field.text, limit: 40)
      return ["No post contains \"" + query + "\".", "Esc shows all posts."]
    }
    switch session.feed.phase {
    case .idle, .loading:
      if case .offline = session.connection {
        return ["Not loaded yet: the database cannot be reached.", "It is tried again and again."]
      }
      return ["Loading" + glyphs.ellipsis]
    case .failed(let reason):
      let text = SafeText(untrusted: "This list cannot be read: \(Model.clause(reason)).")
      return [text, "r tries again."]
    case .loaded:
      return ["No posts yet - why not add one?", "c writes a post."]
    }
  }

  /// The line in which a search is typed.
  mutating func paintSearchLine() {
    guard let search = session.search else { return }
    screen.put("/", at: frame.footer.origin, style: theme.key, clip: frame.footer)
    hits.add(.field(of: ListScreen.self), at: frame.searchField)
    search.field.draw(
      on: &screen,
      in: frame.searchField,
      placeholder: "title, author or text",
      isFocused: true
    )
    guard search.pattern != nil else { return }
    let count: SafeText = session.feed.list.ids.isEmpty ? "no match" : matchCount
    screen.put(count + " ", in: frame.searchCount, style: theme.dim, aligned: .trailing)
  }
}
