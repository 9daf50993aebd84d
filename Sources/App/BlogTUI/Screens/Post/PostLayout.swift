import BlogModel

/// Where the parts of an open post are.
struct PostFrame: Hashable {
  /// The text and the comments, without the border cells.
  let text: Rect
  /// The border cells, which content cannot reach.
  let border: Rect
  /// The line between the comments and the field; empty on low screens.
  let rule: Rect
  /// The mark before the field.
  let prompt: Rect
  /// The comment that is being written.
  let field: Rect

  /// Divides a part of the content.
  ///
  /// Alone on the screen, the field takes the place of the lower rule. Beside a list, the rule goes
  /// through under both, and the line between them goes down to it.
  init(_ frame: Frame, in content: Rect, textWidth: Int, isBesideList: Bool = false) {
    let hasRule = !frame.lowerRule.isEmpty
    let all = Rect(
      row: content.row,
      column: content.column,
      width: content.width,
      height: content.height + (isBesideList ? 0 : frame.lowerRule.height)
    )
    let rows = Layout.rows([.flexible(1), hasRule ? .fixed(1) : .fixed(0), .fixed(1)], in: all)
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
    rule = rows[1].cut(left: margin)
    let columns = Layout.columns([.fixed(2), .flexible(1)], in: rows[2].cut(left: margin))
    prompt = columns[0]
    field = columns[1]
  }
}

extension Rect {
  /// What is left without some columns at the left.
  fileprivate func cut(left count: Int) -> Rect {
    Rect(row: row, column: column + count, width: max(0, width - count), height: height)
  }
}

/// The lines of an open post and of its comments, cut to the width of the screen.
package struct PostLayout: Equatable, Sendable {
  /// One line of the screen.
  package enum Line: Equatable, Sendable {
    /// A part of the title.
    case title(SafeText)
    /// Who wrote the post and when, and its stars.
    case byline
    /// A part of the text.
    case body(SafeText)
    /// A line without text.
    case blank
    /// The number of comments.
    case commentsHeading
    /// The line above the first comment that was not read.
    case unread
    /// Who wrote the comment of that number and when.
    case commentHeading(Int)
    /// A part of the comment of that number.
    case comment(Int, SafeText)
  }

  /// The lines of one comment.
  private struct Block: Equatable {
    let comment: Comment
    let lines: [SafeText]
  }

  /// All lines, from top to bottom.
  package private(set) var lines: [Line] = []
  /// For each comment the lines it takes.
  package private(set) var ranges: [Range<Int>] = []
  /// The number of columns of the text.
  package private(set) var width = 0

  private var blocks: [String: Block] = [:]

  /// Rebuilds the lines; unchanged comments are not wrapped again.
  ///
  /// - Complexity: O(n) in the number of lines, and in the length of what is new.
  mutating func update(
    post: Post?,
    comments: [Comment]?,
    firstUnread: String? = nil,
    width: Int
  ) {
    let old = width == self.width ? blocks : [:]
    self.width = width
    lines = []
    ranges = []
    blocks = [:]
    if let post {
      let title = SafeText(untrusted: post.title, mode: .singleLine)
      lines += title.wrapped(width: width).map { .title($0) }
      lines += [.byline, .blank]
      let body = SafeText(untrusted: post.body, mode: .multiLine)
      lines += body.wrapped(width: width).map { .body($0) }
      lines.append(.blank)
    }
    lines.append(.commentsHeading)
    for (index, comment) in (comments ?? []).enumerated() {
      let block = Self.block(comment, width: width, old: old)
      blocks[comment.id] = block
      if comment.id == firstUnread { lines.append(.unread) }
      let start = lines.count
      lines.append(.commentHeading(index))
      lines += block.lines.map { .comment(index, $0) }
      ranges.append(start..<lines.count)
      lines.append(.blank)
    }
  }

  private static func block(_ comment: Comment, width: Int, old: [String: Block]) -> Block {
    if let block = old[comment.id], block.comment == comment { return block }
    let text = SafeText(untrusted: comment.text, mode: .multiLine, limit: 2_000)
    return Block(comment: comment, lines: text.wrapped(width: max(1, width - 2)))
  }
}
