import Foundation
import Testing

extension EndToEnd {
  /// The program without a screen.
  @Suite("Commands")
  struct CommandTests {
    @Test("A post goes from writing to listing, showing, commenting, starring and deleting")
    func roundTrip() throws {
      let sandbox = try Sandbox()
      let written = try sandbox.hearth(
        "post",
        "--title",
        "Tea",
        "--body",
        "-",
        "--json",
        "--user",
        "alice",
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
      #expect(
        try sandbox.hearth("get", "/").output
          == "{\"users\":{\"alice\":{\"username\":\"alice\"},\"bob\":{\"username\":\"bob\"}}}\n"
      )
    }

    @Test("Top lists have the most stars first")
    func topOrder() throws {
      let sandbox = try Sandbox()
      var ids: [String] = []
      for title in ["one", "two", "none"] {
        ids += try sandbox.hearth("post", "--title", title, "--body", "b", "--user", "alice").lines
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

    @Test("Any JSON can be set, read, watched and exported as it was")
    func data() throws {
      let sandbox = try Sandbox()
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

    @Test(
      "The sample blog imports, checks without a fault, and prints nothing that steers a terminal"
    )
    func sample() throws {
      let sandbox = try Sandbox()
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

    @Test("fsck finds a count that is wrong and copies that differ")
    func faults() throws {
      let sandbox = try Sandbox()
      try sandbox.hearth("import", Sandbox.package + "/assets/sample/blog.json")
      let id = try #require(
        try object(sandbox.hearth("list", "top", "--json").lines[0])["id"] as? String
      )
      try sandbox.hearth("set", "/posts/\(id)/starCount", "99")
      let check = try sandbox.hearth("fsck")
      #expect(check.status == 1)
      #expect(check.output.contains("/posts/\(id): starCount is 99, but there are 8 stars"))
      #expect(check.output.contains("differs from /posts/\(id) in starCount"))
    }

    @Test("An ephemeral database is shared while it is used, and keeps nothing on disk")
    func ephemeral() throws {
      let sandbox = try Sandbox()
      #expect(try sandbox.hearth("post", "--title", "T", "--body", "B", "--ephemeral").status == 0)
      #expect(try sandbox.hearth("list", "--ephemeral").lines.count == 1)
      #expect(
        !FileManager.default.fileExists(atPath: sandbox.directory + "/data/hearth/database.sqlite")
      )
      try sandbox.hearth("stop", "--ephemeral")
      #expect(try sandbox.hearth("list", "--ephemeral").output.isEmpty)
      try sandbox.hearth("stop", "--ephemeral")
    }

    @Test("The server leaves some seconds after the last one has gone")
    func serverLeaves() throws {
      let sandbox = try Sandbox()
      try sandbox.hearth("list")
      #expect(try sandbox.serverProcess() != nil)
      try waitUntil("the server leaves") { try sandbox.serverProcess() == nil }
    }

    @Test("A shell with another environment finds the same server")
    func otherEnvironment() throws {
      let sandbox = try Sandbox()
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

    @Test("The same server answers on a port of this machine")
    func port() throws {
      let sandbox = try Sandbox()
      let output = sandbox.directory + "/ready"
      let rules = sandbox.directory + "/rules.json"
      try #"{"rules":{".read":true,".write":true}}"#
        .write(toFile: rules, atomically: true, encoding: .utf8)
      let server = try sandbox.start("serve", "--port", "0", "--rules", rules, output: output)
      defer { server.terminate() }
      try waitUntil("the server is ready") {
        try String(contentsOfFile: output, encoding: .utf8).hasSuffix("\n")
      }
      let ready = try object(String(contentsOfFile: output, encoding: .utf8))
      let port = try #require(ready["port"] as? Int)
      let url = "http://127.0.0.1:\(port)?ns=hearth"
      #expect(try sandbox.hearth("set", "/x", "1", "--database", url).status == 0)
      #expect(try sandbox.hearth("get", "/x").output == "1\n")
    }
  }
}
