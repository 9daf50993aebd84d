import Foundation
import Testing

extension EndToEnd {
  /// Terminals whose server goes away and comes back.
  @Suite("Outages", .needsTmux)
  struct OutageTests {
    /// The titles of a list with their stars, without what depends on the time.
    private func list(_ screen: String) throws -> [String] {
      let signs = try Regex("^[▌ ][ •◌·✓]")
      let times = try Regex("  (now|[0-9]+[smh])  .*[☆★]")
      return screen.split(separator: "\n").map(String.init).filter { $0.contains("Post ") }.map {
        $0.replacing(signs, with: "").replacing(times, with: "")
      }
    }

    @Test("Terminals survive an outage of some seconds and then match a new one")
    func views() throws {
      let sandbox = try Sandbox()
      let server = try sandbox.serveApart()
      let database = server.localURL
      let option = "--database '\(database)'"
      let alice = try sandbox.open(as: "alice", option)
      let bob = try sandbox.open(as: "bob", option)
      for number in 1...5 {
        let post = ["post", "--title", "Post \(number)", "--body", "b", "--user", "carol"]
        try sandbox.run(post + ["--database", database])
      }
      for pane in [alice, bob] { try pane.waitFor("Post 5", within: 30) }

      server.process.kill()
      // The socket file still exists, but nothing listens: that is reported immediately.
      for pane in [alice, bob] {
        try pane.waitFor("why, and when it is tried next", within: 30) {
          $0.contains("connection refused") && $0.contains("next try in")
        }
      }
      let refused = try sandbox.hearth("list", "--database", database, "--timeout", "2")
      #expect(refused.status == 5)
      #expect(refused.errors.contains("connection refused"), "\(refused.errors)")
      // Both terminals keep working: their writes wait, and the countdown runs.
      try alice.press("s")
      try bob.press("j", "s")
      try alice.compose("Post 6", "from offline")
      try alice.waitFor("Post 6")
      for pane in [alice, bob] { #expect(try pane.isOpen) }

      try sandbox.serveApart()
      for pane in [alice, bob] {
        try pane.waitFor("everything is stored", within: 60) {
          $0.contains("● online") && !$0.contains("not acknowledged")
        }
      }
      try bob.waitFor("Post 6", within: 30)
      let carol = try sandbox.open(as: "carol", option)
      try carol.waitFor("Post 1", within: 30)
      try waitUntil("all show the same", within: 30) {
        let fresh = try list(carol.screen())
        guard fresh.count == 6 else { return false }
        return try [alice, bob].allSatisfy { try list($0.screen()) == fresh }
      }
      try sandbox.succeed("fsck", "--database", database)
    }

    @Test("A hanging server is reported in seconds, offline after ten and online again at once")
    func hung() throws {
      let sandbox = try Sandbox()
      let server = try sandbox.serveApart()
      let database = server.localURL
      let alice = try sandbox.open(as: "alice", "--database '\(database)'")
      kill(server.process.processIdentifier, SIGSTOP)
      try alice.waitFor("◐ no answer for", within: 60)
      #expect(try !alice.screen().contains(" ms "))
      try alice.waitFor("○ offline: no answer", within: 30)
      let carol = try sandbox.open("\(Sandbox.program) --user carol --database '\(database)'")
      try carol.waitFor("Waiting for an answer from the local server", within: 30)
      // A read leaves no doubt about its outcome.
      let list = try sandbox.hearth("list", "--database", database, "--timeout", "2")
      #expect(list.status == 5)
      #expect(
        list.errors.contains("no answer from the local server at \(server.socket) within 2 s")
      )
      #expect(!list.errors.contains("may or may not"))
      kill(server.process.processIdentifier, SIGCONT)
      for pane in [alice, carol] { try pane.waitFor("● online", within: 60) }
    }

    @Test(":net off disconnects one terminal, and :net on delivers what it missed")
    func network() throws {
      let sandbox = try Sandbox()
      let alice = try sandbox.open(as: "alice")
      try alice.enter(":net off", until: "offline by :net off")
      try sandbox.post("Missed", by: "bob")
      #expect(try !alice.screen().contains("Missed"))
      try alice.enter(":net on")
      try alice.waitFor("Missed", within: 30)
      try alice.waitFor("online")
    }

    @Test("A comment on the user's own post notifies by OSC 9, and a burst notifies once")
    func notifications() throws {
      let sandbox = try Sandbox()
      let post = try sandbox.post("Mine", by: "alice")
      let alice = try sandbox.open(as: "alice")
      try alice.waitFor("Mine", within: 30)
      try alice.enter(":set notifications true", until: "notifications is now true")
      let bytes = sandbox.directory + "/bytes"
      try sandbox.tmux(["pipe-pane", "-t", "pane1", "cat > \(bytes)"])
      let sequence = "\u{1B}]9;bob commented on \"Mine\".\u{07}"
      func count() -> Int {
        guard let data = FileManager.default.contents(atPath: bytes) else { return 0 }
        return String(decoding: data, as: UTF8.self).components(separatedBy: sequence).count - 1
      }
      let start = Date()
      try waitUntil("a notification", within: 60) {
        // The first comments may count as those that existed when notifications were switched on.
        try sandbox.hearth("comment", post, "Hello", "--user", "bob")
        return count() > 0
      }
      for _ in 1...5 { try sandbox.hearth("comment", post, "Again", "--user", "bob") }
      try alice.waitFor("bob commented on")
      let text = FileManager.default.contents(atPath: bytes) ?? Data()
      #expect(text.contains(0x07))
      // One immediately, and then at most one in five seconds, however many comments there are.
      #expect(count() <= 2 + Int(Date().timeIntervalSince(start) / 5))
    }
  }
}
