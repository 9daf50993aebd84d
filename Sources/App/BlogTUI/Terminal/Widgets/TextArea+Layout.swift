extension TextArea {
  /// Where the rows of a line begin when it is wrapped.
  func rowStarts(of line: Int) -> [Int] {
    let characters = lines[line]
    return LineBreaker.lineStarts(count: characters.count, width: size.width) { index in
      let character = characters[index]
      let width = TextWidth.width(of: character)
      return LineBreaker.Item(
        width: min(width, size.width),
        isSpace: character == " ",
        isBreakable: width > 1
      )
    }
  }

  /// The row of a line in which the cursor is shown when it stands before that character.
  func row(of column: Int, in starts: [Int]) -> Int {
    (starts.firstIndex { $0 > column } ?? starts.count) - 1
  }

  /// The number of cells between two places of one line.
  func cells(of line: Int, from start: Int, to end: Int) -> Int {
    lines[line][start..<max(start, end)].reduce(0) { $0 + TextWidth.width(of: $1) }
  }

  /// The character of a row that is nearest to that many cells from its left edge.
  func column(of line: Int, row: Int, starts: [Int], cells goal: Int) -> Int {
    let isLast = row + 1 == starts.count
    let end = isLast ? lines[line].count : starts[row + 1] - 1
    var column = starts[row]
    var used = 0
    while column < end {
      used += TextWidth.width(of: lines[line][column])
      if used > goal { break }
      column += 1
    }
    return column
  }

  /// Scrolls as little as needed to have the cursor in view and no room left over below the text.
  mutating func reveal() {
    let cursorRow = row(of: cursor.column, in: rowStarts(of: cursor.line))
    if (cursor.line, cursorRow) < (topLine, topRow) || topLine >= lines.count {
      (topLine, topRow) = (cursor.line, cursorRow)
    }
    // The view may begin no earlier than a screenful above the cursor.
    let first = place(rows: size.height - 1, above: (cursor.line, cursorRow))
    if first > (topLine, topRow) { (topLine, topRow) = first }
    let missing = size.height - rowCount(upTo: size.height, from: (topLine, topRow))
    if missing > 0 { (topLine, topRow) = place(rows: missing, above: (topLine, topRow)) }
  }

  /// The row that many rows above another, or the first one; as a line and a row of it.
  private func place(rows: Int, above start: (Int, Int)) -> (Int, Int) {
    var (line, row) = start
    var left = rows
    while left > row && line > 0 {
      left -= row + 1
      line -= 1
      row = rowStarts(of: line).count - 1
    }
    return (line, max(0, row - left))
  }

  /// The number of rows from that one to the end, as far as they matter.
  private func rowCount(upTo limit: Int, from start: (Int, Int)) -> Int {
    var line = start.0
    var count = -start.1
    while count < limit, line < lines.count {
      count += rowStarts(of: line).count
      line += 1
    }
    return count
  }

  /// Draws the rows in view from the top of the rectangle.
  ///
  /// - Parameters:
  ///   - screen: The screen.
  ///   - rect: The room that ``resize(to:)`` was told about.
  ///   - style: The style of the text and of the rest of the rectangle.
  ///   - placeholder: What is shown while nothing was typed.
  ///   - isFocused: Whether the cursor of the screen goes to the cursor of the editor.
  package func draw(
    on screen: inout Screen,
    in rect: Rect,
    style: Style = .plain,
    placeholder: SafeText = .empty,
    isFocused: Bool = true
  ) {
    screen.fill(rect, style: style)
    if isEmpty { screen.put(placeholder, in: rect.line(0), style: style.with(.dim)) }
    var offset = 0
    var line = topLine
    while offset < rect.height, line < lines.count {
      let starts = rowStarts(of: line)
      for row in starts.indices where line > topLine || row >= topRow {
        guard offset < rect.height else { break }
        let end = row + 1 < starts.count ? starts[row + 1] : lines[line].count
        let shown = EditorText.shown(lines[line][starts[row]..<end])
        let place = rect.line(offset)
        screen.put(shown, at: place.origin, style: style, clip: place)
        if isFocused, line == cursor.line, row == self.row(of: cursor.column, in: starts) {
          let column = cells(of: line, from: starts[row], to: cursor.column)
          placeCursor(on: &screen, at: column, in: place)
        }
        offset += 1
      }
      line += 1
    }
  }

  private func placeCursor(on screen: inout Screen, at column: Int, in line: Rect) {
    guard !line.isEmpty else { return }
    screen.cursor = Position(row: line.row, column: line.column + min(column, line.width - 1))
  }
}
