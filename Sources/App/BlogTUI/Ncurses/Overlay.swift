import CNcurses
import Glibc

/// Draws what ncurses cannot: links that a terminal can open, and joined emoji.
///
/// ncurses draws the screen first, with the plain text of each cell. Directly after that, the
/// special cells are written again, each at its position, and the terminal's cursor and attributes
/// are restored. ncurses does not know about this, but its picture of the screen stays correct: the
/// cells, their widths and their colours are the same.
extension NcursesTerminal {
  /// Writes the special cells of the changed rows, and rewrites cells that are no longer special.
  func drawBeyond(_ changes: [ScreenChange], before: Screen, next: Screen) {
    guard drawsLinks || joinsEmoji else { return }
    // To move the cursor, ncurses may rewrite the cells that it passes.
    var rows = Set(changes.map(\.row))
    if let cursor = next.cursor?.row { rows.insert(cursor) }
    var text = ""
    for row in rows.sorted() where row < min(size.height, next.size.height) {
      let gone = changes.filter { $0.row == row }.flatMap { change in
        (change.column..<change.column + change.cells.count).filter { column in
          before[Position(row: row, column: column)].map { isSpecial($0, on: before) } == true
        }
      }
      writeRow(row, of: next, also: Set(gone), to: &text)
    }
    guard !text.isEmpty else { return }
    // The cursor is hidden during this by synchronized output, or else the write is too fast to
    // see.
    writeDirectly("\u{1B}7" + text + "\u{1B}8")
  }

  private func isSpecial(_ cell: Cell, on screen: Screen) -> Bool {
    drawsLinks && cell.style.link != 0 || joinsEmoji && cell.cluster.isJoined
  }

  private func writeRow(_ row: Int, of screen: Screen, also others: Set<Int>, to text: inout String)
  {
    let cells = screen.row(row)
    var style: Style?
    var end = -1
    for (column, cell) in cells.enumerated() where !cell.isContinuation {
      guard column + cell.width <= size.width else { break }
      guard isSpecial(cell, on: screen) || others.contains(column) else { continue }
      // A cell that the terminal measures differently must not move the cells after it.
      if column != end || style != cell.style {
        if style != nil { closeLink(of: style, to: &text) }
        text += "\u{1B}[\(row + 1);\(column + 1)H" + sequence(of: cell.style)
        openLink(of: cell, on: screen, to: &text)
        style = cell.style
      }
      text += written(cell)
      end = cell.mayBeMisplaced ? -1 : column + cell.width
    }
    if style != nil {
      closeLink(of: style, to: &text)
      text += "\u{1B}[m"
    }
  }

  private func written(_ cell: Cell) -> String {
    guard repertoire != .ascii else { return cell.asciiText }
    return joinsEmoji ? cell.text : cell.cluster.plainText
  }

  // MARK: Links

  /// The screen has checked the address of a cell; nothing in it can end the sequence.
  private func openLink(of cell: Cell, on screen: Screen, to text: inout String) {
    guard drawsLinks, let address = screen.address(of: cell) else { return }
    // The shared identifier makes a terminal highlight all parts of a wrapped link together.
    text += "\u{1B}]8;id=h\(cell.style.link);\(address)\u{1B}\\"
  }

  private func closeLink(of style: Style?, to text: inout String) {
    if drawsLinks, style?.link ?? 0 != 0 { text += "\u{1B}]8;;\u{1B}\\" }
  }

  // MARK: Colours and attributes

  /// The sequence that sets the colours and attributes in the same way as ncurses.
  private func sequence(of style: Style) -> String {
    var codes = ["0"] + style.attributes.codes
    codes += Self.codes(of: style.foreground, base: 30, count: colorCount)
    codes += Self.codes(of: style.background, base: 40, count: colorCount)
    return "\u{1B}[" + codes.joined(separator: ";") + "m"
  }

  private static func codes(of color: Color, base: Int, count: Int) -> [String] {
    let number = Int(ColorTable.number(of: color, count: count))
    switch number {
    case ..<0: return []
    case ..<8: return ["\(base + number)"]
    case ..<16 where count <= 256: return ["\(base + 60 + number - 8)"]
    default:
      if count <= 256 { return ["\(base + 8)", "5", "\(number)"] }
      return ["\(base + 8)", "2", "\(number >> 16)", "\(number >> 8 & 255)", "\(number & 255)"]
    }
  }
}
