import Foundation
import Testing

extension EndToEnd {
  /// What readers see of each other, and what a terminal stores for the next one.
  @Suite("Reading in terminals", .needsTmux)
  struct ReadingInTerminalsTests {
    @Test("Online users are shown, and the server removes a killed one")
    func presence() throws {
      let sandbox = try Sandbox()
      let alice = try sandbox.open(as: "alice")
      let bob = try sandbox.open(as: "bob")
      try alice.waitFor("2 here")
      try alice.press("w", until: "Who is here")
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
      let first = try sandbox.open(as: "alice")
      let second = try sandbox.open(as: "alice")
      try sandbox.post("Older", by: "bob")
      try sandbox.post("News", by: "bob")
      for terminal in [first, second] {
        try terminal.waitFor("Older")
        try terminal.waitFor("a dot") { $0.contains("•Older") }
      }
      try first.press("g", "g", "j", "Enter", until: "bob ·")
      try second.waitFor("no dot") { $0.contains("Older") && !$0.contains("•Older") }
    }

    @Test("A post written offline in a program that then quits is stored exactly once")
    func offlineStart() throws {
      let sandbox = try Sandbox()
      let server = try sandbox.serveApart()
      let url = server.localURL
      let command = "\(Sandbox.program) --user alice --database '\(url)'"
      let early = try sandbox.open(command)
      try early.waitFor("No posts yet")
      try early.waitUntilAtHome(as: "alice", in: url)
      try early.press("q")
      server.process.kill()
      try? FileManager.default.removeItem(atPath: server.socket)

      let alice = try sandbox.open(command)
      try alice.waitFor("Offline")
      try alice.compose("Written offline")
      try alice.waitFor("1 not acknowledged")
      try alice.press("q", "y")
      try waitUntil("alice has left") { try !alice.isOpen }

      try sandbox.serveApart()
      let later = try sandbox.open(command)
      try later.waitFor("everything is stored", within: 30) {
        $0.contains("Written offline") && $0.contains("online") && !$0.contains("not acknowledged")
      }
      let list = try sandbox.hearth("list", "--json", "--database", url)
      #expect(list.lines.count == 1)
      #expect(try sandbox.hearth("fsck", "--database", url).status == 0)
    }
  }
}
