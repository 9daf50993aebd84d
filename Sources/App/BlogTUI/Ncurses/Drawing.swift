import CNcurses

/// Turns colours into the colour numbers of a terminal, depending on how many it has.
///
/// A terminal with more than 256 colours takes red, green and blue as one number, of which only the
/// first eight denote the basic colours.
enum ColorTable {
  private typealias Components = (red: Int, green: Int, blue: Int)

  private static let basic: [Components] = [
    (0, 0, 0), (205, 0, 0), (0, 205, 0), (205, 205, 0), (0, 0, 238), (205, 0, 205), (0, 205, 205),
    (229, 229, 229),
  ]
  private static let bright: [Components] = [
    (127, 127, 127), (255, 0, 0), (0, 255, 0), (255, 255, 0), (92, 92, 255), (255, 0, 255),
    (0, 255, 255), (255, 255, 255),
  ]
  private static let levels = [0, 95, 135, 175, 215, 255]
  private static let paletteCount = 256

  /// The number of a colour; -1 is the terminal's default.
  static func number(of color: Color, count: Int) -> Int32 {
    switch color {
    case .standard, .black, .red, .green, .yellow, .blue, .magenta, .cyan, .white:
      Int32(count >= 8 ? color.basicNumber ?? -1 : -1)
    case .indexed(let index): number(ofIndex: Int(index), count: count)
    case .rgb(let red, let green, let blue):
      number(of: (Int(red), Int(green), Int(blue)), count: count)
    }
  }

  private static func number(ofIndex index: Int, count: Int) -> Int32 {
    guard count >= 8 else { return -1 }
    if index < 8 || (index < count && count <= paletteCount) { return Int32(index) }
    if index < 16, count <= paletteCount { return Int32(index - 8) }
    return number(of: components(of: index), count: count)
  }

  private static func number(of color: Components, count: Int) -> Int32 {
    guard count >= 8 else { return -1 }
    // The first eight numbers denote the basic colours, so a blue that is nearly black becomes
    // black.
    if count > paletteCount {
      let value = color.red << 16 | color.green << 8 | color.blue
      return value < 8 ? 0 : Int32(value)
    }
    if count == paletteCount { return nearestInPalette(color) }
    return nearest(to: color, in: basic)
  }

  /// Skips the first sixteen entries, which users often change.
  private static func nearestInPalette(_ color: Components) -> Int32 {
    let (red, green, blue) = (level(color.red), level(color.green), level(color.blue))
    let cube = 16 + 36 * red + 6 * green + blue
    let brightness = (color.red + color.green + color.blue) / 3
    let gray = 232 + max(0, min(23, (brightness - 3) / 10))
    let isGrayNearer =
      distance(color, components(of: gray)) < distance(color, components(of: cube))
    return Int32(isGrayNearer ? gray : cube)
  }

  private static func level(_ value: Int) -> Int {
    levels.indices.min { abs(levels[$0] - value) < abs(levels[$1] - value) } ?? 0
  }

  private static func nearest(to color: Components, in table: [Components]) -> Int32 {
    let index = table.indices.min { distance(table[$0], color) < distance(table[$1], color) }
    return Int32(index ?? 7)
  }

  private static func distance(_ left: Components, _ right: Components) -> Int {
    let (r, g, b) = (left.red - right.red, left.green - right.green, left.blue - right.blue)
    return r * r + g * g + b * b
  }

  /// The standard components of an entry of the 256-colour palette.
  private static func components(of index: Int) -> Components {
    if index >= 232 {
      let level = 8 + 10 * (index - 232)
      return (level, level, level)
    }
    if index < 8 { return basic[index] }
    if index < 16 { return bright[index - 8] }
    let cube = index - 16
    return (levels[cube / 36], levels[cube / 6 % 6], levels[cube % 6])
  }
}

extension NcursesTerminal {
  /// Shows the screen; only the differences from the previous screen are sent to the terminal.
  ///
  /// Whatever does not fit into the terminal is left out.
  package func render(_ next: Screen) {
    guard isOpen, !isHungUp else { return }
    let window = nc_stdscr()
    if shown == nil { werase(window) }
    let before = shown ?? Screen(size: next.size)
    let changes = next.diff(from: before)
    let isSynchronized = canSynchronize && usesSynchronizedOutput && !changes.isEmpty
    if isSynchronized { writeDirectly("\u{1B}[?2026h") }
    defer { if isSynchronized { writeDirectly("\u{1B}[?2026l") } }
    draw(changes, before: before, next: next)
    placeCursor(next.cursor)
    wnoutrefresh(window)
    // After another program has had the terminal, this asks for the size.
    _ = Self.limitingSize(of: output) { doupdate() }
    drawBeyond(changes, before: before, next: next)
    shown = next
  }

  private func draw(_ changes: [ScreenChange], before: Screen, next: Screen) {
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

  /// Makes the next ``render(_:)`` draw every cell, whatever the terminal currently shows.
  package func redraw() {
    shown = nil
    clearok(nc_stdscr(), true)
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
    // Empty cells between texts cost no change of colours; those after the last text keep their
    // own, since terminals can erase to the end of the row in plain colours only.
    let textEnd = change.cells.lastIndex { !$0.isEmpty } ?? 0
    for (index, cell) in change.cells.enumerated() where !cell.isContinuation {
      guard column + cell.width <= size.width else { break }
      let isUnaffected = index < textEnd && cell.looksTheSame(in: style)
      if cell.style != style, !isUnaffected {
        flush(&text, at: Position(row: change.row, column: start), style: style)
        start = column
        style = cell.style
      }
      text += repertoire == .ascii ? cell.asciiText : cell.cluster.plainText
      column += cell.width
    }
    flush(&text, at: Position(row: change.row, column: start), style: style)
  }

  /// Writes the text in a single style, and empties it.
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
    let isReverse = style.attributes.contains(.reverse) || needsReverse(style)
    if isReverse { result |= NC_A_REVERSE }
    return result
  }

  /// Whether the background is a shade that the terminal does not have.
  private func needsReverse(_ style: Style) -> Bool {
    guard colorCount < 256, case .rgb = style.background else { return false }
    return true
  }

  private func pair(of style: Style) -> Int32 {
    guard !needsReverse(style) else { return 0 }
    let foreground = ColorTable.number(of: style.foreground, count: colorCount)
    let background = ColorTable.number(of: style.background, count: colorCount)
    guard colorCount > 0, foreground >= 0 || background >= 0 else { return 0 }
    return max(0, alloc_pair(foreground, background))
  }
}
