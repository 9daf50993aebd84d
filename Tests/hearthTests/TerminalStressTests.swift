import Foundation
import NIOConcurrencyHelpers
import TestSupport
import Testing

extension EndToEnd {
  /// What real terminals do to a program: endless resizing, suspensions in between, many at once.
  @Suite("Terminal stress")
  struct TerminalStressTests {
    @Test("The screen is unchanged after 10,000 resizes")
    func resizeStorm() throws {
      let sandbox = try Sandbox()
      try sandbox.importPosts((1...30).map { "Post \($0)" })
      let session = try TerminalSession(["--user", "alice"], in: sandbox)
      try session.wait(for: "online")
      try session.wait(for: "Post 12 ")
      session.type("jjjjj")
      session.type("\u{0C}")
      session.settle()
      let before = session.terminal.lines[1..<22]
      var random = SplitMix64(seed: 17)
      session.isWatching = false
      for _ in 0..<10_000 {
        session.resize(
          columns: Int.random(in: 1...220, using: &random),
          rows: Int.random(in: 1...70, using: &random)
        )
        try #require(session.read())
      }
      session.resize(columns: 80, rows: 24)
      session.settle()
      session.isWatching = true
      // Small sizes on the way have scrolled the list, as its selection required: back to the top.
      session.type("kkkkkjjjjj")
      session.type("\u{0C}")
      session.settle()
      #expect(Array(session.terminal.lines[1..<22]) == Array(before))
      #expect(session.terminal.offences == [])
    }

    @Test(
      "^Z and fg while editing a post keep the form and its text",
      .needsTmux
    )
    func suspendedWhileEditing() throws {
      let sandbox = try Sandbox()
      let pane = try sandbox.open("bash --norc")
      try pane.enter("\(Sandbox.program) --user ann", until: "online")
      try pane.press("c")
      try pane.type("A title")
      try pane.press("Tab")
      try pane.type("half a sen", until: "half a sen")
      try pane.press("C-z", until: "Stopped")
      try pane.enter("fg")
      try pane.waitFor("the form is back") {
        $0.contains("A title") && $0.contains("half a sen") && !$0.contains("Stopped")
      }
      try pane.type("tence", until: "half a sentence")
      try pane.press("C-s")
      try pane.waitFor("the post is in the list") {
        $0.contains("A title") && !$0.contains("Title\n")
      }
    }

    @Test("An editor that stops itself alone leaves the terminal to the shell", .needsTmux)
    func editorThatStopsItself() throws {
      let sandbox = try Sandbox()
      let editor = try sandbox.write(
        "kill -STOP $$; sed -i 's/text/changed/' \"$1\"\n",
        to: "editor"
      )
      let pane = try sandbox.open("bash --norc")
      try pane.enter("EDITOR='sh \(editor)' \(Sandbox.program) --user ann", until: "online")
      try pane.press("c", until: "New post")
      try pane.type("A title")
      try pane.press("Tab")
      try pane.type("a text", until: "a text")
      try pane.press("C-e", until: "Stopped")
      try pane.enter("fg", until: "a changed")
    }

    @Test(
      "Memory used only during startup is released",
      .needsTmux
    )
    func memory() throws {
      let sandbox = try Sandbox()
      let pane = try sandbox.open(as: "ann")
      let process = try pane.process()
      try waitUntil("less is resident than at the start", within: 60) {
        let lines = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
          .split(separator: "\n")
        let sizes = ["VmHWM", "VmRSS"].map { name in
          lines.first { $0.hasPrefix(name) }?.split(whereSeparator: \.isWhitespace)
            .compactMap { Int($0) }.first ?? 0
        }
        return sizes[1] > 0 && sizes[1] < sizes[0] * 4 / 5
      }
      try pane.press("c", until: "Title")
    }

    @Test("A terminal starts while others claim and release their slots")
    func startsBesideOthers() throws {
      let sandbox = try Sandbox()
      try sandbox.hearth("--plain")
      let state = sandbox.directory + "/state"
      let locks = try FileManager.default.subpathsOfDirectory(atPath: state)
        .filter { $0.contains("/offline/") && $0.hasSuffix("/0.lock") }
      try #require(locks.count == 1, "\(locks)")
      let neighbour = RestlessNeighbour(lock: "\(state)/\(locks[0])")
      for _ in 1...40 {
        try sandbox.succeed("--plain")
      }
      #expect(neighbour.leave() > 1_000)
    }
  }
}

/// Repeatedly takes a terminal's lock and releases it immediately, on a thread of its own, until it
/// is told to leave or is released.
private final class RestlessNeighbour: Sendable {
  private let state = NIOLockedValueBox((isStaying: true, visits: 0))

  init(lock path: String) {
    Thread.detachNewThread { [state] in
      while state.withLockedValue({ $0.isStaying }) {
        let descriptor = open(path, O_RDWR | O_CLOEXEC)
        if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { state.withLockedValue { $0.visits += 1 } }
        close(descriptor)
      }
    }
  }

  deinit { _ = leave() }

  /// Stops it, and returns how often it held the lock.
  func leave() -> Int {
    state.withLockedValue { state in
      state.isStaying = false
      return state.visits
    }
  }
}
