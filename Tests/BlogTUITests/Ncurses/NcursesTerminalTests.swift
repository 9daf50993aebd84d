import Glibc
import Testing

@testable import BlogTUI

@Suite("NcursesTerminal", .serialized)
@MainActor
struct NcursesTerminalTests {
  /// Runs the body with a terminal of a type, which it closes.
  func withTerminal(
    _ type: String = "xterm-256color",
    width: UInt16 = 40,
    height: UInt16 = 10,
    options: TerminalOptions = TerminalOptions(usesOnlyASCII: true),
    _ body: (PseudoTerminal, NcursesTerminal) throws -> Void
  ) throws {
    let pseudo = try PseudoTerminal(type: type, width: width, height: height)
    let terminal = try NcursesTerminal.open(options, on: pseudo.device)
    defer { terminal.close() }
    try body(pseudo, terminal)
  }

  /// The keys that come next.
  func keys(_ terminal: NcursesTerminal) -> [KeyEvent] {
    terminal.nextEvents(timeout: .seconds(5)).compactMap { event in
      guard case .key(let key) = event else { return nil }
      return key
    }
  }

  @Test("A non-terminal or unsuitable terminal is rejected with a reason")
  func refusals() throws {
    let pseudo = try PseudoTerminal()
    let tty = pseudo.device.input
    let null = Glibc.open("/dev/null", O_RDWR)
    defer { Glibc.close(null) }
    let cases: [(TerminalDescriptors, TerminalError)] = [
      (TerminalDescriptors(input: null, output: tty, type: "xterm"), .inputIsNoTerminal),
      (TerminalDescriptors(input: tty, output: null, type: "xterm"), .outputIsNoTerminal),
      (TerminalDescriptors(input: tty, output: tty, type: nil), .typeIsMissing),
      (TerminalDescriptors(input: tty, output: tty, type: ""), .typeIsMissing),
      (TerminalDescriptors(input: tty, output: tty, type: "dumb"), .typeIsTooSimple("dumb")),
      (TerminalDescriptors(input: tty, output: tty, type: "no-such"), .typeIsUnknown("no-such")),
    ]
    let modes = pseudo.modes
    for (device, error) in cases {
      #expect(throws: error) { try NcursesTerminal.open(TerminalOptions(), on: device) }
      // The names of some follow.
      #expect(error.description.hasSuffix("or use a subcommand"))
    }
    #expect(pseudo.modes == modes)
    #expect(pseudo.written() == "")
  }

  @Test("Only changed cells are written")
  func rendering() throws {
    try withTerminal { pseudo, terminal in
      var screen = Screen(size: terminal.size)
      screen.put("Hello", at: Position(row: 2, column: 3), style: Style(attributes: .bold))
      terminal.render(screen)
      #expect(pseudo.written().contains("Hello"))
      terminal.render(screen)
      #expect(pseudo.written() == "")
      screen.put("J", at: Position(row: 2, column: 3))
      terminal.render(screen)
      let change = pseudo.written()
      #expect(change.contains("J") && !change.contains("ello") && change.utf8.count < 40)
      terminal.redraw()
      terminal.render(screen)
      #expect(pseudo.written().contains("ello"))
    }
  }

  @Test("A screen larger than the terminal is clipped, and ASCII terminals get ASCII")
  func clipping() throws {
    try withTerminal { pseudo, terminal in
      #expect(terminal.glyphs == .ascii)
      var screen = Screen(size: Size(width: 50, height: 20))
      screen.fill(Rect(row: 0, column: 40, width: 10, height: 20), with: Cluster.space)
      screen.put("★漢", at: Position(row: 0, column: 0))
      screen.put("XYZ", at: Position(row: 0, column: 39))
      screen.put("below", at: Position(row: 10, column: 0))
      terminal.render(screen)
      let written = pseudo.written()
      #expect(written.contains("*??"))
      #expect(written.contains("X") && !written.contains("Y") && !written.contains("below"))
    }
  }

  @Test(
    "Every encoding of a key is recognized",
    arguments: [
      ("j", [.character("j")]), ("\r", [.enter]), ("\u{0C}", [.control("l")]),
      ("\u{1B}OA", [.up]), ("\u{1B}[A", [.up]), ("\u{1B}[6~", [.pageDown]),
      ("\u{1B}OP", [.function(1)]), ("\u{1B}[Z", [.backTab]), ("\u{7F}", [.backspace]),
      ("\u{1B}[1;5C", [.controlRight]), ("\u{1B}OM", [.enter]),
      ("\u{1B}", [.escape]), ("\u{1B}\u{1B}", [.escape, .escape]),
      ("ab", ["a", "b"].map { .character($0) }),
      ("\u{1B}[200~a\rb\u{1B}[201~c", [.paste("a\rb"), .character("c")]),
      ("\u{1B}\u{1B}[200~q\u{1B}[201~", [.escape, .paste("q")]),
    ] as [(String, [KeyEvent])]
  )
  func keys(typed: String, expected: [KeyEvent]) throws {
    try withTerminal { pseudo, terminal in
      pseudo.type(typed)
      #expect(keys(terminal) == expected)
    }
  }

  @Test("Simultaneous wheel and click events arrive in order")
  func mouse() throws {
    try withTerminal { pseudo, terminal in
      pseudo.type("\u{1B}[<0;7;3M\u{1B}[<0;7;3m\u{1B}[<65;1;1M")
      let kinds = keys(terminal).map { key -> MouseEvent.Kind? in
        guard case .mouse(let event) = key else { return nil }
        return event.kind
      }
      #expect(kinds == [.press, .release, .wheelDown])
    }
  }

  @Test("A waker ends the wait")
  func waking() throws {
    try withTerminal { _, terminal in
      terminal.wake()
      #expect(terminal.nextEvents(timeout: .seconds(5)) == [.woken])
      #expect(terminal.nextEvents(timeout: .zero) == [])
    }
  }

  @Test("A new window size is reported once and then used")
  func resizing() throws {
    try withTerminal { pseudo, terminal in
      #expect(terminal.size == Size(width: 40, height: 10))
      pseudo.resize(width: 60, height: 5)
      raise(SIGWINCH)
      let size = Size(width: 60, height: 5)
      #expect(terminal.nextEvents(timeout: .seconds(5)) == [.key(.resize(size))])
      #expect(terminal.size == size)
      #expect(terminal.nextEvents(timeout: .zero) == [])
      var screen = Screen(size: size)
      screen.put("edge", at: Position(row: 4, column: 55))
      terminal.render(screen)
      #expect(pseudo.written().contains("edge"))
    }
  }

  @Test("Of a window larger than any, a part is used")
  func boundless() throws {
    try withTerminal { pseudo, terminal in
      pseudo.resize(width: .max, height: 5)
      raise(SIGWINCH)
      let size = Size(width: 2_000, height: 5)
      #expect(terminal.nextEvents(timeout: .seconds(5)) == [.key(.resize(size))])
      var screen = Screen(size: size)
      screen.put("edge", at: Position(row: 4, column: 55))
      terminal.render(screen)
      #expect(pseudo.written().contains("edge"))
    }
  }

  @Test(
    "A window larger than any can be opened, left for another program, and resized",
    arguments: [(.max, 10), (40, .max)] as [(UInt16, UInt16)]
  )
  func openedBoundless(width: UInt16, height: UInt16) throws {
    try withTerminal(width: width, height: height) { pseudo, terminal in
      let size = Size(width: min(Int(width), 2_000), height: min(Int(height), 2_000))
      #expect(terminal.size == size)
      terminal.render(Screen(size: size))
      terminal.withSuspendedScreen {}
      var screen = Screen(size: size)
      screen.put("back", at: Position(row: 4, column: 30))
      terminal.render(screen)
      #expect(pseudo.written().contains("back"))
      pseudo.resize(width: 60, height: 5)
      raise(SIGWINCH)
      let resize = TerminalEvent.key(.resize(Size(width: 60, height: 5)))
      #expect(terminal.nextEvents(timeout: .seconds(5)) == [resize])
    }
  }

  @Test("Termination signals become events", arguments: [SIGTERM, SIGHUP, SIGINT])
  func leaving(signal: Int32) throws {
    try withTerminal { _, terminal in
      raise(signal)
      #expect(terminal.nextEvents(timeout: .seconds(5)) == [.terminate(signal: signal)])
    }
  }

  @Test("A hang-up is reported once, and waiting does not spin")
  func hangUp() throws {
    try withTerminal { pseudo, terminal in
      pseudo.hangUp()
      #expect(terminal.nextEvents(timeout: .seconds(5)).contains(.hangUp))
      #expect(terminal.nextEvents(timeout: .milliseconds(1)) == [])
      terminal.render(Screen(size: terminal.size))
    }
  }

  @Test("Closing restores modes, screen, paste, mouse and signals")
  func closing() throws {
    let pseudo = try PseudoTerminal()
    let modes = pseudo.modes
    var before = sigaction()
    sigaction(SIGTERM, nil, &before)
    let terminal = try NcursesTerminal.open(TerminalOptions(), on: pseudo.device)
    terminal.render(Screen(size: terminal.size))
    #expect(pseudo.modes != modes)
    let started = pseudo.written()
    #expect(started.contains("\u{1B}[?1049h") && started.contains("\u{1B}[?2004h"))
    terminal.close()
    terminal.close()
    let ended = pseudo.written()
    for sequence in ["\u{1B}[?1049l", "\u{1B}[?2004l", "\u{1B}[?1006;1000l"] {
      #expect(ended.contains(sequence))
    }
    #expect(pseudo.modes == modes)
    var after = sigaction()
    sigaction(SIGTERM, nil, &after)
    let same =
      unsafeBitCast(before.__sigaction_handler, to: Int.self)
      == unsafeBitCast(after.__sigaction_handler, to: Int.self)
    #expect(same)
  }

  @Test("Another program can use the terminal temporarily")
  func suspending() throws {
    let pseudo = try PseudoTerminal()
    let modes = pseudo.modes
    let terminal = try NcursesTerminal.open(TerminalOptions(), on: pseudo.device)
    defer { terminal.close() }
    var screen = Screen(size: terminal.size)
    screen.put("mine", at: Position(row: 0, column: 0))
    terminal.render(screen)
    _ = pseudo.written()
    let output = pseudo.device.output
    let modesInside = terminal.withSuspendedScreen {
      // Some programs leave the terminal so, and drawing would try again and again.
      _ = fcntl(output, F_SETFL, fcntl(output, F_GETFL) | O_NONBLOCK)
      return pseudo.modes
    }
    #expect(modesInside == modes)
    #expect(fcntl(output, F_GETFL) & O_NONBLOCK == 0)
    #expect(pseudo.written().contains("\u{1B}[?1049l"))
    terminal.render(screen)
    #expect(pseudo.written().contains("mine"))
    #expect(pseudo.modes != modes)
  }
}
