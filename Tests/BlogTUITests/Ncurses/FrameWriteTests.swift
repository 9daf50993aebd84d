import Foundation
import Testing

@testable import BlogTUI

/// Extends the serialized suite: ncurses supports only one terminal at a time.
extension NcursesTerminalTests {
  private static let options = TerminalOptions(colorMode: .always, usesOnlyASCII: true)

  /// A screen full of words in changing styles.
  private func page(_ size: Size, _ number: Int) -> Screen {
    var screen = Screen(size: size)
    for row in 0..<size.height {
      for column in 0..<size.width / 6 {
        let style = Style(
          foreground: .indexed(UInt8((row + column + number) % 250)),
          attributes: column.isMultiple(of: 2) ? .bold : .reverse
        )
        let text = SafeText(untrusted: "w\((row + column) % 10)o\(number % 10)d ")
        screen.put(text, at: Position(row: row, column: column * 6), style: style)
      }
    }
    return screen
  }

  @Test(
    "A frame is sent in one write call",
    arguments: ["xterm-256color", "screen-256color", "xterm", "vt220", "linux", "vt100"]
  )
  func oneWrite(type: String) throws {
    try withTerminal(type, width: 80, height: 24, options: Self.options) { pseudo, terminal in
      for number in 0..<4 {
        var screen = Screen(size: terminal.size)
        for row in 0..<terminal.size.height {
          screen.put(SafeText(untrusted: "row \(number)"), at: Position(row: row, column: row))
        }
        _ = pseudo.written()
        let before = try writeCalls()
        terminal.render(screen)
        let calls = try writeCalls() - before
        #expect(pseudo.written().contains("\(number)"))
        // The first frame also hides the cursor, and clears the terminal.
        if number > 0 { #expect(calls == 1) }
      }
    }
  }

  /// The number of `write` calls this thread has made.
  private func writeCalls() throws -> Int {
    let text = try String(contentsOfFile: "/proc/thread-self/io", encoding: .utf8)
    let line = text.split(separator: "\n").first { $0.hasPrefix("syscw: ") }
    return try #require(line.flatMap { Int($0.dropFirst(7)) })
  }

  @Test("A frame is complete even if keys are waiting")
  func typeahead() throws {
    try withTerminal(width: 80, height: 24, options: Self.options) { pseudo, terminal in
      terminal.render(page(terminal.size, 1))
      pseudo.type("jjjj")
      _ = pseudo.written()
      terminal.render(page(terminal.size, 2))
      let words = pseudo.written().components(separatedBy: "o2d").count - 1
      #expect(words >= 24 * (80 / 6))
    }
  }

  @Test("Opening only enters the alternate screen", arguments: ["xterm-256color", "tmux"])
  func openingIsUnseen(type: String) throws {
    try withTerminal(type, options: Self.options) { pseudo, terminal in
      let opened = pseudo.written()
      #expect(opened.components(separatedBy: "\u{1B}[?1049h").count == 2)
      #expect(!opened.contains("\u{1B}[?1049l") && !opened.contains("\u{1B}[H"))
      pseudo.type("j")
      #expect(terminal.nextEvents(timeout: .seconds(5)) == [.key(.character("j"))])
      #expect(pseudo.written() == "")
      terminal.render(Screen(size: terminal.size))
      #expect(pseudo.written().contains("\u{1B}[H\u{1B}["))
    }
  }

  @Test("The terminal's initialization string is sent", arguments: ["vt220", "linux", "vt100"])
  func preparation(type: String) throws {
    try withTerminal(type, options: Self.options) { pseudo, terminal in
      #expect(pseudo.written().contains("\u{1B})0"))
    }
  }

  @Test("After a suspension, keys arrive and frames are single writes again")
  func resuming() throws {
    try withTerminal(options: Self.options) { pseudo, terminal in
      terminal.render(page(terminal.size, 1))
      let inside = pseudo.modes
      terminal.withSuspendedScreen {}
      _ = pseudo.written()
      terminal.render(page(terminal.size, 1))
      let entered = pseudo.written()
      #expect(entered.contains("\u{1B}[?1049h") && entered.contains("w9o1d"))
      #expect(pseudo.modes == inside)
      pseudo.type("j")
      #expect(terminal.nextEvents(timeout: .seconds(5)) == [.key(.character("j"))])
      var screen = page(terminal.size, 1)
      screen.put(SafeText(untrusted: "anew"), at: Position(row: 0, column: 0))
      screen.put(SafeText(untrusted: "anew"), at: Position(row: 9, column: 0))
      let before = try writeCalls()
      terminal.render(screen)
      #expect(try writeCalls() - before == 1)
      #expect(pseudo.written().components(separatedBy: "anew").count == 3)
    }
  }
}
