import BlogModel

/// Draws the rows of a list of posts, each on a screen of its own.
struct PostRowPainter {
  private let look: PostRowLook
  private let theme: Theme
  private let glyphs: GlyphSet
  private let separator: SafeText
  private let columns: PostRowColumns

  init(_ look: PostRowLook) {
    self.look = look
    theme = look.theme
    glyphs = .of(look.repertoire)
    separator = glyphs.factSeparator
    columns = PostRowColumns(look)
  }

  /// Draws a row.
  func screen(of row: PostRow) -> Screen {
    var screen = Screen(size: Size(width: look.width, height: look.density.rowHeight))
    if row.isSelected { screen.fill(columns.line, style: theme.selected) }
    let mark = row.isSelected ? glyphs.selection : " "
    for line in 0..<look.density.rowHeight {
      let place = Position(row: line, column: columns.border.column)
      screen.put(mark, at: place, style: theme.selectedBorder)
    }
    paintSign(row, on: &screen)
    paintTitle(row, on: &screen)
    let author = SafeText(untrusted: row.author, limit: SafeText.nameLimit)
    let authorStyle = style(theme.author, of: row)
    screen.put(author, in: columns.author, style: authorStyle, ellipsis: glyphs.ellipsis)
    screen.put(row.age, in: columns.age, style: style(theme.dim, of: row), aligned: .trailing)
    let star = row.isStarred ? glyphs.star : glyphs.emptyStar
    let starStyle = style(row.isStarred ? theme.star : theme.text, of: row)
    screen.put(star, at: columns.star.origin, style: starStyle, clip: columns.star)
    let count = ShortNumber.text(row.starCount)
    screen.put(count, in: columns.count, style: starStyle, aligned: .trailing)
    paintText(row, on: &screen)
    return screen
  }

  /// The style of a part: what is selected is exchanged as a whole.
  private func style(_ style: Style, of row: PostRow) -> Style {
    row.isSelected ? theme.selected : style
  }

  /// How far my last change of the post has got, or that it was not read.
  private func paintSign(_ row: PostRow, on screen: inout Screen) {
    guard columns.sign != columns.border || !row.isSelected else { return }
    if let delivery = row.delivery {
      let style = style(delivery.style(theme), of: row)
      screen.put(delivery.sign(glyphs), at: columns.sign.origin, style: style, clip: columns.sign)
    } else if row.hasNews {
      let style = style(theme.notice, of: row)
      screen.put(glyphs.bullet, at: columns.sign.origin, style: style, clip: columns.sign)
    }
  }

  /// The title, and behind it the beginning of the text if there is room.
  private func paintTitle(_ row: PostRow, on screen: inout Screen) {
    let title = SafeText(untrusted: row.title, mode: .singleLine, limit: 300)
    let titleStyle = style(theme.title, of: row).with(.bold)
    var used = screen.put(title, in: columns.title, style: titleStyle, ellipsis: glyphs.ellipsis)
    used += paintNewComments(row, after: used, on: &screen)
    let dim = style(theme.dim, of: row)
    let left = columns.title.width - used - separator.width
    guard columns.showsExcerpt, left >= 8, !row.body.isEmpty else { return }
    let middle = Position(row: 0, column: columns.title.column + used)
    screen.put(separator, at: middle, style: dim, clip: columns.title)
    let room = Rect(row: 0, column: columns.title.endColumn - left, width: left, height: 1)
    // Twice as much as there is room for, since some characters take no cell.
    let excerpt = Self.excerpt(row.body, limit: 2 * left)
    screen.put(excerpt, in: room, style: dim, ellipsis: glyphs.ellipsis)
  }

  /// How many comments are to be read, at the end of the title; returns the columns it takes.
  private func paintNewComments(
    _ row: PostRow,
    after used: Int,
    on screen: inout Screen
  ) -> Int {
    let new = row.newComments
    guard new.count > 0 else { return 0 }
    let number = SafeText(new.count) + (new.isAtLeast ? "+" : "")
    let words: SafeText = new.count == 1 ? " new comment" : " new comments"
    let long = columns.showsExcerpt && columns.title.width >= 30
    let text = long ? separator + number + words : " +" + SafeText(new.count)
    // A long title gives way, since it can be guessed and this cannot.
    let start = min(used, max(0, columns.title.width - text.width))
    let place = Position(row: 0, column: columns.title.column + start)
    screen.put(text, at: place, style: style(theme.notice, of: row), clip: columns.title)
    return start + text.width - used
  }

  /// The beginning of the text on lines of its own, as many as the user wants.
  private func paintText(_ row: PostRow, on screen: inout Screen) {
    let count = look.density.textHeight
    let indent = columns.title.column
    let room = Rect(row: 1, column: indent, width: look.width - indent - 1, height: count)
    guard !room.isEmpty else { return }
    let lines = Self.excerpt(row.body, limit: room.width * count).wrapped(width: room.width)
    for (index, line) in lines.prefix(count).enumerated() {
      let isCut = index == count - 1 && lines.count > count
      let text =
        isCut ? line.truncated(to: room.width - 1, ellipsis: .empty) + glyphs.ellipsis : line
      screen.put(text, in: room.line(index), style: theme.dim, ellipsis: glyphs.ellipsis)
    }
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
}
