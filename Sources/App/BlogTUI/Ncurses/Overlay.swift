import CNcurses
import Glibc

/// What ncurses cannot draw: links that a terminal can open, and emoji that it joins.
///
/// ncurses draws the screen first, with the plain text of each cell. Right behind it, the cells that are
/// more than that are written once more, each at its place, and the terminal's cursor and attributes are
/// as they were. ncurses never learns of it, and what it knows of the screen stays true: the cells, their
/// widths and their colours are the same.
extension NcursesTerminal {
  /// Writes the cells of some rows that are more than ncurses has drawn, and those that no longer are.
  func drawBeyond(_ changes: [ScreenChange], before: Screen, next: Screen) {
    guard drawsLinks || joinsEmoji else { return }
    // On its way to a place, ncurses may write cells again that it passes.
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
    // The cursor is hidden meanwhile by the frame, or by its speed.
    writeDirectly("\u{1B}7" + text + "\u{1B}8")
  }

  private func isSpecial(_ cell: Cell, on screen: Screen) -> Bool {
    drawsLinks && cell.style.link != 0 || joinsEmoji && cell.isJoined
  }

  private func writeRow(_ row: Int, of screen: Screen, also others: Set<Int>, to text: inout String)
  {
    let cells = screen.row(row)
    var style: Style?
    var end = -1
    for (column, cell) in cells.enumerated() where !cell.isContinuation {
      guard column + cell.width <= size.width else { break }
      guard isSpecial(cell, on: screen) || others.contains(column) else { continue }
      // What a terminal measures in its own way does not move what follows.
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
    return joinsEmoji ? cell.text : cell.plainText
  }

  // MARK: Links

  /// The address of a cell was checked when the screen took it; nothing in it can end the sequence.
  private func openLink(of cell: Cell, on screen: Screen, to text: inout String) {
    guard drawsLinks, let address = screen.address(of: cell) else { return }
    // The parts of a link that goes on in the next line light up together.
    text += "\u{1B}]8;id=h\(cell.style.link);\(address)\u{1B}\\"
  }

  private func closeLink(of style: Style?, to text: inout String) {
    if drawsLinks, style?.link ?? 0 != 0 { text += "\u{1B}]8;;\u{1B}\\" }
  }

  // MARK: Colours and attributes

  /// The sequence that sets the colours and attributes as ncurses does.
  private func sequence(of style: Style) -> String {
    var codes = ["0"]
    let attributes: [(Style.Attributes, String)] = [
      (.bold, "1"), (.dim, "2"), (.underline, "4"), (.reverse, "7"),
    ]
    codes += attributes.filter { style.attributes.contains($0.0) }.map(\.1)
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
