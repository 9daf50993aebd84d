import Foundation
import Testing

extension EndToEnd {
  /// What readers see of each other, and what a terminal stores for the next one.
  @Suite("Reading in terminals", .enabled(if: Tmux.isInstalled, "tmux is not installed"))
  struct ReadingInTerminalsTests {
    @Test("Online users are shown, and the server removes a killed one")
    func presence() throws {
      let sandbox = try Sandbox()
      let tmux = Tmux(sandbox)
      let alice = try tmux.open("\(Sandbox.program) --user alice")
      try alice.waitFor("online")
      let bob = try tmux.open("\(Sandbox.program) --user bob")
      try alice.waitFor("2 here")
      try alice.press("w")
      try alice.waitFor("Who is here")
      try alice.waitFor("bob  ")
      try alice.press("q")
      kill(try bob.process(), SIGKILL)
      try alice.waitFor("alice is alone") { !$0.contains("2 here") && !$0.contains("Who is here") }
      try alice.press("w")
      try alice.waitFor("alice only") { $0.contains("alice  ") && !$0.contains("bob") }
    }

    @Test("A post read in one terminal is read in the other")
    func readState() throws {
      let sandbox = try Sandbox()
      let tmux = Tmux(sandbox)
      let first = try tmux.open("\(Sandbox.program) --user alice")
      try first.waitFor("online")
      let second = try tmux.open("\(Sandbox.program) --user alice")
      try second.waitFor("online")
      try sandbox.hearth("post", "--title", "Older", "--body", "text", "--user", "bob")
      try sandbox.hearth("post", "--title", "News", "--body", "text", "--user", "bob")
      for terminal in [first, second] {
        try terminal.waitFor("Older")
        try terminal.waitFor("a dot") { $0.contains("•Older") }
      }
      try first.press("g", "g", "j", "Enter")
      try first.waitFor("bob ·")
      try second.waitFor("no dot") { $0.contains("Older") && !$0.contains("•Older") }
    }

    @Test("A post written offline in a program that then quits is stored exactly once")
    func offlineStart() throws {
      let sandbox = try Sandbox()
      let tmux = Tmux(sandbox)
      let socket = sandbox.directory + "/run/own.sock"
      let data = sandbox.directory + "/own"
      let url = "unix:\(socket)?ns=hearth"
      func serve() throws -> Spawned {
        let server = try sandbox.start("serve", "--socket", socket, "--data-dir", data)
        try waitUntil("the server listens") { FileManager.default.fileExists(atPath: socket) }
        return server
      }
      let server = try serve()
      let command = "\(Sandbox.program) --user alice --database '\(url)'"
      let early = try tmux.open(command)
      try early.waitFor("No posts yet")
      try early.waitUntilAtHome(as: "alice", in: url)
      try early.press("q")
      kill(server.processIdentifier, SIGKILL)
      server.wait()
      try? FileManager.default.removeItem(atPath: socket)

      let alice = try tmux.open(command)
      try alice.waitFor("Offline")
      try alice.press("c")
      try alice.waitFor("Title")
      try alice.type("Written offline")
      try alice.press("Tab")
      try alice.type("text")
      try alice.press("C-s")
      try alice.waitFor("1 not acknowledged")
      try alice.press("q", "y")
      try waitUntil("alice has left") { try !alice.isOpen }

      let again = try serve()
      defer { again.terminate() }
      let later = try tmux.open(command)
      try later.waitFor("everything is stored", within: 30) {
        $0.contains("Written offline") && $0.contains("online") && !$0.contains("not acknowledged")
      }
      let list = try sandbox.hearth("list", "--json", "--database", url)
      #expect(list.lines.count == 1)
      #expect(try sandbox.hearth("fsck", "--database", url).status == 0)
    }
  }
}
