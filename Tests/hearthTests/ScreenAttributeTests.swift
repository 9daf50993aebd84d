import Foundation
import TestSupport
import Testing

extension EndToEnd {
  /// Whole screens through ncurses, on four kinds of terminals.
  @Suite("Screen attributes")
  struct ScreenAttributeTests {
    /// Each ^L makes ncurses redraw everything, which captures the previous screen.
    private static let script = """
      size 80x24
      wait-for No posts yet
      :wait-idle
      key c
      type A title without a text
      key ^S
      key ^L
      type The text.
      key ^S
      :wait-idle
      pause 60000
      key s
      :wait-idle
      as bob comment A title without a text | Indeed.
      wait-for 1 new
      pause 60000
      key ^L
      key Enter
      key c
      type A comment
      key Enter
      :wait-idle
      pause 60000
      key ^L
      key d
      key ^L
      key Esc
      key Esc
      key ?
      key ^L
      key Esc
      key ^P
      type sta
      key ^L
      key Esc
      key F2
      key ^L
      """

    private static let names = [
      "compose", "list", "post", "question", "help", "palette", "settings",
    ]

    @Test(
      "The attributes of every cell match their goldens on four types of terminal",
      arguments: ["vt220", "xterm", "xterm-256color", "xterm-direct"]
    )
    func attributes(kind: String) throws {
      let sandbox = try Sandbox()
      let file = try sandbox.write(Self.script, to: "script.txt")
      var environment = ["TERM": kind]
      if kind == "xterm-direct" {
        try Self.describe(in: sandbox)
        environment["TERMINFO_DIRS"] = sandbox.directory + "/terminfo:"
      }
      let session = try TerminalSession(
        ["--script", file, "--show", "--pace", "0"],
        in: sandbox,
        environment: environment
      )
      #expect(try session.waitForEnd() == 0)
      #expect(session.terminal.offences == [])
      let blank = [VirtualTerminal.Cell](repeating: .init(), count: 80)
      let pictures = session.terminal.pictures.filter { $0.contains { $0 != blank } }
      try #require(pictures.count >= Self.names.count)
      var text = ""
      for (name, cells) in zip(Self.names, pictures) {
        text += "=== \(name)\n"
        for (number, row) in cells.enumerated() {
          text += "\(number):\(VirtualTerminal.styles(of: row))\n"
        }
      }
      // Colours depend on the kind of terminal; letters do not.
      let letters = pictures.prefix(Self.names.count).map { $0.map(VirtualTerminal.line) }
      #expect(
        letters[1].contains { $0.contains("A title without a text") && $0.contains("★    1") }
      )
      let golden = Sandbox.package + "/Tests/BlogTUITests/Ncurses/Goldens/screens-\(kind).txt"
      #expect(text == GoldenFile.text(at: golden, orWrite: text), "\(kind)")
    }

    /// Defines a terminal with direct colours, since few systems have its entry installed.
    private static func describe(in sandbox: Sandbox) throws {
      let source = """
        xterm-direct|a terminal with direct colours,
        \tRGB, colors#0x1000000, pairs#0x7FFF, ccc@, initc@,
        \tsetab=\\E[%?%p1%{8}%<%t4%p1%d%e48\\:2\\:\\:%p1%{65536}%/%d\\:%p1%{256}%/%{255}%&%d\\:%p1%{255}%&%d%;m,
        \tsetaf=\\E[%?%p1%{8}%<%t3%p1%d%e38\\:2\\:\\:%p1%{65536}%/%d\\:%p1%{256}%/%{255}%&%d\\:%p1%{255}%&%d%;m,
        \tuse=xterm-256color,

        """
      let file = try sandbox.write(source, to: "direct.ti")
      let outcome = try sandbox.run(
        ["-x", "-o", sandbox.directory + "/terminfo", file],
        of: "/usr/bin/tic"
      )
      try #require(outcome.status == 0, "\(outcome.errors)")
    }
  }
}
