import BlogModel

/// How many lines a list shows of each post.
package enum Density: String, CaseIterable, Hashable, Sendable {
  /// One line: the title, and the beginning of the text if there is room.
  case compact
  /// Two lines: the beginning of the text has a line of its own.
  case normal
  /// As many lines of the text as it needs, up to eight, and a blank line.
  case full

  /// The density that the user has chosen.
  init(_ settings: Settings) {
    self = Density(rawValue: settings.word(.density)) ?? .compact
  }

  /// The largest number of lines of text below the title.
  package var textHeight: Int {
    switch self {
    case .compact: 0
    case .normal: 1
    case .full: 8
    }
  }

  /// The number of lines of a post, if it does not depend on the text.
  package var rowHeight: Int {
    switch self {
    case .compact: 1
    case .normal: 2
    case .full: 3
    }
  }
}

/// What a list shows of a post; equal rows look the same in lists with the same look.
struct PostRow: Equatable {
  let id: PostID
  let title: String
  let body: String
  let author: String
  let starCount: Int
  let isStarred: Bool
  let isSelected: Bool
  /// When it was written, in the user's format.
  let age: SafeText
  let delivery: Delivery?
  let newComments: NewComments
  /// The number of comments; nil if it is unknown.
  let commentCount: CommentCount?
  /// Whether the post or a comment on it is unread.
  let hasNews: Bool
  let height: Int
  var glow: Glow = []

  /// The parts of a row that can arrive.
  struct Glow: OptionSet {
    let rawValue: UInt8

    static let row = Glow(rawValue: 1 << 0)
    static let stars = Glow(rawValue: 1 << 1)
    static let newComments = Glow(rawValue: 1 << 2)
  }
}

/// What all the rows of a list have in common.
struct PostRowLook: Equatable {
  let theme: Theme
  let repertoire: CharacterRepertoire
  let width: Int
  /// The width of the widest age.
  let ageWidth: Int
  let density: Density
}

/// The columns of a row of a list, depending on its width.
struct PostRowColumns {
  let border: Rect
  let sign: Rect
  let title: Rect
  let author: Rect
  let age: Rect
  /// The number of comments, after its symbol; empty on narrow screens.
  let comments: Rect
  let star: Rect
  let count: Rect
  let showsExcerpt: Bool
  let line: Rect

  init(_ look: PostRowLook) {
    let row = Rect(row: 0, column: 0, width: look.width, height: 1)
    let isWide = row.width >= 60
    let author =
      row.width >= 100 ? 20 : row.width >= 72 ? 16 : isWide ? 12 : row.width >= 36 ? 8 : 0
    let gap = isWide ? 2 : 1
    let comments = isWide ? 5 : 0
    let parts = Layout.columns(
      [
        .fixed(1), .fixed(isWide ? 1 : 0), .flexible, .fixed(author > 0 ? gap : 0),
        .fixed(author), .fixed(gap), .fixed(look.ageWidth), .fixed(comments > 0 ? 1 : 0),
        .fixed(comments), .fixed(gap), .fixed(1),
        .fixed(isWide ? 5 : 3), .fixed(isWide ? 1 : 0),
      ],
      in: row
    )
    border = parts[0]
    line = row
    // Without room for a column of its own, the symbol takes the column of the selection mark.
    sign = isWide ? parts[1] : parts[0]
    title = parts[2]
    self.author = parts[4]
    age = parts[6]
    self.comments = parts[8]
    star = parts[10]
    count = parts[11]
    self.showsExcerpt = isWide && look.density == .compact
  }

  /// The column at which titles and texts begin in a list of that width.
  private static func textColumn(_ width: Int) -> Int { width >= 60 ? 2 : 1 }

  /// The size available for the text of a post, where a row is only as high as its text needs.
  static func textRoom(in list: Size) -> Size {
    let height = min(Density.full.textHeight, max(1, list.height - 2))
    return Size(width: max(1, list.width - textColumn(list.width) - 1), height: height)
  }
}

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

  func screen(of row: PostRow) -> Screen {
    var screen = Screen(size: Size(width: look.width, height: row.height))
    if row.isSelected {
      let room = theme.hasQuietSelection ? Rect(size: screen.size) : columns.line
      screen.fill(room, style: theme.selected)
    }
    let mark = row.isSelected ? glyphs.selection : " "
    for line in 0..<row.height {
      let position = Position(row: line, column: columns.border.column)
      let ground = row.isSelected ? theme.quiet(theme.selectedBorder) : theme.selectedBorder
      screen.put(mark, at: position, style: ground)
    }
    paintSign(row, on: &screen)
    paintTitle(row, on: &screen)
    let author = SafeText(untrusted: row.author, limit: SafeText.nameLimit)
    let authorStyle = style(theme.author, of: row)
    screen.put(author, in: columns.author, style: authorStyle, ellipsis: glyphs.ellipsis)
    screen.put(row.age, in: columns.age, style: style(theme.dim, of: row), aligned: .trailing)
    paintCommentCount(row, on: &screen)
    let star = row.isStarred ? glyphs.star : glyphs.emptyStar
    let starStyle = style(row.isStarred ? theme.star : theme.text, of: row)
    screen.put(star, at: columns.star.origin, style: starStyle, clip: columns.star)
    let count = ShortNumber.text(row.starCount)
    screen.put(count, in: columns.count, style: starStyle, aligned: .trailing)
    paintText(row, on: &screen)
    if row.glow.contains(.row), !row.isSelected {
      screen.restyle(Rect(size: screen.size), theme.glowing)
    } else if row.glow.contains(.stars) {
      // With few colours, the ground of a selected row may be that of what arrives.
      let selected = theme.style(theme.notice, isSelected: true)
      for part in [columns.star, columns.count] {
        screen.restyle(part) { row.isSelected ? selected : theme.glowing($0) }
      }
    }
    return screen
  }

  /// Paints the number of comments; nothing if there are none or the number is unknown.
  private func paintCommentCount(_ row: PostRow, on screen: inout Screen) {
    guard let count = row.commentCount, count.number > 0 else { return }
    let text = glyphs.comment + " " + count.text
    let style = style(row.newComments.count > 0 ? theme.notice : theme.dim, of: row)
    screen.put(text, in: columns.comments, style: style, aligned: .trailing)
  }

  private func style(_ style: Style, of row: PostRow) -> Style {
    theme.style(style, isSelected: row.isSelected)
  }

  /// Paints the delivery state of the user's last change, or otherwise whether the post is unread.
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

  /// Paints the title, and after it the beginning of the text if there is room.
  private func paintTitle(_ row: PostRow, on screen: inout Screen) {
    let title = SafeText(untrusted: row.title, mode: .singleLine, limit: 300)
    let titleStyle = style(theme.title, of: row).with(.bold)
    var used = screen.put(title, in: columns.title, style: titleStyle, ellipsis: glyphs.ellipsis)
    used += paintNewComments(row, after: used, on: &screen)
    let dim = style(theme.dim, of: row)
    let left = columns.title.width - used - separator.width
    guard columns.showsExcerpt, left >= 8 else { return }
    // One character more than fits shows whether something is left out.
    let excerpt = Markup.excerpt(of: row.body, limit: left + 1, bullet: glyphs.bullet)
    guard !excerpt.isEmpty else { return }
    let middle = Position(row: 0, column: columns.title.column + used)
    screen.put(separator, at: middle, style: dim, clip: columns.title)
    let room = Rect(row: 0, column: columns.title.endColumn - left, width: left, height: 1)
    screen.put(excerpt, in: room, style: dim, ellipsis: glyphs.ellipsis)
  }

  /// Paints the number of unread comments after the title; returns its width.
  private func paintNewComments(
    _ row: PostRow,
    after used: Int,
    on screen: inout Screen
  ) -> Int {
    let new = row.newComments
    guard new.count > 0 else { return 0 }
    let number = SafeText(new.count) + (new.isAtLeast ? "+" : "")
    let long = !columns.comments.isEmpty && columns.title.width >= 20
    let text = long ? separator + number + " new" : " +" + SafeText(new.count)
    // A long title is cut off to make room: a title can be guessed, a number cannot.
    let start = min(used, max(0, columns.title.width - text.width))
    let position = Position(row: 0, column: columns.title.column + start)
    let atRest = style(theme.notice, of: row)
    let style = row.glow.contains(.newComments) ? theme.glowing(atRest) : atRest
    screen.put(text, at: position, style: style, clip: columns.title)
    return start + text.width - used
  }

  /// Paints the beginning of the text on lines of its own, as many as the user has chosen.
  private func paintText(_ row: PostRow, on screen: inout Screen) {
    let count = look.density == .full ? max(0, row.height - 2) : look.density.textHeight
    let indent = columns.title.column
    let room = Rect(row: 1, column: indent, width: look.width - indent - 1, height: count)
    guard !room.isEmpty else { return }
    let lines = Self.textLines(row.body, in: room.size, glyphs: glyphs)
    let style = row.isSelected ? theme.quiet(theme.dim) : theme.dim
    for (index, line) in lines.enumerated() {
      screen.put(line, in: room.line(index), style: style, ellipsis: glyphs.ellipsis)
    }
  }

  /// The beginning of a text, on as many lines as it needs and as there is room for.
  ///
  /// - Complexity: O(size of the room)
  static func textLines(
    _ body: String,
    in room: Size,
    glyphs: GlyphSet = .of(.unicode)
  ) -> [SafeText] {
    // One character more than fits shows whether something is left out.
    let limit = room.width * room.height + 1
    let excerpt = Markup.excerpt(of: body, limit: limit, bullet: glyphs.bullet)
    let lines = excerpt.wrapped(width: room.width)
    guard lines.count > room.height, let last = lines.prefix(room.height).last else { return lines }
    let cut = last.truncated(to: room.width - glyphs.ellipsis.width, ellipsis: .empty)
    return lines.prefix(room.height - 1) + [cut + glyphs.ellipsis]
  }
}

/// A cache of drawn rows and of the preview, so that only what looks different is made again.
///
/// A key changes one or two of the rows in view, and redrawing all the others would account for
/// most of the time until the change is visible.
package struct DrawnRows {
  private var look: PostRowLook?
  private var drawn: [PostID: (row: PostRow, screen: Screen)] = [:]
  /// The lines of the post next to the list.
  var preview = PostLayout()

  package init() {}

  /// Draws rows, reuses those that have not changed, and forgets all others.
  ///
  /// Each is on a screen of its own, as wide as the list.
  mutating func screens(of rows: [PostRow], _ look: PostRowLook) -> [Screen] {
    let before = look == self.look ? drawn : [:]
    let painter = PostRowPainter(look)
    self.look = look
    drawn = [:]
    return rows.map { row in
      let known = before[row.id]
      let screen = known?.row == row ? known?.screen : nil
      let result = screen ?? painter.screen(of: row)
      drawn[row.id] = (row, result)
      return result
    }
  }
}
