extension Screen {
  /// Draws a horizontal line over the first row of the rectangle.
  package mutating func horizontalLine(in rect: Rect, glyphs: GlyphSet, style: Style = .plain) {
    guard let piece = glyphs.horizontal.clusters.first else { return }
    fill(rect.line(0), with: piece, style: style)
  }

  /// Draws a vertical line over the first column of the rectangle.
  package mutating func verticalLine(in rect: Rect, glyphs: GlyphSet, style: Style = .plain) {
    guard let piece = glyphs.vertical.clusters.first else { return }
    let line = Rect(
      row: rect.row,
      column: rect.column,
      width: min(1, rect.width),
      height: rect.height
    )
    fill(line, with: piece, style: style)
  }

  /// Draws a frame along the inside of the rectangle's edge, with a title in its upper side.
  ///
  /// - Returns: The rectangle inside the frame; empty when the frame leaves nothing.
  @discardableResult
  package mutating func box(
    in rect: Rect,
    glyphs: GlyphSet,
    title: SafeText = .empty,
    style: Style = .plain
  ) -> Rect {
    guard rect.width >= 2 && rect.height >= 2 else { return .zero }
    let right = rect.endColumn - 1
    let bottom = rect.endRow - 1
    horizontalLine(in: rect.line(0), glyphs: glyphs, style: style)
    horizontalLine(in: rect.line(rect.height - 1), glyphs: glyphs, style: style)
    let side = Rect(row: rect.row, column: rect.column, width: 1, height: rect.height)
    verticalLine(in: side, glyphs: glyphs, style: style)
    verticalLine(
      in: Rect(row: rect.row, column: right, width: 1, height: rect.height),
      glyphs: glyphs,
      style: style
    )
    put(glyphs.topLeft, at: rect.origin, style: style, clip: rect)
    put(glyphs.topRight, at: Position(row: rect.row, column: right), style: style, clip: rect)
    put(glyphs.bottomLeft, at: Position(row: bottom, column: rect.column), style: style, clip: rect)
    put(glyphs.bottomRight, at: Position(row: bottom, column: right), style: style, clip: rect)
    let room = rect.line(0).inset(rows: 0, columns: 2)
    if !title.isEmpty && room.width >= 3 {
      let shown = title.truncated(to: room.width - 2, ellipsis: glyphs.ellipsis)
      put(" " + shown + " ", at: room.origin, style: style, clip: room)
    }
    return rect.inset(rows: 1, columns: 1)
  }
}
