import Foundation
import Testing

extension EndToEnd {
  /// What a terminal stores for the next one.
  @Suite("Reading in terminals", .needsTmux)
  struct ReadingInTerminalsTests {
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
