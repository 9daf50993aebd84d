import Foundation
import Testing

extension EndToEnd {
  /// The program without a screen.
  @Suite("Commands")
  struct CommandTests {
    private let sandbox: Sandbox

    init() throws { sandbox = try Sandbox() }

    @Test("Notices can be listed and marked as read")
    func notices() throws {
      func hearth(_ user: String, _ arguments: String...) throws -> [String] {
        let words = arguments + ["--user", user]
        let outcome = try sandbox.run(words)
        #expect(outcome.status == 0, "\(words): \(outcome.errors)")
        return outcome.lines
      }
      #expect(try hearth("ann", "notices") == [])
      let id = try hearth("ann", "post", "--title", "Tea", "--body", "B")[0]
      let comment = try hearth("bob", "comment", id, "Lovely, @ann")[0]
      _ = try hearth("bob", "star", id)
      let own = try hearth("ann", "comment", id, "Thanks", "--answer", comment)[0]
      let answer = try hearth("bob", "comment", id, "And you?", "--answer", own)[0]
      let found = try hearth("ann", "notices", "--json").map(object)
      #expect(found.allSatisfy { $0["unread"] as? Bool == true && $0["post"] as? String == id })
      #expect(Set(found.compactMap { $0["kind"] as? String }) == ["reply", "mention", "stars"])
      #expect(Set(found.compactMap { $0["comment"] as? String }) == [comment, answer])
      let lines = try hearth("ann", "notices")
      #expect(lines.contains("* \(id)  now  bob answered you on Tea"), "\(lines)")
      #expect(lines.contains { $0.hasSuffix("1 star of others on Tea") }, "\(lines)")
      // What bob does in reply to ann is a notice of his.
      #expect(try hearth("bob", "notices", "--unread").count == 1)

      _ = try hearth("ann", "read", id)
      #expect(try hearth("ann", "notices").count == 3)
      #expect(try hearth("ann", "notices", "--unread") == [])
      _ = try hearth("ann", "unread", id)
      #expect(try hearth("ann", "notices", "--unread").count == 2)
      _ = try hearth("ann", "read", "--all")
      #expect(try hearth("ann", "notices", "--unread") == [])
      _ = try hearth("bob", "comment", id, "More")
      #expect(try hearth("ann", "notices", "--unread").count == 1)
      #expect(try sandbox.hearth("read", "nowhere").status == 3)
      #expect(try sandbox.hearth("read").status == 2)
    }

    @Test("The name can be printed and changed, except with --user, and posts keep their author")
    func name() throws {
      #expect(try sandbox.hearth("name", "--user", "ann").output == "ann\n")
      try sandbox.refuse("name", "bee", "--user", "ann", says: "that of --user")
      let before = try object(sandbox.hearth("name", "--json").output)
      let post = try sandbox.post("t")
      #expect(try sandbox.hearth("name", "Bee B.").output == "Bee B.\n")
      #expect(try sandbox.hearth("name", "a\u{7}").status == 2)
      try sandbox.hearth("comment", post, "By another name")
      let shown = try object(sandbox.hearth("show", post, "--json").output)
      let comment = (shown["comments"] as? [[String: Any]])?.first
      #expect(shown["author"] as? String == before["name"] as? String)
      #expect(comment?["author"] as? String == "Bee B.")
      #expect(comment?["uid"] as? String == shown["uid"] as? String)
      #expect(before["uid"] as? String == shown["uid"] as? String)
      #expect(try sandbox.hearth("name").output == "Bee B.\n")
    }

    @Test("Texts of the maximum length are printed in full")
    func longTexts() throws {
      let body = String(repeating: "word ", count: 13_100) + "the-last-word"
      let text = String(repeating: "word ", count: 1_995) + "\nits-last-line"
      func alice(_ words: String..., input: String) throws -> Sandbox.Outcome {
        try sandbox.run(words + ["--user", "alice"], input: input)
      }
      let id = try alice("post", "--title", "T", "--body", "-", input: body).lines[0]
      #expect(try alice("comment", id, "-", input: text).status == 0)
      let shown = try sandbox.hearth("show", id).output
      #expect(shown.contains(body) && shown.contains("\n  its-last-line\n"))
      let plain = try alice("--plain", input: "open 1\nquit\n").output
      #expect(plain.contains(body) && plain.contains("\n  its-last-line ("))
    }

    @Test("The sample blog imports, passes fsck and prints no control characters")
    func sample() throws {
      let file = Sandbox.package + "/assets/sample/blog.json"
      #expect(try sandbox.hearth("import", file).status == 0)
      #expect(try sandbox.hearth("fsck").status == 0)
      var printed = ""
      for line in try sandbox.hearth("list", "--json").lines {
        let id = try #require(try object(line)["id"] as? String)
        printed += line + (try sandbox.hearth("show", id).output)
      }
      printed += try sandbox.hearth("list").output
      printed += try sandbox.hearth("export").output
      let dangerous = printed.unicodeScalars.filter { scalar in
        scalar != "\n"
          && [.control, .format, .lineSeparator, .paragraphSeparator]
            .contains(scalar.properties.generalCategory)
      }
      #expect(Array(dangerous) == [])
    }

    @Test("The server exits some seconds after the last client disconnects")
    func serverLeaves() throws {
      try sandbox.hearth("list")
      let server = try #require(try sandbox.serverProcess())
      let name = try String(contentsOfFile: "/proc/\(server)/comm", encoding: .utf8)
      #expect(name == "hearth\n")
      try waitUntil("the server leaves") { try sandbox.serverProcess() == nil }
    }

    @Test("The name of another socket does not stop the server of the usual data")
    func otherSocket() throws {
      try sandbox.hearth("set", "/x", "1")
      let server = try #require(try sandbox.serverProcess())
      let outcome = try sandbox.hearth("stop", "--socket", sandbox.directory + "/other.sock")
      #expect(outcome.status == 0)
      #expect(try sandbox.serverProcess() == server)
    }

    @Test("Of programs that start together, one starts the server and all use it")
    func together() throws {
      let sandbox = try Sandbox()
      let posts = try (0..<10).map { number in
        try sandbox.start("post", "--title", "\(number)", "--body", "b")
      }
      for post in posts { #expect(post.wait() == 0) }
      let list = try sandbox.hearth("list", "recent", "--json").output
      #expect(list.split(separator: "\n").count == 10)
      let log = sandbox.directory + "/state/hearth/server.log"
      let lines = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
      #expect(!lines.contains("in use by another server"), "\(lines)")
    }
  }
}
