import Foundation
import Testing

extension EndToEnd {
  /// A requested star is set exactly once, whichever process ends before that.
  @Suite("Star durability", .needsTmux)
  struct StarDurabilityTests {
    @Test("A star of a terminal killed before delivery is sent by the next terminal")
    func killedTerminal() throws {
      let sandbox = try Sandbox()
      let id = try sandbox.post("t", by: "bob")
      let pane = try sandbox.open(as: "alice")
      try pane.waitFor("bob")
      try pane.waitUntilAtHome(as: "alice")
      let server = try #require(try sandbox.serverProcess())
      kill(server, SIGSTOP)
      try pane.press("s")
      try pane.waitFor("the star is shown") { $0.contains(try! Regex("★ +1")) }
      kill(try pane.process(), SIGKILL)
      // The server no longer reads anything that it was sent.
      kill(server, SIGKILL)
      let before = try object(sandbox.hearth("export").output)
      #expect(Self.counts(of: id, in: before) == [0, 0])
      _ = try sandbox.open(as: "alice")
      try waitUntil("both places have the star", within: 60) {
        Self.counts(of: id, in: try object(sandbox.hearth("export").output)) == [1, 1]
      }
      #expect(try sandbox.hearth("fsck").output == "1 post, 0 comments, 1 star: no fault\n")
    }

    @Test("One user starring from many processes counts once")
    func oneUser() throws {
      let sandbox = try Sandbox()
      let id = try sandbox.post("t", by: "bob")
      let hands = try (0..<6).map { number in
        let times = number.isMultiple(of: 2) ? "20" : "21"
        let star = ["star", id, "--times", times, "--user", "alice", "--timeout", "120"]
        return try sandbox.start(star)
      }
      #expect(hands.map { $0.wait() } == Array(repeating: 0, count: hands.count))
      try sandbox.succeed("star", id, "--user", "alice")
      #expect(Self.counts(of: id, in: try object(sandbox.hearth("export").output)) == [1, 1])
      #expect(try sandbox.hearth("fsck").output == "1 post, 0 comments, 1 star: no fault\n")
    }

    @Test("Both star strategies count alike", arguments: ["increment", "transaction"])
    func strategies(strategy: String) throws {
      let sandbox = try Sandbox()
      // A post as older versions and other programs have written it: without counts or a copy.
      let post = #"{"uid": "bob", "author": "bob", "title": "t", "body": "b"}"#
      try sandbox.hearth("set", "/posts/old", post)
      try sandbox.succeed("star", "old", "--stars", strategy, "--user", "alice")
      #expect(try sandbox.hearth("get", "/posts/old/starCount").output == "1\n")
      #expect(try sandbox.hearth("get", "/posts/old/stars/alice").output == "true\n")
      #expect(try sandbox.hearth("get", "/user-posts").output == "null\n")
      try sandbox.succeed("unstar", "old", "--stars", strategy, "--user", "alice")
      #expect(try sandbox.hearth("get", "/posts/old/starCount").output == "0\n")
    }

    /// The counts of a post and of its author's copy.
    private static func counts(of id: String, in root: [String: Any]) -> [Int?] {
      let post = (root["posts"] as? [String: [String: Any]])?[id]
      let copies = root["user-posts"] as? [String: [String: [String: Any]]]
      return [post, copies?["bob"]?[id]].map { $0?["starCount"] as? Int }
    }
  }
}
