import Foundation
import Testing

extension EndToEnd {
  /// The program without a screen.
  @Suite("Commands")
  struct CommandTests {
    private let sandbox: Sandbox

    init() throws { sandbox = try Sandbox() }

    @Test("A post can be written, listed, shown, commented on, starred and deleted")
    func roundTrip() throws {
      let written = try sandbox.run(
        ["post", "--title", "Tea", "--body", "-", "--json", "--user", "alice"],
        input: "First line\nsecond line\n"
      )
      let id = try #require(try object(written.output)["id"] as? String)
      let comment = try sandbox.hearth("comment", id, "Lovely", "--user", "bob").lines[0]
      try sandbox.hearth("star", id, "--user", "bob")

      let listed = try object(sandbox.hearth("list", "recent", "--json").output)
      #expect(
        Set(listed.keys)
          == ["id", "uid", "author", "title", "body", "starCount", "stars", "createdAt"]
      )
      #expect(listed["title"] as? String == "Tea")
      #expect(listed["body"] as? String == "First line\nsecond line")
      #expect(listed["author"] as? String == "alice")
      #expect(listed["starCount"] as? Int == 1)
      #expect(listed["stars"] as? [String: Bool] == ["bob": true])
      let created = try #require(listed["createdAt"] as? Double)
      #expect(abs(created / 1_000 - Date().timeIntervalSince1970) < 60)

      let shown = try sandbox.hearth("show", id).output
      #expect(shown.hasPrefix("Tea\nalice, now, 1 star\n\n  First line\n  second line\n"))
      #expect(shown.contains("bob, now\n  Lovely\n"))

      #expect(try sandbox.hearth("list", "mine", "--user", "bob").output.isEmpty)
      #expect(try sandbox.hearth("list", "mine", "--user", "alice").lines.count == 1)
      try sandbox.hearth("unstar", id, "--user", "bob")
      #expect(try object(sandbox.hearth("show", id, "--json").output)["starCount"] as? Int == 0)

      #expect(try sandbox.hearth("delete", id, comment, "--user", "alice").status == 4)
      #expect(try sandbox.hearth("delete", id, comment, "--user", "bob").status == 0)
      #expect(try sandbox.hearth("delete", id, "--user", "bob").status == 4)
      #expect(try sandbox.hearth("delete", id, "--user", "alice").status == 0)
      #expect(try sandbox.hearth("list").output.isEmpty)
      // What remains is that nobody can use the keys again.
      let keys = #"{"\#(id)":{"\#(id)":"alice","\#(comment)":"bob"}}"#
      #expect(
        try sandbox.hearth("get", "/").output
          == #"{"deleted":\#(keys),"users":{"alice":{"username":"alice"},"#
          + #""bob":{"username":"bob"}}}"# + "\n"
      )
    }

    @Test("Muted users appear in no list, search or notice; bookmarks are a list")
    func muting() throws {
      func post(_ title: String, by name: String) throws -> String {
        try sandbox.post(title, "Tea", by: name)
      }
      func seen(_ words: String...) throws -> String {
        try sandbox.run(words + ["--user", "ann"]).output
      }
      let own = try post("Mine", by: "ann")
      let loud = try post("Loud", by: "bob")
      try sandbox.hearth("comment", own, "A remark", "--user", "bob")
      for words in [["list"], ["search", "tea"]] {
        let output = try sandbox.run(words + ["--user", "ann"])
        #expect(output.lines.count == 2)
      }
      #expect(try seen("mute", "bob") == "")
      #expect(try !seen("list").contains("Loud") && seen("list").contains("Mine"))
      #expect(try !seen("search", "tea").contains("Loud"))
      #expect(try !seen("show", own).contains("A remark"))
      #expect(try seen("notices") == "")
      // Others see everything, and so does whoever asks for this post.
      #expect(try sandbox.hearth("list", "--user", "eve").lines.count == 2)
      #expect(try seen("show", loud).contains("Loud"))
      _ = try seen("bookmark", loud)
      #expect(try seen("list", "bookmarks").contains("Loud"))
      _ = try seen("unbookmark", loud)
      #expect(try seen("list", "bookmarks") == "")
      _ = try seen("unmute", "bob")
      #expect(try seen("list").contains("Loud") && seen("show", own).contains("A remark"))
      _ = try seen("block", "bob")
      #expect(try seen("get", "/blocked/ann").contains("bob"))
      #expect(try sandbox.hearth("comment", own, "Again", "--user", "bob").status == 4)
      #expect(try sandbox.hearth("comment", loud, "On my own", "--user", "bob").status == 0)
      _ = try seen("unblock", "bob")
      #expect(try seen("get", "/blocked/ann") == "null\n")
      #expect(try sandbox.hearth("comment", own, "Again", "--user", "bob").status == 0)
      #expect(try sandbox.hearth("mute", "nobody", "--user", "ann").status == 3)
      #expect(try sandbox.hearth("bookmark", "nothing", "--user", "ann").status == 3)
    }

    @Test("A search for what is unread finds the posts of others until they are read")
    func unread() throws {
      let id = try sandbox.post("Tea", "B", by: "ann")
      func found(by name: String) throws -> [String] {
        try sandbox.hearth("search", "unread", "--user", name).lines
      }
      #expect(try found(by: "bob").count == 1)
      #expect(try found(by: "ann") == [])
      try sandbox.hearth("read", id, "--user", "bob")
      #expect(try found(by: "bob") == [])
    }

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

    @Test("Drafts of terminals that have ended are listed, shown and deleted")
    func drafts() throws {
      let folder = sandbox.directory + "/state/hearth"
      #expect(try sandbox.hearth("drafts", "--user", "ann").output.isEmpty)
      let place = try #require(
        try FileManager.default.contentsOfDirectory(atPath: folder).first {
          $0.hasPrefix("drafts-")
        }
      )
      let kept = """
        {"posts":[{"title":"Old","body":"b"},{"title":"New","body":"one\\ntwo"}],
         "comments":{"p1":["Me too"]}}
        """
      try kept.write(toFile: "\(folder)/\(place)/1.json", atomically: true, encoding: .utf8)
      func hearth(_ arguments: String...) throws -> Sandbox.Outcome {
        try sandbox.run(["drafts"] + arguments + ["--user", "ann"])
      }
      let all = ["1  post: New", "2  post: Old", "3  comment on p1: Me too"]
      #expect(try hearth().lines == all)
      #expect(try hearth().lines == all)
      #expect(try hearth("show", "1").output == "New\n\none\ntwo\n")
      let json = try object(hearth("show", "3", "--json").output)
      #expect(json["text"] as? String == "Me too" && json["post"] as? String == "p1")
      #expect(try hearth("delete", "2").status == 0)
      #expect(try hearth().lines == ["1  post: New", "2  comment on p1: Me too"])
      #expect(try hearth("delete", "9").status == 3)
      for _ in 0..<2 { #expect(try hearth("delete", "1").status == 0) }
      #expect(try hearth().output.isEmpty)
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

    @Test("Top lists are sorted by stars, most first")
    func topOrder() throws {
      var ids: [String] = []
      for title in ["one", "two", "none"] {
        ids.append(try sandbox.post(title, by: "alice"))
      }
      try sandbox.hearth("star", ids[0], "--user", "bob")
      try sandbox.hearth("star", ids[1], "--user", "bob")
      try sandbox.hearth("star", ids[1], "--user", "carol")
      for list in ["top", "mytop"] {
        let titles = try sandbox.hearth("list", list, "--json", "--user", "alice").lines
          .map { try object($0)["title"] as? String }
        #expect(titles == ["two", "one", "none"])
      }
    }

    @Test("JSON round-trips through set, get, watch, export and import")
    func data() throws {
      #expect(
        try sandbox.hearth("set", "/notes/a", "{\"n\":1.5,\"t\":[true,null,\"é\"]}").status == 0
      )
      #expect(
        try sandbox.hearth("get", "notes/a").output == "{\"n\":1.5,\"t\":[true,null,\"é\"]}\n"
      )
      #expect(try sandbox.hearth("get", "/nothing").output == "null\n")
      let watched = try sandbox.hearth("watch", "/notes", "--count", "1", "--json")
      #expect(
        watched.output
          == "{\"event\":\"child_added\",\"path\":\"/notes/a\",\"previousKey\":null,"
          + "\"data\":{\"n\":1.5,\"t\":[true,null,\"é\"]}}\n"
      )
      let export = try sandbox.hearth("export").output
      try sandbox.hearth("import", "-", "--replace", input: export)
      #expect(try sandbox.hearth("export").output == export)
      try sandbox.hearth("set", "/notes/a", "null")
      #expect(try sandbox.hearth("get", "/").output == "null\n")
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

    @Test("import --sample needs no file and rejects one")
    func importedSample() throws {
      #expect(try sandbox.hearth("import", "--sample", "x.json").status == 2)
      #expect(try sandbox.hearth("import").errors.contains("--sample"))
      #expect(try sandbox.hearth("list").lines.isEmpty)
      #expect(try sandbox.hearth("import", "--sample").status == 0)
      #expect(try sandbox.hearth("list").lines.count > 5)
    }

    @Test("An ephemeral database is shared while in use and leaves nothing on disk")
    func ephemeral() throws {
      #expect(try sandbox.hearth("post", "--title", "T", "--body", "B", "--ephemeral").status == 0)
      #expect(try sandbox.hearth("list", "--ephemeral").lines.count == 1)
      #expect(
        !FileManager.default.fileExists(atPath: sandbox.directory + "/data/hearth/database.sqlite")
      )
      try sandbox.hearth("stop", "--ephemeral")
      // The server of the kept data is another one.
      #expect(try sandbox.hearth("list").status == 0)
      let beside = try sandbox.hearth("list", "--ephemeral")
      #expect(beside.status == 0 && beside.output.isEmpty, "\(beside.errors)")
      try sandbox.hearth("stop", "--ephemeral")
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

    @Test("Another data directory has its own server, whichever variable names it")
    func otherData() throws {
      #expect(try sandbox.hearth("set", "/x", "1").status == 0)
      var home = sandbox.environment
      home["HOME"] = sandbox.directory + "/home"
      home["XDG_DATA_HOME"] = nil
      var data = sandbox.environment
      data["XDG_DATA_HOME"] = sandbox.directory + "/elsewhere"
      for other in [home, data] {
        #expect(try sandbox.run(["get", "/x"], environment: other).output == "null\n")
        #expect(try sandbox.run(["set", "/x", "2"], environment: other).status == 0)
        #expect(try sandbox.run(["stop"], environment: other).status == 0)
      }
      #expect(try sandbox.hearth("get", "/x").output == "1\n")
    }

    @Test("A copied server record does not lead to the original's server")
    func copiedRecord() throws {
      #expect(try sandbox.hearth("set", "/x", "1").status == 0)
      let copy = sandbox.directory + "/copy"
      mkdir(copy, 0o700)
      try FileManager.default.copyItem(
        atPath: sandbox.directory + "/data/hearth/server",
        toPath: copy + "/server"
      )
      #expect(try sandbox.hearth("get", "/x", "--data-dir", copy).output == "null\n")
      #expect(try sandbox.hearth("stop", "--data-dir", copy).status == 0)
      #expect(try sandbox.hearth("get", "/x").output == "1\n")
    }

    @Test("A shell with another environment finds the same server")
    func otherEnvironment() throws {
      try sandbox.hearth("post", "--title", "T", "--body", "B")
      var other = sandbox.environment
      other["XDG_RUNTIME_DIR"] = nil
      #expect(try sandbox.run(["list"], environment: other).lines.count == 1)
      other["XDG_RUNTIME_DIR"] = "/nonexistent"
      #expect(try sandbox.run(["list"], environment: other).lines.count == 1)
      try sandbox.hearth("stop")
      #expect(try sandbox.run(["list"], environment: other).lines.count == 1)
      #expect(try sandbox.hearth("list").lines.count == 1)
    }
  }
}
