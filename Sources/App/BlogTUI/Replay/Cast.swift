import BlogModel
private import Foundation

/// A recording as an asciicast (version 2), which web pages and terminals can play.
///
/// Its first line is a header; each further line is an event: `[seconds, "o", bytes]` for output,
/// or `[seconds, "r", "80x24"]` for a new size.
package enum Cast {
  private struct Header: Encodable {
    let version = 2
    let width: Int
    let height: Int
    let timestamp: Int64
    let title: String
    let env = ["TERM": "xterm-256color"]
  }

  /// Writes the lines of the cast, each with its newline.
  ///
  /// The idle limit is the longest time between two frames, in milliseconds.
  ///
  /// - Throws: Any error of `write`.
  package static func write<Failure: Error>(
    _ recording: Recording,
    idleLimit: Int64,
    to write: (String) throws(Failure) -> Void
  ) throws(Failure) {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    var replay = Replay(recording)
    var picture = ANSIPicture()
    var size = replay.model.size
    let header = Header(
      width: size.width,
      height: size.height,
      timestamp: recording.start.now / 1_000,
      title: "hearth, \(recording.start.me.name)"
    )
    try write(json(header, with: encoder))
    var time: Int64 = 0
    var before: Int64 = 0
    while true {
      // Events with the same time share one frame.
      while !replay.isAtEnd, replay.elapsed(at: replay.position + 1) == replay.elapsed {
        replay.move(by: 1)
        if replay.model.size != size { break }
      }
      time += min(idleLimit, replay.elapsed - before)
      before = replay.elapsed
      let screen = replay.screen
      if screen.size != size {
        size = screen.size
        try write(event(time, code: "r", data: "\(size.width)x\(size.height)", with: encoder))
      }
      let bytes = picture.text(for: screen)
      if !bytes.isEmpty { try write(event(time, code: "o", data: bytes, with: encoder)) }
      if replay.isAtEnd { return }
      replay.move(by: 1)
    }
  }

  private static func event(
    _ time: Int64,
    code: String,
    data: String,
    with encoder: JSONEncoder
  ) -> String {
    let seconds = "\(time / 1_000).\((time % 1_000).digits(3))"
    return "[\(seconds), \"\(code)\", \(json(data, with: encoder).dropLast())]\n"
  }

  private static func json(_ value: some Encodable, with encoder: JSONEncoder) -> String {
    guard let data = try? encoder.encode(value) else {
      assertionFailure("text that is not JSON")
      return "\"\"\n"
    }
    return String(decoding: data, as: UTF8.self) + "\n"
  }
}

/// Turns screens into the bytes that make any common terminal show them.
package struct ANSIPicture {
  private var shown: Screen?
  private var style = Style.plain

  /// The bytes that make the terminal show this screen; empty if it shows it already.
  ///
  /// - Complexity: O(n) in the number of cells
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
        // Terminals disagree about some widths, so the next cell is positioned explicitly.
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

  /// The codes that select a style; empty if it is selected already.
  private mutating func select(_ new: Style) -> String {
    guard new != style else { return "" }
    style = new
    var codes = ["0"] + new.attributes.codes
    if let code = Self.code(of: new.foreground, base: 30) { codes.append(code) }
    if let code = Self.code(of: new.background, base: 40) { codes.append(code) }
    return "\u{1B}[" + codes.joined(separator: ";") + "m"
  }

  private static func code(of color: Color, base: Int) -> String? {
    switch color {
    case .standard, .black, .red, .green, .yellow, .blue, .magenta, .cyan, .white:
      color.basicNumber.map { "\(base + $0)" }
    case .indexed(let index): "\(base + 8);5;\(index)"
    case .rgb(let red, let green, let blue): "\(base + 8);2;\(red);\(green);\(blue)"
    }
  }
}
