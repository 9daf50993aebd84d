import Foundation
import Testing

extension EndToEnd {
  /// Maps of other people whose keys and texts look like paths, wherever they become paths.
  @Suite("Keys that look like paths", .timeLimit(.minutes(5)))
  struct HostileMapsTests {
    /// Names that data cannot have.
    private static let impossible = [
      "", "/", "a/b", "..", ".", ".sv", ".foo", ".info", ".priority", "a.b", "#", "$uid", "[0]",
      "a\u{1}",
      "/posts", "posts/other", "../posts", String(repeating: "x", count: 769),
    ]
    /// Names that are odd, and that data can have.
    private static let odd = [
      "\u{FEFF}", "\u{FEFF}a", "0", "00", "-1", "9007199254740993", "%2F", "%2e%2e", "a b", "\\",
      "\"", "é",
      "👩‍👩‍👧", "\u{202E}", "~", "*", "null", String(repeating: "x", count: 700),
    ]

    private func json(_ value: Any) throws -> String {
      let data = try JSONSerialization.data(withJSONObject: value, options: [.fragmentsAllowed])
      return String(decoding: data, as: UTF8.self)
    }

    @Test("are rejected by import and set if invalid, and never treated as paths")
    func refusedByAll() throws {
      let sandbox = try Sandbox()
      try sandbox.hearth("set", "/", #"{"posts":{"other":{"title":"kept"}},"a":{"b":1}}"#)
      let before = try sandbox.hearth("export").output
      for name in Self.impossible where name != ".priority" {
        let text = try json(["posts": ["p": [name: ["deep": true]]], "a": ["b": 2]])
        try sandbox.refuse("import", "-", input: text, says: "line 1, byte")
        #expect(try sandbox.hearth("set", "/", text).status != 0, "\(text)")
      }
      #expect(try sandbox.hearth("export").output == before)
    }

    @Test("survive export and migration unchanged if they are odd but valid")
    func moved() throws {
      let sandbox = try Sandbox()
      let leaves = Dictionary(uniqueKeysWithValues: Self.odd.map { ($0, $0 + "/..") })
      let text = try json(["posts": leaves, "deep": ["x": ["y": leaves]]])
      try sandbox.succeed("import", "-", input: "\u{FEFF}" + text)
      let exported = try sandbox.hearth("export").output
      let found = try #require(object(exported)["posts"] as? [String: String])
      #expect(found.count == Self.odd.count)
      for (name, value) in leaves {
        #expect(found.contains { Array($0.key.utf8) == Array(name.utf8) && $0.value == value })
      }
      try sandbox.hearth("stop")
      let (data, other) = (sandbox.directory + "/data/hearth", sandbox.directory + "/other")
      try sandbox.succeed("migrate", data, other)
      #expect(try sandbox.hearth("export", "--data-dir", other).output == exported)
      let again = try sandbox.hearth("migrate", data, other)
      #expect(again.status == 6)
      #expect(again.errors.contains("already has databases: hearth; if a migration"))
      #expect(try sandbox.hearth("export", "--data-dir", other).output == exported)
    }

    @Test("are harmless as database names")
    func databases() throws {
      let sandbox = try Sandbox()
      try sandbox.hearth("set", "/a", "1")
      try sandbox.hearth("stop")
      let data = sandbox.directory + "/data/hearth"
      let before = try FileManager.default.contentsOfDirectory(atPath: data).sorted()
      for name in Self.impossible + ["A B", "../../x", "\u{FEFF}x"] where name != "a\u{1}" {
        for command in [["import", "-"], ["restore", "x"]] {
          let words = command + ["--ns", name]
          let outcome = try sandbox.run(words, input: "{}")
          #expect(outcome.status != 0, "\(words)")
        }
      }
      #expect(try FileManager.default.contentsOfDirectory(atPath: data).sorted() == before)
      let names = try FileManager.default.contentsOfDirectory(atPath: sandbox.directory)
      #expect(!names.contains("x"))
    }

    @Test("are never accounts", arguments: [false, true])
    func users(isServed: Bool) throws {
      let sandbox = try Sandbox()
      if isServed { try sandbox.serve("--port", "0") }
      func add(_ words: String...) throws -> Sandbox.Outcome {
        let all = ["users", "add"] + words + ["--password-stdin"]
        return try sandbox.run(all, input: "correct horse\n")
      }
      let made = try add("ann@example.org", "--name", "../../posts")
      #expect(made.status == 0, "\(made.errors)")
      let before = try sandbox.hearth("users", "list", "--json").output
      #expect(before.contains("posts"))
      for name in ["", "/", "..", ".sv", "posts/other", "$uid"] {
        #expect(try add(name).status != 0, "\(name)")
        for command in ["disable", "delete"] {
          #expect(try sandbox.hearth("users", command, name).status != 0, "\(command) \(name)")
        }
      }
      #expect(try sandbox.hearth("users", "list", "--json").output == before)
    }

    @Test("do not mislead fsck --repair in a blog's texts", arguments: [false, true])
    func repair(isServed: Bool) throws {
      let sandbox = try Sandbox()
      let kept = try sandbox.post("T", by: "ann")
      var posts: [String: Any] = [:]
      var comments: [String: Any] = [:]
      var marks: [String: Any] = [:]
      for (number, name) in Self.impossible.enumerated() {
        posts["-p\(number)"] = [
          "uid": name, "author": name, "title": name, "body": name, "starCount": 4,
        ]
        comments["-c\(number)"] = ["uid": name, "author": name, "text": "@\(name)", "parent": name]
        marks["m\(number)"] = ["post": name]
      }
      let map: [String: Any] = [
        "posts": posts, "post-comments": [kept: comments], "seen": ["ann": ["marks": marks]],
      ]
      try sandbox.succeed("import", "-", input: json(map))
      try sandbox.hearth("set", "/elsewhere", #"{"posts":1,"b":{"c":2}}"#)
      if !isServed { try sandbox.hearth("stop") }
      let repair = try sandbox.hearth("fsck", "--repair")
      #expect(repair.status == 1, "\(repair.errors)")
      #expect(repair.output.contains("(repaired: starCount is 0)"), "\(repair.output)")
      let again = try sandbox.hearth("fsck", "--repair")
      #expect(again.status == 1)
      #expect(!again.output.contains("repaired"), "\(again.output)")
      let root = try object(sandbox.hearth("export").output)
      #expect((root["elsewhere"] as? [String: Any])?.count == 2)
      #expect((root["posts"] as? [String: Any])?.count == Self.impossible.count + 1)
      #expect((root["user-posts"] as? [String: Any])?.keys.sorted() == ["ann"])
      let users = root["user-posts"] as? [String: [String: Any]]
      #expect(users?["ann"]?.count == 1)
    }
  }
}
