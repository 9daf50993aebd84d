import BlogModel
import TerminalUI

extension Painter {
  /// The columns of a row, depending on its width.
  struct Columns {
    let border: Rect
    let sign: Rect
    let title: Rect
    let author: Rect
    let age: Rect
    let star: Rect
    let count: Rect
    let showsExcerpt: Bool
    /// The line of the title.
    let line: Rect

    init(_ row: Rect, ageWidth: Int, showsExcerpt: Bool = true) {
      let row = Rect(row: row.row, column: row.column, width: row.width, height: 1)
      let isWide = row.width >= 60
      let author = row.width >= 100 ? 20 : isWide ? 16 : row.width >= 36 ? 8 : 0
      let gap = isWide ? 2 : 1
      let parts = Layout.columns(
        [
          .fixed(1), .fixed(isWide ? 1 : 0), .flexible(1), .fixed(author > 0 ? gap : 0),
          .fixed(author), .fixed(gap), .fixed(ageWidth), .fixed(gap), .fixed(1),
          .fixed(isWide ? 5 : 3), .fixed(isWide ? 1 : 0),
        ],
        in: row
      )
      border = parts[0]
      line = row
      // Where there is no room for a column of its own, a sign has the place of the mark.
      sign = isWide ? parts[1] : parts[0]
      title = parts[2]
      self.author = parts[4]
      age = parts[6]
      star = parts[8]
      count = parts[9]
      self.showsExcerpt = isWide && showsExcerpt
    }
  }

  mutating func paintList() {
    let feed = model.feed
    guard !feed.list.ids.isEmpty else { return paintEmptyList() }
    let place = model.listRect
    let isShort = place.width < 60
    var ageWidth = isShort ? 3 : 4
    // The last post is the oldest of most lists, so that the columns stay while the list is scrolled.
    for post in feed.list.visibleIDs.compactMap(feed.post) + feed.posts.suffix(1) {
      ageWidth = max(ageWidth, time(post.createdAt, isShort: isShort).width)
    }
    paintPosition()
    let density = Density(model.settings)
    // The closure draws on the screen it is given, not on the one of the painter it reads.
    let painter = self
    var rows: [(PostID, Rect)] = []
    feed.list.draw(on: &screen, in: place) { screen, id, rect in
      painter.paintDayRule(above: feed.post(id), in: rect, on: &screen)
    } row: { screen, id, isSelected, rect in
      guard let post = feed.post(id) else { return }
      rows.append((id, rect))
      let row = Row(post: post, isSelected: isSelected, rect: rect)
      let columns = Columns(rect, ageWidth: ageWidth, showsExcerpt: density == .compact)
      painter.paint(row, isShort: isShort, in: columns, on: &screen)
      painter.paintText(row, density, in: columns, on: &screen)
    }
    hits.add(.list, at: place)
    for (id, rect) in rows { hits.add(.post(id), at: rect) }
  }

  /// The line above the first post of another day.
  private func paintDayRule(above post: Post?, in rect: Rect, on screen: inout Screen) {
    screen.horizontalLine(in: rect, glyphs: glyphs, style: theme.rule)
    guard let created = post?.createdAt else { return }
    let day = CalendarDay(created).text(besides: CalendarDay(model.now))
    let room = rect.inset(rows: 0, columns: 2)
    let text = " " + SafeText(untrusted: day) + " "
    screen.put(text, in: room, style: theme.dim, ellipsis: glyphs.ellipsis)
  }

  /// A time as the user wants to see it.
  func time(_ created: Int64?, isShort: Bool = false) -> SafeText {
    model.settings.word(.times) == "date"
      ? Age.exactText(created, isShort: isShort)
      : Age.text(created, now: model.now, isShort: isShort)
  }

  /// Which row of how many is selected, where there are more than fit.
  private mutating func paintPosition() {
    let list = model.feed.list
    guard let index = list.selectedIndex, list.ids.count > list.capacity else { return }
    let extent = model.feed.extent
    let more: SafeText = extent.hasOlder || extent.hasNewer ? "+ " : " "
    let text = " " + SafeText(index + 1) + " of " + SafeText(list.ids.count) + more
    let column = max(0, model.listRect.endColumn - 2 - text.width)
    let place = Position(row: frame.lowerRule.row, column: column)
    screen.put(text, at: place, style: theme.dim, clip: frame.lowerRule)
  }

  /// One row of the list.
  private struct Row {
    let post: Post
    let isSelected: Bool
    let rect: Rect

    /// The style of a part: what is selected is exchanged as a whole.
    func style(_ style: Style, _ theme: Theme) -> Style { isSelected ? theme.selected : style }
  }

  private func paint(_ row: Row, isShort: Bool, in columns: Columns, on screen: inout Screen) {
    let post = row.post
    if row.isSelected { screen.fill(columns.line, style: theme.selected) }
    let mark = row.isSelected ? glyphs.selection : " "
    for line in 0..<row.rect.height {
      let place = Position(row: row.rect.row + line, column: columns.border.column)
      screen.put(mark, at: place, style: theme.selectedBorder, clip: row.rect)
    }
    paintSign(row, in: columns, on: &screen)
    paintTitle(row, in: columns, on: &screen)
    let author = SafeText(untrusted: post.author, limit: SafeText.nameLimit)
    let authorStyle = row.style(theme.author, theme)
    screen.put(author, in: columns.author, style: authorStyle, ellipsis: glyphs.ellipsis)
    let age = time(post.createdAt, isShort: isShort)
    screen.put(age, in: columns.age, style: row.style(theme.dim, theme), aligned: .trailing)
    let isStarred = post.stars.contains(model.me.uid)
    let star = isStarred ? glyphs.star : glyphs.emptyStar
    let starStyle = row.style(isStarred ? theme.star : theme.text, theme)
    screen.put(star, at: columns.star.origin, style: starStyle, clip: columns.star)
    let count = Self.short(post.starCount)
    screen.put(count, in: columns.count, style: starStyle, aligned: .trailing)
  }

  /// How far my last change of the post has got, or that it was not read.
  private func paintSign(_ row: Row, in columns: Columns, on screen: inout Screen) {
    guard columns.sign != columns.border || !row.isSelected else { return }
    if let delivery = model.delivery(of: row.post.id) {
      let style = row.style(style(of: delivery), theme)
      screen.put(sign(of: delivery), at: columns.sign.origin, style: style, clip: columns.sign)
    } else if model.hasNews(row.post) {
      let style = row.style(theme.notice, theme)
      screen.put(glyphs.bullet, at: columns.sign.origin, style: style, clip: columns.sign)
    }
  }

  /// The sign of something I did: noted here, on its way, stored, refused.
  func sign(of delivery: Delivery) -> SafeText {
    switch delivery {
    case .local: isASCII ? "~" : "·"
    case .sent: glyphs.pending
    case .acknowledged: glyphs.check
    case .refused: glyphs.cross
    }
  }

  /// The style of that sign; it says the same again.
  func style(of delivery: Delivery) -> Style {
    switch delivery {
    case .local, .sent: theme.waiting
    case .acknowledged: theme.good
    case .refused: theme.bad
    }
  }

  /// The beginning of the text on lines of its own, as many as the user wants.
  private func paintText(
    _ row: Row,
    _ density: Density,
    in columns: Columns,
    on screen: inout Screen
  ) {
    let count: Int
    switch density {
    case .compact: return
    case .normal: count = 1
    case .full: count = 3
    }
    let indent = columns.title.column - row.rect.column
    let room = Rect(
      row: row.rect.row + 1,
      column: columns.title.column,
      width: row.rect.width - indent - 1,
      height: min(count, row.rect.height - 1)
    )
    guard !room.isEmpty else { return }
    let lines = Self.excerpt(row.post.body, limit: room.width * count).wrapped(width: room.width)
    for (index, line) in lines.prefix(count).enumerated() {
      let isCut = index == count - 1 && lines.count > count
      let text =
        isCut ? line.truncated(to: room.width - 1, ellipsis: .empty) + glyphs.ellipsis : line
      let place = room.line(index)
      guard !place.isEmpty else { return }
      screen.put(text, in: place, style: theme.dim, ellipsis: glyphs.ellipsis)
    }
  }

  /// The title, and behind it the beginning of the text if there is room.
  private func paintTitle(_ row: Row, in columns: Columns, on screen: inout Screen) {
    let title = SafeText(untrusted: row.post.title, mode: .singleLine, limit: 300)
    let style = row.style(theme.title, theme).with(.bold)
    var used = screen.put(title, in: columns.title, style: style, ellipsis: glyphs.ellipsis)
    used += paintNewComments(row, after: used, in: columns, on: &screen)
    let dim = row.style(theme.dim, theme)
    let left = columns.title.width - used - separator.width
    guard columns.showsExcerpt, left >= 8, !row.post.body.isEmpty else { return }
    let middle = Position(row: row.rect.row, column: columns.title.column + used)
    screen.put(separator, at: middle, style: dim, clip: columns.title)
    let room = Rect(
      row: row.rect.row,
      column: columns.title.endColumn - left,
      width: left,
      height: 1
    )
    // Twice as much as there is room for, since some characters take no cell.
    let excerpt = Self.excerpt(row.post.body, limit: 2 * left)
    screen.put(excerpt, in: room, style: dim, ellipsis: glyphs.ellipsis)
  }

  /// How many comments are to be read, at the end of the title; returns the columns it takes.
  private func paintNewComments(
    _ row: Row,
    after used: Int,
    in columns: Columns,
    on screen: inout Screen
  ) -> Int {
    let new = model.newComments(on: row.post)
    guard new.count > 0 else { return 0 }
    let number = SafeText(new.count) + (new.isAtLeast ? "+" : "")
    let words: SafeText = new.count == 1 ? " new comment" : " new comments"
    let long = columns.showsExcerpt && columns.title.width >= 30
    let text = long ? separator + number + words : " +" + SafeText(new.count)
    // A long title gives way, since it can be guessed and this cannot.
    let start = min(used, max(0, columns.title.width - text.width))
    let place = Position(row: row.rect.row, column: columns.title.column + start)
    let style = row.style(theme.notice, theme)
    screen.put(text, at: place, style: style, clip: columns.title)
    return start + text.width - used
  }

  /// The beginning of a text on one line.
  static func excerpt(_ body: String, limit: Int) -> SafeText {
    var line: [Unicode.Scalar] = []
    line.reserveCapacity(limit)
    var followsBlank = false
    for scalar in body.unicodeScalars.prefix(limit) {
      // Asking for the properties of ASCII would take longer than all the rest.
      let isBlank =
        scalar.isASCII
        ? scalar == " " || (0x09...0x0D).contains(scalar.value) : scalar.properties.isWhitespace
      if !isBlank {
        if followsBlank, !line.isEmpty { line.append(" ") }
        line.append(scalar)
      }
      followsBlank = isBlank
    }
    return SafeText(untrusted: line, limit: limit)
  }

  /// A number in at most four cells.
  static func short(_ number: Int) -> SafeText {
    let number = max(0, number)
    let units: [(Int, String)] = [(1_000_000_000, "G"), (1_000_000, "M"), (10_000, "k")]
    guard let unit = units.first(where: { number >= $0.0 }) else { return SafeText(number) }
    let divisor = unit.1 == "k" ? 1_000 : unit.0
    return SafeText(untrusted: "\(min(999, number / divisor))\(unit.1)")
  }

  /// Says why a list is empty, and what to do about it.
  private mutating func paintEmptyList() {
    let place = model.listRect
    let lines = emptyListText.flatMap { $0.wrapped(width: max(1, place.width - 4)) }
    let height = min(lines.count, place.height)
    let room = place.centered(Size(width: place.width - 4, height: height))
    for (index, line) in lines.enumerated() where index < height {
      let style = index == 0 ? theme.text : theme.dim
      screen.put(line, in: room.line(index), style: style, aligned: .center)
    }
  }

  private var emptyListText: [SafeText] {
    if let search = model.search, search.pattern != nil, !model.feed.posts.isEmpty {
      let query = SafeText(untrusted: search.field.text, limit: 40)
      return ["No post contains \"" + query + "\".", "Esc shows all posts."]
    }
    switch model.feed.phase {
    case .idle, .loading:
      if case .offline = model.connection {
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
}
