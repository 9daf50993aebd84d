import BlogModel
import RealtimeCore

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
    isBesideList: Bool
  ) {
    let hasRule = !frame.lowerRule.isEmpty
    let all = Rect(
      row: content.row,
      column: content.column,
      width: content.width,
      height: content.height + (isBesideList ? 0 : frame.lowerRule.height)
    )
    let rule: Length = hasRule ? .fixed(1) : .fixed(0)
    let rows = Layout.rows([.flexible, rule, .fixed(fieldHeight)], in: all)
    border = rows[0].with(width: min(2, all.width))
    text = rows[0].cut(left: border.width)
      .with(width: min(textWidth, all.width - border.width - 1))
    let margin = isBesideList ? border.width : 0
    self.rule = rows[1].cut(left: margin)
    let columns = Layout.columns([.fixed(2), .flexible], in: rows[2].cut(left: margin))
    prompt = columns[0]
    field = columns[1]
  }
}

/// The lines of an open post and of its comments, wrapped to the width of the screen.
///
/// Of each comment only the number of lines is kept; those in view are wrapped again when they are
/// drawn, so that very many comments take little memory.
package struct PostLayout: Equatable, Sendable {
  package enum Line: Equatable, Sendable {
    case title(SafeText)
    /// The author of the post, the time, and its stars.
    case byline
    /// A part of the text.
    case body(MarkedLine)
    case blank
    case commentsHeading
    /// The line above the first unread comment.
    case unread
    /// The author and the time of the comment with that index.
    case commentHeading(Int)
    /// A part of the comment with that index.
    case comment(Int, MarkedLine)
  }

  /// The lines above the comments.
  private var head: [Line] = []
  private(set) var rows = CommentThreads()
  /// The line at which each comment begins, with the line above it if it is the first unread one;
  /// and the end of the last, with the blank line below it.
  private var starts: [Int32] = [0]
  /// The index of the first unread comment.
  private var firstUnread: Int?
  private var muted: Set<String> = []
  /// The number of columns of the text.
  package private(set) var width = 0
  private var source: SourceView?
  /// The title and the text of the post, as far as they are shown.
  private var texts: [String] = []

  /// Whether texts are shown with their markup interpreted or as written.
  package enum SourceView: Hashable, Sendable {
    /// With the markup interpreted, drawn with the symbols that the terminal can show; code keeps
    /// its marks where colours do not set it off.
    case marked(CharacterRepertoire, keepsMarks: Bool)
    case raw
  }

  var lineCount: Int { Int(starts[starts.count - 1]) }
  /// The number of lines, apart from a blank one at the end.
  var contentCount: Int { rows.isEmpty ? lineCount : lineCount - 1 }

  /// Rebuilds the lines; unchanged texts are not wrapped again.
  ///
  /// - Complexity: O(n) in the number of comments, and in the length of the new texts
  mutating func update(
    post: Post?,
    comments: CommentThreads,
    firstUnread: String? = nil,
    muted: Set<String> = [],
    source: SourceView,
    width: Int
  ) {
    let isAsWide = width == self.width && source == self.source
    var old = KnownHeights(isAsWide ? self : PostLayout())
    self.width = width
    self.source = source
    self.muted = muted
    rows = comments
    let texts = post.map { [$0.title, $0.shownBody] } ?? []
    if !isAsWide || texts != self.texts {
      self.texts = texts
      head = head(of: texts)
    }
    self.firstUnread = firstUnread.flatMap { comments.index(of: $0) }
    var end = Int32(clamping: head.count)
    var starts = [end]
    starts.reserveCapacity(comments.count + 1)
    for (index, row) in comments.enumerated() {
      let height = old.height(of: row, isMuted: isMuted(row.comment)) ?? lines(of: row).count + 1
      end += Int32(clamping: height + (index == self.firstUnread ? 2 : 1))
      starts.append(end)
    }
    self.starts = starts
  }

  /// The lines above the comments, made of the title and the text of a post that is here.
  private func head(of texts: [String]) -> [Line] {
    var head: [Line] = []
    if let source, texts.count == 2 {
      let title = SafeText(untrusted: texts[0], mode: .singleLine)
      head += title.wrapped(width: width).map { .title($0) }
      head += [.byline, .blank]
      let body = SafeText(untrusted: texts[1], mode: .multiLine)
      head += source.lines(of: body, width: width).map { .body($0) }
      head.append(.blank)
    }
    return head + [.commentsHeading]
  }

  fileprivate func isMuted(_ comment: Comment) -> Bool {
    !muted.isEmpty && muted.contains(comment.uid)
  }

  /// The indentation of a comment at that depth in its thread; at most a third of the width.
  func indent(of depth: Int) -> Int { min(depth * 2, width / 6 * 2) }

  /// The lines of a comment below its heading.
  private func lines(of row: CommentThreads.Row) -> [MarkedLine] {
    guard let source, !isMuted(row.comment) else { return [] }
    let text = SafeText(untrusted: row.comment.shownText, mode: .multiLine)
    return source.lines(of: text, width: max(1, width - 2 - indent(of: row.depth)))
  }

  // MARK: Lines

  /// The lines of a comment, without those around it.
  func range(of index: Int) -> Range<Int> {
    let start = Int(starts[index]) + (index == firstUnread ? 1 : 0)
    return start..<Int(starts[index + 1]) - 1
  }

  /// The first comment that begins at a line or below it; the number of comments if none does.
  ///
  /// - Complexity: O(log n)
  func firstComment(from line: Int) -> Int {
    rows.indices.partitioningIndex { range(of: $0).lowerBound >= line }
  }

  /// The comment that a line belongs to; nil for lines around comments.
  func comment(at line: Int) -> Int? {
    let index = firstComment(from: line + 1) - 1
    return index >= 0 && range(of: index).contains(line) ? index : nil
  }

  /// Some of the lines, from top to bottom.
  ///
  /// - Complexity: O(log n), and in the length of the comments in the range
  func lines(in range: Range<Int>) -> [Line] {
    var lines = Array(head[range.clamped(to: head.indices)])
    var index = max(0, firstComment(from: range.lowerBound + 1) - 1)
    while index < rows.count, starts[index] < range.upperBound {
      var all: [Line] = index == firstUnread ? [.unread] : []
      all.append(.commentHeading(index))
      all += self.lines(of: rows[index]).map { .comment(index, $0) }
      all.append(.blank)
      let start = Int(starts[index])
      let shown = range.clamped(to: start..<start + all.count)
      lines += all[(shown.lowerBound - start)..<(shown.upperBound - start)]
      index += 1
    }
    return lines
  }
}

/// The heights of comments before a change, which are mostly asked for in their order.
private struct KnownHeights {
  private let layout: PostLayout
  private var next = 0
  /// The indices of all comments, once they were asked for in another order.
  private var indices: [Comment.Key: Int]?

  init(_ layout: PostLayout) {
    self.layout = layout
  }

  /// The number of lines of a comment; nil unless it is certain that it still has as many.
  mutating func height(of row: CommentThreads.Row, isMuted: Bool) -> Int? {
    guard let index = index(of: row.comment.key) else { return nil }
    next = index + 1
    let old = layout.rows[index]
    guard old.depth == row.depth, old.comment == row.comment,
      layout.isMuted(old.comment) == isMuted
    else { return nil }
    return layout.range(of: index).count
  }

  private mutating func index(of key: Comment.Key) -> Int? {
    let rows = layout.rows
    if next < rows.count, rows.comment(at: next).key == key { return next }
    if indices == nil, next < rows.count {
      indices = Dictionary(rows.indices.map { (rows.comment(at: $0).key, $0) }) { $1 }
    }
    return indices?[key]
  }
}

extension PostLayout.SourceView {
  fileprivate func lines(of text: SafeText, width: Int) -> [MarkedLine] {
    switch self {
    case .marked(let repertoire, let keepsMarks):
      let signs = Markup.Signs(.of(repertoire), keepsMarks: keepsMarks)
      return Markup.lines(of: text, width: width, signs: signs)
    case .raw: return text.wrapped(width: width).map { MarkedLine($0) }
    }
  }
}
