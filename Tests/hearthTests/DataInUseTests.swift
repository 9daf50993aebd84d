import Foundation
import Testing

extension EndToEnd {
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
