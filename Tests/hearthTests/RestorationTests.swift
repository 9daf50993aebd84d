import Foundation
import Testing

extension EndToEnd {
  /// The terminal is restored, however the program ends.
  @Suite("Terminal restoration", .needsTmux)
  struct RestorationTests {
    @Test("Settings and screen are restored when the program ends")
    func restored() throws {
      let sandbox = try Sandbox()
      let pane = try sandbox.open("sh")
      try pane.enter(
        "stty -g > before; cp before after; \(Sandbox.program) --user ann; stty -g > after; echo left"
      )
      try pane.waitFor("online")
      try pane.press("q")
      try pane.waitFor("left is printed") { $0.contains("\nleft") }
      let modes = try sandbox.tmux([
        "display-message", "-p", "-t", "pane1", "#{alternate_on} #{cursor_flag} #{mouse_any_flag}",
      ])
      #expect(modes == "0 1 0\n")
      try pane.enter("cmp before after && echo same", until: "\nsame")
    }

    @Test("Without UTF-8 everything is ASCII, and NO_COLOR turns colours off")
    func plainTerminals() throws {
      let sandbox = try Sandbox()
      try sandbox.post("Tea 茶")
      let pane = try sandbox.open(as: "ann", variables: "LC_ALL=C LANG=C")
      #expect(try pane.screen().allSatisfy(\.isASCII))
      _ = try sandbox.open(as: "ann", variables: "NO_COLOR=1")
      let escapes = try sandbox.tmux(["capture-pane", "-p", "-e", "-t", "pane2"])
      #expect(!escapes.contains(try Regex("\u{1B}\\[[0-9;]*(3[0-7]|4[0-7]|9[0-7]|38|48)[;m]")))
    }
  }
}

extension EndToEnd {
  /// Signals end the program, and leave the terminal as it was.
  @Suite("Signals")
  struct SignalTests {
    /// All that end a program by default, except those that a program cannot or does not handle;
    /// of the real-time signals the first and the last.
    private static let ending = ([Int32](1...31) + [34, 64]).filter { number in
      let others = [
        SIGKILL, SIGPIPE, SIGXFSZ, SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU, SIGCONT, SIGCHLD, SIGURG,
        SIGWINCH,
      ]
      return !others.contains(number)
    }

    @Test("Every signal that ends the program restores the terminal")
    func everySignal() throws {
      let sandbox = try Sandbox()
      // It keeps the server, so that the others start at once.
      let neighbor = try TerminalSession(["--user", "ann"], in: sandbox)
      defer { neighbor.send(SIGTERM) }
      for signal in Self.ending {
        let session = try TerminalSession(["--user", "ann"], in: sandbox)
        let modes = session.modes
        try session.wait(for: "online")
        #expect(session.modes != modes)
        session.send(signal)
        #expect(try session.waitForEnd() == 128 + signal)
        #expect(session.modes == modes, "after signal \(signal)")
        let last = String(decoding: session.output.suffix(200), as: UTF8.self)
        for sequence in ["\u{1B}[?1049l", "\u{1B}[?2004l", "1000l", "\u{1B}[?25h"] {
          #expect(last.contains(sequence), "after signal \(signal)")
        }
      }
    }

    @Test(
      "The program saves drafts and exits even if the terminal accepts no output",
      arguments: [SIGTERM, SIGHUP, SIGINT, SIGUSR1],
      [false, true]
    )
    func blocked(signal: Int32, byStopKey: Bool) throws {
      let sandbox = try Sandbox()
      let session = try TerminalSession(["--user", "ann"], in: sandbox)
      let modes = session.modes
      try session.wait(for: "online")
      session.type("cNot yet sent")
      try session.wait(for: "Not yet sent")
      if byStopKey { session.stopOutput() }
      session.fill()
      session.send(signal)
      // Nobody reads the terminal, so only a process that has ended by itself gets a status here.
      #expect(try session.waitUnread(within: 20) == 128 + signal)
      #expect(session.modes == modes)
      // The others end it at once, like a crash.
      if signal != SIGUSR1 { #expect(try sandbox.keeps("Not yet sent")) }
    }
  }
}

extension EndToEnd {
  /// Letters beyond ASCII in locales that have them, lack them, or are not installed.
  @Suite("Locales")
  struct LocaleTests {
    @Test(
      "Typed letters arrive, or the screen says why not",
      arguments: [
        (["LC_CTYPE": "UTF-8"], false, true),
        (["LANG": "xx_YY.UTF-8"], false, true),
        (["LC_ALL": "xx_YY.utf8@euro"], false, true),
        (["LC_TIME": "xx_YY", "LC_CTYPE": "C.UTF-8"], false, true),
        (["LC_ALL": "xx_YY.ISO-8859-1"], true, true),
        (["LC_ALL": "xx_YY.ISO-8859-1"], false, false),
        (["LC_ALL": "C"], true, false),
        ([:], false, false),
      ]
    )
    func typed(locale: [String: String], sendsUTF8: Bool, arrives: Bool) throws {
      let sandbox = try Sandbox()
      let unset = ["LC_ALL": "", "LC_CTYPE": "", "LANG": ""]
      let session = try TerminalSession(
        [],
        in: sandbox,
        environment: unset.merging(locale) { $1 },
        sendsUTF8: sendsUTF8
      )
      try session.wait(for: "online")
      session.type("cB\u{E4}ume")
      try session.wait(for: arrives ? "B\u{E4}ume" : "the locale is not UTF-8")
      #expect(session.output.contains(0x07) != arrives)
    }
  }
}
