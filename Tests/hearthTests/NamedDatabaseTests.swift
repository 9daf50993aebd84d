import Foundation
import Testing

extension EndToEnd {
  /// `--ns` of the commands that manage databases.
  @Suite("Named database", .timeLimit(.minutes(5)))
  struct NamedDatabaseTests {
    /// A data directory with the blog's database and another one, optionally with a server.
    private func sandbox(isServed: Bool = false) throws -> Sandbox {
      let sandbox = try Sandbox()
      try sandbox.hearth("set", "/a", #""blog""#)
      try sandbox.hearth("stop")
      #expect(try sandbox.hearth("databases", "create", "team").status == 0)
      if isServed { try sandbox.serve() }
      return sandbox
    }

    @Test("is renamed and deleted with its accounts while no server runs")
    func removed() throws {
      let sandbox = try sandbox()
      let rules = try sandbox.write(Sandbox.openRules, to: "rules.json")
      func serving<Result>(_ body: (ServerProcess) throws -> Result) throws -> Result {
        let server = try sandbox.serve("--port", "0")
        defer {
          server.process.terminate()
          server.process.wait()
        }
        return try body(server)
      }
      func status(_ server: ServerProcess, _ name: String, _ token: String) throws -> Int {
        try server.request("GET", "/x.json?ns=\(name)&auth=\(token)").status
      }
      func token(_ text: String, _ name: String) throws -> String {
        try #require(try object(text)[name] as? String)
      }
      let (id, refresh) = try serving { server in
        #expect(try sandbox.hearth("rules", "set", rules, "--ns", "team").status == 0)
        #expect(try server.request("PUT", "/x.json?ns=team", "1").status == 200)
        let account = try server.request("POST", "/v1/accounts:signUp?ns=team", "{}").body
        let id = try token(account, "idToken")
        #expect(try status(server, "team", id) == 200)
        let refused = try sandbox.hearth("databases", "delete", "team", "--yes")
        #expect(refused.status != 0 && refused.errors.contains("in use"), "\(refused.errors)")
        return (id, try token(account, "refreshToken"))
      }
      #expect(try sandbox.hearth("databases", "rename", "team", "hearth", "--yes").status == 6)
      #expect(try sandbox.hearth("databases", "rename", "hearth", "blog", "--yes").status == 2)
      #expect(try sandbox.hearth("databases", "rename", "team", "crew").status == 2)
      try sandbox.succeed("databases", "rename", "team", "crew", "--yes")
      #expect(try sandbox.hearth("databases").lines == ["crew", "hearth"])
      #expect(try sandbox.hearth("databases", "create", "team").status == 0)
      let newID = try serving { server in
        #expect(try sandbox.hearth("rules", "set", rules, "--ns", "team").status == 0)
        #expect(try status(server, "team", id) == 401)
        #expect(try server.request("GET", "/x.json?ns=crew").body == "1")
        let body = #"{"grant_type":"refresh_token","refresh_token":"\#(refresh)"}"#
        let id = try token(server.request("POST", "/v1/token?ns=crew", body).body, "id_token")
        #expect(try status(server, "crew", id) == 200)
        return id
      }
      try sandbox.succeed("databases", "delete", "crew", "--yes")
      #expect(try sandbox.hearth("databases").lines == ["hearth", "team"])
      #expect(try sandbox.hearth("databases", "delete", "crew", "--yes").status != 0)
      #expect(try sandbox.hearth("databases", "create", "crew").status == 0)
      try serving { (server: ServerProcess) throws -> Void in
        #expect(try sandbox.hearth("rules", "set", rules, "--ns", "crew").status == 0)
        #expect(try status(server, "crew", newID) == 401)
        #expect(try server.request("GET", "/x.json?ns=crew").body == "null")
      }
    }

    @Test("can be imported, exported, backed up and checked", arguments: [false, true])
    func maintenance(isServed: Bool) throws {
      let sandbox = try sandbox(isServed: isServed)
      let json = #"{"team":{"b":[1,2]}}"#
      try sandbox.succeed("import", "-", "--ns", "team", input: json)
      #expect(try object(sandbox.hearth("export", "--ns", "team").output).keys.sorted() == ["team"])
      #expect(try object(sandbox.hearth("export", "--ns", "hearth").output).keys.sorted() == ["a"])
      #expect(try object(sandbox.hearth("export").output).keys.sorted() == ["a"])
      let copy = sandbox.directory + "/copy.sqlite"
      let backup = try sandbox.hearth("backup", copy, "--ns", "team", "--json")
      #expect(try object(backup.output)["revision"] as? Int == 1, "\(backup.errors)")
      // The number of rows depends on how much of the log has been folded into rows by now.
      #expect(try sandbox.hearth("fsck", copy).output.hasPrefix("commit 1, "))
      let check = try sandbox.succeed("fsck", "--ns", "team")
      #expect(check.lines.count == 1 && check.output.hasPrefix("team: commit 1, "))
      #expect(check.output.hasSuffix(": no fault\n"))
      #expect(
        try sandbox.hearth("import", "-", "--replace", "--ns", "team", input: "{}").status == 0
      )
      #expect(try sandbox.hearth("export", "--ns", "team").output == "null\n")
      #expect(try object(sandbox.hearth("export").output).keys.sorted() == ["a"])
      #expect((try sandbox.serverProcess() != nil) == isServed)
    }

    @Test("is reported if missing, with the existing names", arguments: [false, true])
    func unknown(isServed: Bool) throws {
      let sandbox = try sandbox(isServed: isServed)
      for arguments in [
        ["export"], ["backup", sandbox.directory + "/copy"], ["import", "-"], ["fsck"],
      ] {
        for name in ["nobody", "../hearth", ""] {
          let outcome = try sandbox.run(arguments + ["--ns", name], input: "{}")
          #expect(outcome.status == 3, "\(arguments)")
          #expect(outcome.output.isEmpty)
          #expect(outcome.errors.contains("no database \"\(name)\""), "\(outcome.errors)")
          #expect(outcome.errors.contains(#""hearth", "team""#), "\(outcome.errors)")
        }
      }
      #expect(!FileManager.default.fileExists(atPath: sandbox.directory + "/copy"))
      #expect(try sandbox.hearth("databases").lines == ["hearth", "team"])
      let empty = try Sandbox()
      #expect(try empty.hearth("export", "--ns", "team").errors.contains("none yet"))
    }

    @Test("cannot be chosen with a URL, an ephemeral database or a given file")
    func elsewhere() throws {
      let sandbox = try Sandbox()
      for other in [["--ephemeral"], ["--database", "http://127.0.0.1:9?ns=x"]] {
        for command in [["export"], ["import", "-"], ["fsck"]] {
          let arguments = command + ["--ns", "team"] + other
          let outcome = try sandbox.run(arguments)
          #expect(outcome.status == 2, "\(arguments)")
        }
      }
      #expect(try sandbox.hearth("fsck", sandbox.directory, "--ns", "team").status == 2)
    }

    @Test("is checked along with all others by default, even if one is damaged")
    func allAreChecked() throws {
      let sandbox = try sandbox()
      #expect(try sandbox.hearth("databases", "create", "second").status == 0)
      let whole = try sandbox.succeed("fsck")
      #expect(
        whole.lines == [
          "second: commit 0, 0 rows: no fault", "team: commit 0, 0 rows: no fault",
          "0 posts, 0 comments, 0 stars: no fault",
        ]
      )
      try sandbox.hearth("stop")
      let damaged = sandbox.directory + "/data/hearth/databases/second/database.sqlite"
      try Data(repeating: 7, count: 8_192).write(to: URL(fileURLWithPath: damaged))
      let check = try sandbox.hearth("fsck")
      #expect(check.status == 2)
      #expect(check.errors.contains(damaged))
      #expect(check.lines == ["team: commit 0, 0 rows: no fault"])
      #expect(try sandbox.hearth("fsck", "--ns", "team").status == 0)
      #expect(try sandbox.hearth("fsck", "--ns", "second").status == 2)
    }
  }
}
