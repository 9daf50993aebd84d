import Foundation
import TestSupport
import Testing

@testable import BlogTUI

/// Every screen and dialog of the blog, as four kinds of terminals receive it.
extension NcursesTerminalTests {
  private static let kinds = ["vt220", "xterm", "xterm-256color", "hearth-direct"]

  @Test("The attributes of every screen match their goldens on four types of terminal")
  func keptScreens() throws {
    let directory = try TemporaryDirectory()
    try Self.describeDirect(in: directory)
    defer { unsetenv("TERMINFO_DIRS") }
    try #require(KeptScreen.names.count >= 50)
    var pictures: [String: [String]] = [:]
    for kind in Self.kinds {
      for (name, picture) in try Self.pictures(on: kind) {
        pictures[name, default: []].append(picture)
      }
    }
    for name in KeptScreen.names {
      let drawn = try #require(pictures[name])
      var text = ""
      // Terminals that receive the same output share one picture.
      for (number, picture) in drawn.enumerated() where drawn.firstIndex(of: picture) == number {
        let same = zip(Self.kinds, drawn).filter { $0.1 == picture }.map(\.0)
        text += "=== \(same.joined(separator: ", "))\n\(picture)"
      }
      Golden.check(text, in: "../Ncurses/Goldens/Screens/\(name).txt")
    }
  }

  /// Draws all screens on one terminal, and returns the attributes of each one.
  private static func pictures(on kind: String) throws -> [(name: String, picture: String)] {
    let pseudo = try PseudoTerminal(type: kind, width: 80, height: 24)
    let options = TerminalOptions(
      colorMode: .always,
      usesMouse: false,
      usesOnlyASCII: true,
      usesSynchronizedOutput: false
    )
    let terminal = try NcursesTerminal.open(options, on: pseudo.device)
    defer { terminal.close() }
    var shown = VirtualTerminal(width: 80, height: 24)
    return try KeptScreen.names.map { name in
      let screen = try KeptScreen(name).screen
      terminal.render(screen)
      shown.take(pseudo.written().utf8)
      #expect(shown.offences == [], "\(name) on \(kind)")
      let letters = (0..<24).map { row in
        VirtualTerminal.line(screen.row(row).map { .init(text: $0.asciiText, pen: Pen()) })
      }
      #expect(shown.lines == letters, "\(name) on \(kind)")
      return (name, Self.text(of: shown.cells))
    }
  }

  /// The columns of each run that is not plain, with the parameters that produce it; identical
  /// consecutive rows are listed once.
  private static func text(of cells: [[VirtualTerminal.Cell]]) -> String {
    var rows: [(numbers: ClosedRange<Int>, runs: String)] = []
    for (number, row) in cells.enumerated() {
      let runs = VirtualTerminal.styles(of: row)
      if let last = rows.last, last.runs == runs {
        rows[rows.count - 1].numbers = last.numbers.lowerBound...number
      } else {
        rows.append((number...number, runs))
      }
    }
    return rows.filter { !$0.runs.isEmpty }.map { row in
      let (first, last) = (row.numbers.lowerBound, row.numbers.upperBound)
      return (first == last ? "\(first)" : "\(first)-\(last)") + ":\(row.runs)\n"
    }.joined()
  }
}
