import CNcurses

extension NcursesTerminal {
  /// Shows the screen; only what differs from the screen before reaches the terminal.
  ///
  /// What does not fit into the terminal is left out.
  package func render(_ next: Screen) {
    guard isOpen, !isHungUp else { return }
    let window = nc_stdscr()
    if shown == nil { werase(window) }
    let before = shown ?? Screen(size: next.size)
    let changes = next.diff(from: before)
    let isSynchronized = canSynchronize && usesSynchronizedOutput && !changes.isEmpty
    if isSynchronized { writeDirectly("\u{1B}[?2026h") }
    defer { if isSynchronized { writeDirectly("\u{1B}[?2026l") } }
    draw(changes, before, next)
    placeCursor(next.cursor)
    wnoutrefresh(window)
    doupdate()
    shown = next
  }

  private func draw(_ changes: [ScreenChange], _ before: Screen, _ next: Screen) {
    for change in changes {
      draw(change)
      let cells = [before.row(change.row), next.row(change.row)].joined()
      if change.row < size.height, cells.contains(where: \.mayBeMisplaced) {
        wredrawln(nc_stdscr(), Int32(clamping: change.row), 1)
      }
    }
  }

  private func placeCursor(_ cursor: Position?) {
    guard let cursor, cursor.row < size.height, cursor.column < size.width else {
      return showCursor(false)
    }
    wmove(nc_stdscr(), Int32(clamping: cursor.row), Int32(clamping: cursor.column))
    showCursor(true)
  }

  /// Makes the next ``render(_:)`` draw every cell again, whatever the terminal shows now.
  package func redraw() {
    shown = nil
    clearok(nc_stdscr(), true)
  }

  /// Says that something else may have shown or hidden the cursor.
  func cursorWasChanged() {
    cursorIsVisible = nil
  }

  private func showCursor(_ isVisible: Bool) {
    guard isVisible != cursorIsVisible else { return }
    cursorIsVisible = isVisible
    nc_set_cursor(isVisible ? 1 : 0)
  }

  private func draw(_ change: ScreenChange) {
    guard change.row < size.height else { return }
    var column = change.column
    var start = column
    var text = ""
    var style = Style.plain
    for cell in change.cells where !cell.isContinuation {
      guard column + cell.width <= size.width else { break }
      if cell.style != style {
        flush(&text, at: Position(row: change.row, column: start), style: style)
        start = column
        style = cell.style
      }
      text += repertoire == .ascii ? cell.asciiText : cell.text
      column += cell.width
    }
    flush(&text, at: Position(row: change.row, column: start), style: style)
  }

  /// Writes the text, all of one style, and empties it.
  private func flush(_ text: inout String, at position: Position, style: Style) {
    guard !text.isEmpty else { return }
    let attributes = attributes(of: style)
    let pair = pair(of: style)
    text.withUTF8 { bytes in
      bytes.withMemoryRebound(to: CChar.self) { characters in
        _ = nc_put(
          nc_stdscr(),
          Int32(clamping: position.row),
          Int32(clamping: position.column),
          characters.baseAddress,
          Int32(clamping: characters.count),
          attributes,
          pair
        )
      }
    }
    text = ""
  }

  private func attributes(of style: Style) -> attr_t {
    var result: attr_t = 0
    if style.attributes.contains(.bold) { result |= NC_A_BOLD }
    if style.attributes.contains(.dim) { result |= NC_A_DIM }
    if style.attributes.contains(.underline) { result |= NC_A_UNDERLINE }
    if style.attributes.contains(.reverse) { result |= NC_A_REVERSE }
    return result
  }

  private func pair(of style: Style) -> Int32 {
    let foreground = ColorTable.number(of: style.foreground, count: colorCount)
    let background = ColorTable.number(of: style.background, count: colorCount)
    guard colorCount > 0, foreground >= 0 || background >= 0 else { return 0 }
    return max(0, alloc_pair(foreground, background))
  }
}
