import Foundation
import TestSupport
import Testing

@testable import BlogTUI

/// Extends the serialized suite: ncurses supports only one terminal at a time.
extension NcursesTerminalTests {
  @Test("Synchronized output is used only after the terminal reports support")
  func synchronizedOutput() throws {
    try withTerminal("xterm-256color") { pseudo, terminal in
      #expect(pseudo.written().contains("\u{1B}[?2026$p"))
      var screen = Screen(size: terminal.size)
      terminal.render(screen)
      #expect(!pseudo.written().contains("2026"))
      pseudo.type("\u{1B}[?2026;2$y")
      #expect(terminal.nextEvents(timeout: .seconds(5)) == [])
      screen.put("Hello", at: Position(row: 2, column: 3))
      terminal.render(screen)
      let frame = pseudo.written()
      #expect(frame.hasPrefix("\u{1B}[?2026h") && frame.hasSuffix("\u{1B}[?2026l"))
      #expect(frame.contains("Hello"))
      terminal.render(screen)
      #expect(pseudo.written() == "")
      terminal.apply(TerminalOptions(usesOnlyASCII: true, usesSynchronizedOutput: false))
      screen.put("J", at: Position(row: 2, column: 3))
      terminal.render(screen)
      #expect(!pseudo.written().contains("2026"))
    }
  }

  @Test("Simple terminals are not queried for synchronized output", arguments: ["vt220", "linux"])
  func noQueries(type: String) throws {
    try withTerminal(type) { pseudo, _ in
      #expect(!pseudo.written().contains("2026$p"))
    }
  }

  @Test(
    "Clicks beyond column 223 arrive even if terminfo only describes old reports",
    arguments: ["xterm-256color", "tmux-256color", "screen-256color"]
  )
  func wideClicks(type: String) throws {
    try withTerminal(type, width: 400) { pseudo, terminal in
      #expect(pseudo.written().contains("1006"))
      pseudo.type("\u{1B}[<0;301;5Mx")
      var keys: [KeyEvent] = []
      for _ in 0..<3 where keys.count < 2 {
        keys += self.keys(terminal)
      }
      let position = Position(row: 4, column: 300)
      #expect(keys == [.mouse(MouseEvent(kind: .press, position: position)), .character("x")])
    }
  }

  @Test("Mouse reporting can be switched off and on")
  func mouseToggle() throws {
    try withTerminal("tmux-256color") { pseudo, terminal in
      _ = pseudo.written()
      terminal.apply(TerminalOptions(usesMouse: false, usesOnlyASCII: true))
      terminal.render(Screen(size: terminal.size))
      #expect(pseudo.written().contains("\u{1B}[?1006;1000l"))
      terminal.apply(TerminalOptions(usesOnlyASCII: true))
      #expect(pseudo.written().contains("\u{1B}[?1006;1000h"))
    }
  }

  @Test("Copied text is sent to the terminal's clipboard")
  func copying() throws {
    try withTerminal("xterm-256color") { pseudo, terminal in
      _ = pseudo.written()
      terminal.copy("foo")
      #expect(pseudo.written().contains("]52;c;Zm9v"))
    }
  }

  @Test("A bracketed paste is one event, whatever it contains")
  func hostilePaste() throws {
    try withTerminal("xterm-256color") { pseudo, terminal in
      pseudo.type("\u{1B}[200~qdd:q!\u{1B}[<0;1;1M\u{1B}[201~")
      var keys: [KeyEvent] = []
      for _ in 0..<3 where keys.isEmpty {
        keys += self.keys(terminal)
      }
      #expect(keys.count == 1)
      guard case .paste(let text)? = keys.first else { throw Unexpected("no paste: \(keys)") }
      #expect(text.hasPrefix("qdd:q!"))
    }
  }
}
