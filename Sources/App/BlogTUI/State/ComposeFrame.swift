/// Where the parts of the form for a post are.
struct ComposeFrame: Hashable {
  /// The name of the first field; empty on low screens.
  let titleLabel: Rect
  /// The title.
  let title: Rect
  /// The name of the second field; empty on low screens.
  let bodyLabel: Rect
  /// The text.
  let body: Rect
  /// What is wrong; the last row of the content, empty on low screens.
  let problem: Rect

  init(_ frame: Frame, textWidth: Int) {
    let isHigh = frame.content.height >= 12
    let label: Length = isHigh ? .fixed(1) : .fixed(0)
    let gap: Length = isHigh ? .fixed(1) : .fixed(0)
    let rows = Layout.rows(
      [
        gap, label, .fixed(1), gap, label, .flexible(1),
        frame.lowerRule.isEmpty ? .fixed(0) : .fixed(1),
      ],
      in: frame.content
    )
    titleLabel = rows[1]
    title = Self.field(rows[2], textWidth)
    bodyLabel = rows[4]
    body = Self.field(rows[5], textWidth)
    problem = rows[6]
  }

  private static func field(_ rect: Rect, _ textWidth: Int) -> Rect {
    Rect(
      row: rect.row,
      column: rect.column + 2,
      width: min(textWidth, rect.width - 3),
      height: rect.height
    )
  }
}
