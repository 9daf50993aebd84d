import BlogModel

/// The rectangles of the parts of an open post.
struct PostFrame: Hashable {
  /// The text and the comments, without the border cells.
  let text: Rect
  /// The border cells, which content cannot reach.
  let border: Rect
  /// The line between the comments and the field; empty on screens with few rows.
  let rule: Rect
  /// The mark in front of the field.
  let prompt: Rect
  /// The comment that is being written.
  let field: Rect

  /// Divides the content area, or the part of it next to the list.
  ///
  /// Alone on the screen, the field takes the place of the lower rule. Next to a list, the rule
  /// runs below both, and the line between them reaches down to it.
  init(
    _ frame: Frame,
    in content: Rect,
    textWidth: Int,
    fieldHeight: Int,
    isBesideList: Bool = false
  ) {
    let hasRule = !frame.lowerRule.isEmpty
    let all = Rect(
      row: content.row,
      column: content.column,
      width: content.width,
      height: content.height + (isBesideList ? 0 : frame.lowerRule.height)
    )
    let rule: Length = hasRule ? .fixed(1) : .fixed(0)
    let rows = Layout.rows([.flexible(1), rule, .fixed(fieldHeight)], in: all)
    border = Rect(
      row: rows[0].row,
      column: all.column,
      width: min(2, all.width),
      height: rows[0].height
    )
    text = Rect(
      row: rows[0].row,
      column: border.endColumn,
      width: min(textWidth, all.width - border.width - 1),
      height: rows[0].height
    )
    let margin = isBesideList ? border.width : 0
    self.rule = rows[1].cut(left: margin)
    let columns = Layout.columns([.fixed(2), .flexible(1)], in: rows[2].cut(left: margin))
    prompt = columns[0]
    field = columns[1]
  }
}

extension Rect {
  /// The rectangle without some columns on its left.
  fileprivate func cut(left count: Int) -> Rect {
    Rect(row: row, column: column + count, width: max(0, width - count), height: height)
  }
}

/// The lines of an open post and of its comments, wrapped to the width of the screen.
package struct PostLayout: Equatable, Sendable {
  /// One line of the screen.
  package enum Line: Equatable, Sendable {
    /// A part of the title.
    case title(SafeText)
    /// The author of the post, the time, and its stars.
    case byline
    /// A part of the text.
    case body(MarkedLine)
    /// A line without text.
    case blank
    /// The number of comments.
    case commentsHeading
    /// The line above the first unread comment.
    case unread
    /// The author and the time of the comment with that index.
    case commentHeading(Int)
    /// A part of the comment with that index.
    case comment(Int, MarkedLine)
  }

  /// The lines of one comment.
  private struct Block: Equatable {
    let comment: Comment
    let indent: Int
    let lines: [MarkedLine]
  }

  /// All lines, from top to bottom.
  package private(set) var lines: [Line] = []
  /// The lines of each comment.
  package private(set) var ranges: [Range<Int>] = []
  /// The number of columns of the text.
  package private(set) var width = 0

  private var blocks: [String: Block] = [:]
  private var source: SourceView?

  /// Whether texts are shown with their markup interpreted or as written.
  package enum SourceView: Hashable, Sendable {
    /// With the markup interpreted, drawn with the symbols that the terminal can show; code keeps
    /// its marks where colours do not set it off.
    case marked(CharacterRepertoire, keepsMarks: Bool)
    /// As written.
    case raw
  }

  /// Rebuilds the lines; unchanged comments are not wrapped again.
  ///
  /// - Complexity: O(n) in the number of lines, and in the length of the new texts
  mutating func update(
    post: Post?,
    comments: [CommentThreads.Row]?,
    firstUnread: String? = nil,
    muted: Set<String> = [],
    source: SourceView,
    width: Int
  ) {
    let old = width == self.width && source == self.source ? blocks : [:]
    self.width = width
    self.source = source
    lines = []
    ranges = []
    blocks = [:]
    if let post {
      let title = SafeText(untrusted: post.title, mode: .singleLine)
      lines += title.wrapped(width: width).map { .title($0) }
      lines += [.byline, .blank]
      let body = SafeText(untrusted: post.body, mode: .multiLine)
      lines += source.lines(of: body, width: width).map { .body($0) }
      lines.append(.blank)
    }
    lines.append(.commentsHeading)
    for (index, row) in (comments ?? []).enumerated() {
      let comment = row.comment
      let indent = indent(of: row.depth)
      let block = Self.block(comment, indent: indent, source: source, width: width, old: old)
      blocks[comment.id] = block
      if comment.id == firstUnread { lines.append(.unread) }
      let start = lines.count
      lines.append(.commentHeading(index))
      if !muted.contains(comment.uid) { lines += block.lines.map { .comment(index, $0) } }
      ranges.append(start..<lines.count)
      lines.append(.blank)
    }
  }

  /// The indentation of a comment at that depth in its thread; at most a third of the width.
  func indent(of depth: Int) -> Int { min(depth * 2, width / 6 * 2) }

  private static func block(
    _ comment: Comment,
    indent: Int,
    source: SourceView,
    width: Int,
    old: [String: Block]
  ) -> Block {
    if let block = old[comment.id], block.comment == comment, block.indent == indent {
      return block
    }
    let text = SafeText(untrusted: comment.text, mode: .multiLine, limit: 2_000)
    let lines = source.lines(of: text, width: max(1, width - 2 - indent))
    return Block(comment: comment, indent: indent, lines: lines)
  }
}

extension PostLayout.SourceView {
  /// The lines of a text, wrapped to a width.
  fileprivate func lines(of text: SafeText, width: Int) -> [MarkedLine] {
    switch self {
    case .marked(let repertoire, let keepsMarks):
      let signs = Markup.Signs(.of(repertoire), keepsMarks: keepsMarks)
      return Markup.lines(of: text, width: width, signs: signs)
    case .raw: return text.wrapped(width: width).map { MarkedLine($0) }
    }
  }
}
