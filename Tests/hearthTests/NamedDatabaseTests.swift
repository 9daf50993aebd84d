import Foundation
import Testing

extension EndToEnd {
  /// `--ns` of the commands that manage databases.
  @Suite("Named database", .timeLimit(.minutes(5)))
  struct NamedDatabaseTests {
    /// A data directory with the blog's database and another one, optionally with a server.
    private func sandbox(isServed: Bool) throws -> (sandbox: Sandbox, server: Spawned?) {
      let sandbox = try Sandbox()
      try sandbox.hearth("set", "/a", #""blog""#)
      try sandbox.hearth("stop")
      #expect(try sandbox.hearth("databases", "create", "team").status == 0)
      guard isServed else { return (sandbox, nil) }
      let socket = sandbox.directory + "/run/hearth/hearth.sock"
      let server = try sandbox.start("serve")
      try waitUntil("the server answers", within: 60) { WireClient(socket: socket) != nil }
      return (sandbox, server)
    }

    @Test("can be imported, exported, backed up and checked", arguments: [false, true])
    func maintenance(isServed: Bool) throws {
      let (sandbox, server) = try sandbox(isServed: isServed)
      defer { server?.terminate() }
      let json = #"{"team":{"b":[1,2]}}"#
      let taken = try sandbox.hearth("import", "-", "--ns", "team", input: json)
      #expect(taken.status == 0, "\(taken.errors)")
      #expect(try object(sandbox.hearth("export", "--ns", "team").output).keys.sorted() == ["team"])
      #expect(try object(sandbox.hearth("export", "--ns", "hearth").output).keys.sorted() == ["a"])
      #expect(try object(sandbox.hearth("export").output).keys.sorted() == ["a"])
      let copy = sandbox.directory + "/copy.sqlite"
      let backup = try sandbox.hearth("backup", copy, "--ns", "team", "--json")
      #expect(try object(backup.output)["revision"] as? Int == 1, "\(backup.errors)")
      // The number of rows depends on how much of the log has been folded into rows by now.
      #expect(try sandbox.hearth("fsck", copy).output.hasPrefix("commit 1, "))
      let check = try sandbox.hearth("fsck", "--ns", "team")
      #expect(check.status == 0)
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
      let (sandbox, server) = try sandbox(isServed: isServed)
      defer { server?.terminate() }
      for arguments in [
        ["export"], ["backup", sandbox.directory + "/copy"], ["import", "-"], ["fsck"],
      ] {
        for name in ["nobody", "../hearth", ""] {
          let outcome = try sandbox.run(
            arguments + ["--ns", name],
            input: "{}",
            environment: sandbox.environment
          )
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
          let outcome = try sandbox.run(arguments, environment: sandbox.environment)
          #expect(outcome.status == 2, "\(arguments)")
        }
      }
      #expect(try sandbox.hearth("fsck", sandbox.directory, "--ns", "team").status == 2)
    }

    @Test("is checked along with all others by default, even if one is damaged")
    func allAreChecked() throws {
      let (sandbox, _) = try sandbox(isServed: false)
      #expect(try sandbox.hearth("databases", "create", "second").status == 0)
      let whole = try sandbox.hearth("fsck")
      #expect(whole.status == 0)
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
