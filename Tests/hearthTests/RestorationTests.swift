import Foundation
import Testing

extension EndToEnd {
  /// The terminal is restored, however the program ends.
  @Suite("Restoration", .enabled(if: Tmux.isInstalled, "tmux is not installed"))
  struct RestorationTests {
    @Test(
      "The terminal's settings and screen are restored",
      arguments: ["q", "TERM", "HUP", "INT", "QUIT", "SEGV", "ABRT", "TRAP"]
    )
    func restored(way: String) throws {
      let sandbox = try Sandbox()
      let tmux = Tmux(sandbox)
      let pane = try tmux.open("sh")
      try pane.type(
        "stty -g > before; cp before after; \(Sandbox.program); stty -g > after; echo left"
      )
      try pane.press("Enter")
      try pane.waitFor("online")
      if way == "q" {
        try pane.press("q")
      } else {
        let children = try tmux.tmux(["display-message", "-p", "-t", "pane1", "#{pane_tty}"])
        let tty = children.trimmingCharacters(in: .whitespacesAndNewlines).dropFirst("/dev/".count)
        let process = try #require(try foreground(of: String(tty)))
        kill(process, try #require(Self.signals[way]))
      }
      try pane.waitFor("left is printed") { $0.contains("\nleft") }
      let modes = try tmux.tmux([
        "display-message", "-p", "-t", "pane1", "#{alternate_on} #{cursor_flag} #{mouse_any_flag}",
      ])
      #expect(modes == "0 1 0\n")
      try pane.type("cmp before after && echo same")
      try pane.press("Enter")
      try pane.waitFor("\nsame")
    }

    @Test("^Z suspends and fg goes on where it was")
    func suspended() throws {
      let sandbox = try Sandbox()
      let tmux = Tmux(sandbox)
      let pane = try tmux.open("bash --norc")
      try pane.type(Sandbox.program)
      try pane.press("Enter")
      try pane.waitFor("online")
      try pane.press("C-z")
      try pane.waitFor("Stopped")
      try pane.type("fg")
      try pane.press("Enter")
      try pane.waitFor("No posts yet")
      try pane.press("q")
      try pane.waitFor("the shell is back") { !$0.contains("No posts yet") }
    }

    @Test("Any size works, and a small one recovers")
    func resizes() throws {
      let sandbox = try Sandbox()
      let tmux = Tmux(sandbox)
      let pane = try tmux.open(Sandbox.program)
      try pane.waitFor("online")
      for (columns, rows) in [(20, 6), (132, 43), (10, 3), (40, 10), (1, 1), (80, 24)] {
        try pane.resize(columns: columns, rows: rows)
      }
      try pane.waitFor("No posts yet")
      try pane.resize(columns: 19, rows: 6)
      try pane.waitFor("Too small")
      try pane.resize(columns: 80, rows: 24)
      try pane.waitFor("No posts yet")
    }

    @Test("Without UTF-8 everything is ASCII, and NO_COLOR leaves colours out")
    func plainTerminals() throws {
      let sandbox = try Sandbox()
      let tmux = Tmux(sandbox)
      try sandbox.hearth("post", "--title", "Tea 茶", "--body", "b")
      let pane = try tmux.open("LC_ALL=C LANG=C \(Sandbox.program)")
      try pane.waitFor("online")
      #expect(try pane.screen().allSatisfy(\.isASCII))
      let plain = try tmux.open("NO_COLOR=1 \(Sandbox.program)")
      try plain.waitFor("online")
      let escapes = try tmux.tmux(["capture-pane", "-p", "-e", "-t", "pane2"])
      #expect(!escapes.contains(try Regex("\u{1B}\\[[0-9;]*(3[0-7]|4[0-7]|9[0-7]|38|48)[;m]")))
    }

    private static let signals: [String: Int32] = [
      "TERM": SIGTERM, "HUP": SIGHUP, "INT": SIGINT, "QUIT": SIGQUIT, "SEGV": SIGSEGV,
      "ABRT": SIGABRT, "TRAP": SIGTRAP,
    ]

    /// The program that runs in a terminal.
    private func foreground(of tty: String) throws -> pid_t? {
      for name in try FileManager.default.contentsOfDirectory(atPath: "/proc") {
        guard let process = pid_t(name),
          let command = try? FileManager.default.destinationOfSymbolicLink(
            atPath: "/proc/\(name)/exe"
          ),
          command == Sandbox.program
            || command == URL(fileURLWithPath: Sandbox.program).resolvingSymlinksInPath().path,
          let input = try? FileManager.default.destinationOfSymbolicLink(
            atPath: "/proc/\(name)/fd/0"
          ),
          input == "/dev/\(tty)"
        else { continue }
        return process
      }
      return nil
    }
  }
}
