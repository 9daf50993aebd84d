import Foundation
import Testing

extension EndToEnd {
  @Suite("Restoring a backup", .timeLimit(.minutes(5)))
  struct RestoringTests {
    private static let rules = Sandbox.package + "/assets/rules/blog.json"
    private let password = "correct horse\n"

    private func serve(_ sandbox: Sandbox) throws -> (server: ServerProcess, url: String) {
      let server = try sandbox.serve("--port", "0", "--rules", Self.rules)
      return (server, "http://127.0.0.1:\(server.port)?ns=hearth")
    }

    private func file(_ sandbox: Sandbox, _ suffix: String = "") -> String {
      sandbox.directory + "/data/hearth/database.sqlite" + suffix
    }

    private func bytes(_ path: String) -> Data? { FileManager.default.contents(atPath: path) }

    @Test(
      "restores posts and leaves accounts unchanged",
      arguments: ["noise", "empty", "cut", "backup copied over it"]
    )
    func wholeWay(damage: String) throws {
      let sandbox = try Sandbox()
      var (server, url) = try serve(sandbox)
      func hearth(_ words: String..., input: String? = nil) throws -> Sandbox.Outcome {
        try sandbox.run(words + ["--database", url], input: input)
      }
      try sandbox.signUp("ann", at: url)
      let id = try hearth("post", "--title", "Kept", "--body", "b").lines[0]
      #expect(try hearth("comment", id, "A comment").status == 0)
      let copy = sandbox.directory + "/copy.sqlite"
      #expect(try sandbox.hearth("backup", copy).status == 0)
      #expect(try hearth("post", "--title", "Later", "--body", "b").status == 0)

      try sandbox.refuse("restore", copy, status: 1, says: "is in use by")
      // The log stays beside the file, as after any crash.
      server.process.kill()

      let whole = try #require(bytes(file(sandbox)))
      let damaged: Data =
        switch damage {
        case "noise": Data((0..<whole.count).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        case "empty": Data()
        case "cut": whole.prefix(whole.count / 2)
        default: try #require(bytes(copy))
        }
      try damaged.write(to: URL(fileURLWithPath: file(sandbox)))
      let before = ["", "-wal", "-mark"].map { bytes(file(sandbox, $0)) }
      let refused = try sandbox.hearth("serve", "--port", "0", "--rules", Self.rules)
      #expect(refused.status == 2, "\(refused.errors)")
      #expect(["", "-wal", "-mark"].map { bytes(file(sandbox, $0)) } == before)
      #expect(refused.errors.contains("hearth restore"), "\(refused.errors)")

      let restored = try sandbox.succeed("restore", copy)
      #expect(restored.output.contains("the previous files are in"))
      let kept = try #require(restored.output.split(separator: " ").last).trimmingCharacters(
        in: .whitespacesAndNewlines
      )
      #expect(bytes(kept + "/database.sqlite") == damaged)
      #expect(try sandbox.hearth("fsck").output == "1 post, 1 comment, 0 stars: no fault\n")

      // The check has started a server of its own.
      try sandbox.hearth("stop")
      (server, url) = try serve(sandbox)
      #expect(
        try hearth("sign-in", "--email", "ann@example.org", "--password-stdin", input: password)
          .status == 0
      )
      #expect(try hearth("list").output.contains("Kept"))
      #expect(try !hearth("list").output.contains("Later"))
      #expect(try object(hearth("show", id, "--json").output)["author"] as? String == "ann")
      #expect(try hearth("post", "--title", "Afterwards", "--body", "b").status == 0)
    }
  }

  @Suite("Data in use", .needsTmux)
  struct DataInUseTests {
    /// The servers of a data directory that run at this moment.
    private func servers(of directory: String) throws -> Set<String> {
      let words: Set = ["serve", directory]
      return Set(try Spawned.commandLines().filter { words.isSubset(of: $1) }.keys)
    }

    @Test("is unchanged by an interrupted import, whose progress others are told")
    func interruptedImport() throws {
      let sandbox = try Sandbox()
      try sandbox.hearth("import", "-", input: #"{"kept":{"a":1}}"#)
      let posts = (0..<20_000).map {
        "\"p\($0)\":{\"title\":\"\(String(repeating: "t", count: 300))\"}"
      }
      let text = "{\"kept\":{\"a\":2},\"posts\":{\(posts.joined(separator: ","))}}"
      let file = try sandbox.write(text, to: "large.json")
      for signal in [SIGINT, SIGTERM] {
        let process = try sandbox.start("import", file)
        let facts = "/proc/\(process.processIdentifier)"
        try waitUntil("it is in the middle") {
          let numbers = try FileManager.default.contentsOfDirectory(atPath: facts + "/fd")
          return numbers.contains { number in
            let target = try? FileManager.default.destinationOfSymbolicLink(
              atPath: "\(facts)/fd/\(number)"
            )
            let text = try? String(contentsOfFile: "\(facts)/fdinfo/\(number)", encoding: .utf8)
            let position = text?.split(separator: "\n").first?.split(separator: "\t").last
            return target?.hasSuffix("/large.json") == true
              && (position.flatMap { Int($0) } ?? 0) > 500_000
          }
        }
        kill(process.processIdentifier, SIGSTOP)
        let name = "hearth import (process \(process.processIdentifier)), "
        let refused = try sandbox.hearth("get", "/kept", "--timeout", "1")
        #expect(refused.status == 1)
        #expect(refused.errors.contains(name) && refused.errors.contains(" %"), "\(refused.errors)")
        kill(process.processIdentifier, signal)
        kill(process.processIdentifier, SIGCONT)
        #expect(process.wait() == 128 + signal)
        #expect(try sandbox.hearth("get", "/kept").output.contains("1"))
        #expect(try sandbox.hearth("get", "/posts").output == "null\n")
        try sandbox.hearth("stop")
      }
      #expect(try sandbox.hearth("fsck").status == 0)
      #expect(try sandbox.hearth("import", file).status == 0)
    }

    @Test("is reported in every terminal, and none of them starts a server")
    func terminals() throws {
      let sandbox = try Sandbox()
      let data = sandbox.directory + "/data/hearth"
      let panes = try (0..<3).map { try sandbox.open(as: "user\($0)") }
      let old = try #require(try sandbox.serverProcess())
      let lock = open(data + "/lock", O_RDWR | O_CLOEXEC)
      try #require(lock >= 0)
      defer { close(lock) }
      kill(old, SIGKILL)
      try waitUntil("this process has the lock") { flock(lock, LOCK_EX | LOCK_NB) == 0 }
      var started: Set<String> = []
      for pane in panes {
        try pane.waitFor("the reason") {
          started.formUnion((try? servers(of: data)) ?? [])
          return $0.contains("the data is in use by") && $0.contains("\(getpid())")
        }
      }
      let outcome = try sandbox.hearth("get", "/")
      started.formUnion(try servers(of: data))
      #expect(outcome.status == 1)
      #expect(outcome.errors.contains("(process \(getpid())); wait for it"), "\(outcome.errors)")
      // Each terminal may have started one before this process had the lock.
      #expect(started.subtracting([String(old)]).count <= panes.count, "\(started)")
      flock(lock, LOCK_UN)
      for pane in panes { try pane.waitFor("online") }
    }
  }
}
