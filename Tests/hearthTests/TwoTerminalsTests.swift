import Foundation
import Testing

extension EndToEnd {
  /// Two users, two terminals, one blog: everything through keys and screens.
  @Suite("Two terminals", .needsTmux)
  struct TwoTerminalsTests {
    @Test("Posts, stars and comments reach the other terminal, even if the server is killed")
    func wholeWay() throws {
      let sandbox = try Sandbox()
      let alice = try sandbox.open(as: "alice")
      let bob = try sandbox.open(as: "bob")
      try bob.waitFor("No posts yet - why not add one?")

      // A post written with keys in one terminal appears in the other.
      try alice.compose("Hello from alice", "Is anyone there?")
      try alice.waitFor("Hello from alice")
      #expect(selected(try alice.screen()).contains("Hello from alice"))
      try bob.waitFor("Hello from alice")

      // A star in one terminal changes the count in the other.
      try bob.press("s")
      try alice.waitFor("the count is 1") { $0.contains(try! Regex("Hello from alice.*☆ +1")) }
      try bob.waitFor("my star") { $0.contains(try! Regex("Hello from alice.*★ +1")) }

      // Comments arrive in both directions.
      try alice.press("Enter")
      try bob.press("Enter", until: "Is anyone there?")
      try comment(in: bob, "I am here.")
      try alice.waitFor("I am here.")

      // The server is killed; both terminals continue with a new one.
      let first = try #require(try sandbox.serverProcess())
      kill(first, SIGKILL)
      try comment(in: alice, "Still with me?")
      try bob.waitFor("Still with me?")
      try comment(in: bob, "Always.")
      try alice.waitFor("Always.")
      let second = try #require(try sandbox.serverProcess())
      #expect(second != first)

      try alice.waitUntilAcknowledged()
      try bob.waitUntilAcknowledged()
      let check = try sandbox.succeed("fsck")
      #expect(check.output == "1 post, 3 comments, 1 star: no fault\n")
      // A terminal is killed; the other is unaffected.
      kill(try alice.process(), SIGKILL)
      try comment(in: bob, "Good night.")
      let post = try object(try sandbox.hearth("list", "--json").lines[0])
      let id = try #require(post["id"] as? String)
      let shown = try object(sandbox.hearth("show", id, "--json").output)
      let texts = (shown["comments"] as? [[String: Any]])?.compactMap { $0["text"] as? String }
      #expect(texts == ["I am here.", "Still with me?", "Always.", "Good night."])
    }

    @Test("Offline writes arrive exactly once and in order when the server is back")
    func offline() throws {
      let sandbox = try Sandbox()
      let server = try sandbox.serveApart()
      let database = server.localURL
      let alice = try sandbox.open(as: "alice", "--database '\(database)'")
      try alice.waitUntilAtHome(as: "alice", in: database)
      server.process.kill()
      try alice.waitFor("Offline")

      for number in 1...3 {
        try alice.compose("Offline \(number)", "written without a server")
        try alice.waitFor("Offline \(number)")
        try alice.press("s")
        try alice.waitFor("the star shows") { $0.contains(try! Regex("Offline \(number).*★ +1")) }
      }
      // Three posts and three stars wait; the copies of the stars follow once these are stored.
      try alice.waitFor("6 not acknowledged")
      try sandbox.serveApart()
      try alice.waitUntilAcknowledged()
      let list = try sandbox.hearth("list", "--json", "--database", database)
      let posts = try list.lines.map(object)
      #expect(posts.map { $0["title"] as? String } == ["Offline 3", "Offline 2", "Offline 1"])
      #expect(posts.map { $0["starCount"] as? Int } == [1, 1, 1])
      let check = try sandbox.hearth("fsck", "--database", database)
      #expect(check.output == "3 posts, 0 comments, 3 stars: no fault\n")
    }

    private func comment(in pane: Sandbox.Pane, _ text: String) throws {
      try pane.press("c", until: "Enter send")
      try pane.enter(text)
      try pane.waitFor("the comment shows") {
        $0.contains("│   \(text)") || $0.contains("▌   \(text)")
      }
      try pane.waitFor("c comment")
    }

    private func selected(_ screen: String) -> String {
      screen.split(separator: "\n").first { $0.hasPrefix("▌") }.map(String.init) ?? ""
    }
  }
}
