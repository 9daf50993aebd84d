/// Screens as the bytes that make any common terminal show them.
package struct ANSIPicture {
  private var shown: Screen?
  private var style = Style.plain

  /// Makes pictures for a terminal of which nothing is known.
  package init() {}

  /// What has to be sent so that the terminal shows this screen; empty if it does already.
  ///
  /// - Complexity: O(n) in the number of cells.
  package mutating func text(for screen: Screen) -> String {
    var text = ""
    if shown?.size != screen.size {
      text += "\u{1B}[0m\u{1B}[2J"
      style = .plain
      shown = Screen(size: screen.size)
    }
    let before = shown ?? Screen(size: screen.size)
    for change in screen.diff(from: before) {
      text += Self.move(row: change.row, column: change.column)
      var column = change.column
      for cell in change.cells where !cell.isContinuation {
        text += select(cell.style) + cell.text
        column += cell.width
        // Where terminals disagree about a width, what follows is put in its place again.
        if cell.mayBeMisplaced { text += Self.move(row: change.row, column: column) }
      }
    }
    if screen.cursor != before.cursor || !text.isEmpty { text += Self.cursor(screen.cursor) }
    shown = screen
    return text
  }

  private static func move(row: Int, column: Int) -> String { "\u{1B}[\(row + 1);\(column + 1)H" }

  private static func cursor(_ position: Position?) -> String {
    guard let position else { return "\u{1B}[?25l" }
    return move(row: position.row, column: position.column) + "\u{1B}[?25h"
  }

  /// Selects a style, if it is not selected already.
  private mutating func select(_ new: Style) -> String {
    guard new != style else { return "" }
    style = new
    var codes = ["0"]
    let attributes: [(Style.Attributes, String)] = [
      (.bold, "1"), (.dim, "2"), (.underline, "4"), (.reverse, "7"),
    ]
    codes += attributes.filter { new.attributes.contains($0.0) }.map(\.1)
    if let code = Self.code(of: new.foreground, base: 30) { codes.append(code) }
    if let code = Self.code(of: new.background, base: 40) { codes.append(code) }
    return "\u{1B}[" + codes.joined(separator: ";") + "m"
  }

  private static func code(of color: Color, base: Int) -> String? {
    switch color {
    case .standard: nil
    case .black: "\(base)"
    case .red: "\(base + 1)"
    case .green: "\(base + 2)"
    case .yellow: "\(base + 3)"
    case .blue: "\(base + 4)"
    case .magenta: "\(base + 5)"
    case .cyan: "\(base + 6)"
    case .white: "\(base + 7)"
    case .indexed(let index): "\(base + 8);5;\(index)"
    case .rgb(let red, let green, let blue): "\(base + 8);2;\(red);\(green);\(blue)"
    }
  }
}
