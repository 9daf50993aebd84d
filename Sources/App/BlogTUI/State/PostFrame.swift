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

  /// Divides a part of the content; the lower rule of the screen gives way to the field.
  init(_ frame: Frame, in content: Rect, textWidth: Int) {
    let hasRule = !frame.lowerRule.isEmpty
    let all = Rect(
      row: content.row,
      column: content.column,
      width: content.width,
      height: content.height + frame.lowerRule.height
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
    rule = rows[1]
    let columns = Layout.columns([.fixed(2), .flexible(1)], in: rows[2])
    prompt = columns[0]
    field = columns[1]
  }
}
