import Foundation
import Testing

extension EndToEnd {
  /// Terminals whose server goes away and comes back.
  @Suite("Outages", .enabled(if: Tmux.isInstalled, "tmux is not installed"))
  struct OutageTests {
    /// The titles of a list with their stars, without what depends on the time.
    private func list(_ screen: String) throws -> [String] {
      let signs = try Regex("^[▌ ][ •◌·✓]")
      let times = try Regex("  (now|[0-9]+[smh])  .*[☆★]")
      return screen.split(separator: "\n").map(String.init).filter { $0.contains("Post ") }.map {
        $0.replacing(signs, with: "").replacing(times, with: "")
      }
    }

    @Test(
      "Terminals survive an outage of some seconds and then match a new one"
    )
    func views() throws {
      let sandbox = try Sandbox()
      let tmux = Tmux(sandbox)
      let socket = sandbox.directory + "/run/own.sock"
      let arguments = ["serve", "--socket", socket, "--data-dir", sandbox.directory + "/own"]
      func serve() throws -> Spawned {
        let server = try Spawned(Sandbox.program, arguments, environment: sandbox.environment)
        try waitUntil("the server answers", within: 60) {
          try sandbox.hearth("list", "--database", "unix:\(socket)?ns=hearth").status == 0
        }
        return server
      }
      var server = try serve()
      defer { server.terminate() }
      let database = "--database 'unix:\(socket)?ns=hearth'"
      let alice = try tmux.open("\(Sandbox.program) --user alice \(database)")
      let bob = try tmux.open("\(Sandbox.program) --user bob \(database)")
      for pane in [alice, bob] { try pane.waitFor("online", within: 30) }
      for number in 1...5 {
        try sandbox.run(
          [
            "post", "--title", "Post \(number)", "--body", "b", "--user", "carol", "--database",
            "unix:\(socket)?ns=hearth",
          ],
          environment: sandbox.environment
        )
      }
      for pane in [alice, bob] { try pane.waitFor("Post 5", within: 30) }

      kill(server.processIdentifier, SIGKILL)
      server.wait()
      // The socket file still exists, but nothing listens: that is reported immediately.
      for pane in [alice, bob] {
        try pane.waitFor("why, and when it is tried next", within: 30) {
          $0.contains("connection refused") && $0.contains("next try in")
        }
      }
      let refused = try sandbox.hearth(
        "list",
        "--database",
        "unix:\(socket)?ns=hearth",
        "--timeout",
        "2"
      )
      #expect(refused.status == 5)
      #expect(refused.errors.contains("connection refused"), "\(refused.errors)")
      // Both terminals keep working: their writes wait, and the countdown runs.
      try alice.press("s")
      try bob.press("j", "s")
      try alice.press("c")
      try alice.waitFor("New post")
      try alice.type("Post 6")
      try alice.press("Tab")
      try alice.type("from offline")
      try alice.press("C-s")
      try alice.waitFor("Post 6")
      for pane in [alice, bob] { #expect(try pane.isOpen) }

      server = try serve()
      for pane in [alice, bob] {
        try pane.waitFor("everything is stored", within: 60) {
          $0.contains("● online") && !$0.contains("not acknowledged")
        }
      }
      try bob.waitFor("Post 6", within: 30)
      let carol = try tmux.open("\(Sandbox.program) --user carol \(database)")
      try carol.waitFor("Post 1", within: 30)
      try waitUntil("all show the same", within: 30) {
        let fresh = try list(carol.screen())
        guard fresh.count == 6 else { return false }
        return try [alice, bob].allSatisfy { try list($0.screen()) == fresh }
      }
      let check = try sandbox.hearth("fsck", "--database", "unix:\(socket)?ns=hearth")
      #expect(check.status == 0, "\(check.output)")
    }

    @Test(
      "A hanging server is reported in seconds, offline after ten and online again at once"
    )
    func hung() throws {
      let sandbox = try Sandbox()
      let tmux = Tmux(sandbox)
      let socket = sandbox.directory + "/run/own.sock"
      let arguments = ["serve", "--socket", socket, "--data-dir", sandbox.directory + "/own"]
      let server = try Spawned(Sandbox.program, arguments, environment: sandbox.environment)
      defer {
        kill(server.processIdentifier, SIGCONT)
        server.terminate()
      }
      let database = "unix:\(socket)?ns=hearth"
      try waitUntil("the server answers", within: 60) {
        try sandbox.hearth("list", "--database", database).status == 0
      }
      let alice = try tmux.open("\(Sandbox.program) --user alice --database '\(database)'")
      try alice.waitFor("● online", within: 30)
      kill(server.processIdentifier, SIGSTOP)
      try alice.waitFor("◐ no answer for", within: 60)
      #expect(try !alice.screen().contains(" ms "))
      try alice.waitFor("○ offline: no answer", within: 30)
      let carol = try tmux.open("\(Sandbox.program) --user carol --database '\(database)'")
      try carol.waitFor("Waiting for an answer from the local server", within: 30)
      // A read leaves no doubt about its outcome.
      let list = try sandbox.hearth("list", "--database", database, "--timeout", "2")
      #expect(list.status == 5)
      #expect(list.errors.contains("no answer from the local server at \(socket) within 2 s"))
      #expect(!list.errors.contains("may or may not"))
      kill(server.processIdentifier, SIGCONT)
      for pane in [alice, carol] { try pane.waitFor("● online", within: 60) }
    }

    @Test(":net off disconnects one terminal, and :net on delivers what it missed")
    func network() throws {
      let sandbox = try Sandbox()
      let tmux = Tmux(sandbox)
      let alice = try tmux.open("\(Sandbox.program) --user alice")
      try alice.waitFor("online", within: 30)
      try alice.type(":net off")
      try alice.press("Enter")
      try alice.waitFor("offline by :net off")
      try sandbox.hearth("post", "--title", "Missed", "--body", "b", "--user", "bob")
      #expect(try !alice.screen().contains("Missed"))
      try alice.type(":net on")
      try alice.press("Enter")
      try alice.waitFor("Missed", within: 30)
      try alice.waitFor("online")
    }

    @Test("A comment on the user's own post notifies by OSC 9, and a burst notifies once")
    func notifications() throws {
      let sandbox = try Sandbox()
      let tmux = Tmux(sandbox)
      let post = try sandbox.hearth("post", "--title", "Mine", "--body", "b", "--user", "alice")
        .lines[0]
      let alice = try tmux.open("\(Sandbox.program) --user alice")
      try alice.waitFor("Mine", within: 30)
      try alice.type(":set notifications true")
      try alice.press("Enter")
      try alice.waitFor("notifications is now true")
      let bytes = sandbox.directory + "/bytes"
      try tmux.tmux(["pipe-pane", "-t", "pane1", "cat > \(bytes)"])
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
