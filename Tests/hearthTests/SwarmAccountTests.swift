import Foundation
import TLSTestSupport
import Testing

extension EndToEnd {
  /// A swarm at a server that requires accounts, over an encrypted connection.
  @Suite("Swarm with accounts")
  struct SwarmAccountTests {
    /// A server with a private authority, rules, accounts and administrators.
    private struct Guarded {
      let sandbox: Sandbox
      let server: ServerProcess
      let key = "0123456789abcdef-0123456789abcdef-secret"

      /// The options that a user types to get access.
      var access: [String] {
        [
          "--database", "https://localhost:\(server.port)?ns=hearth", "--ca-file",
          sandbox.directory + "/ca.pem", "--admin-key-file", sandbox.directory + "/key",
        ]
      }

      init(_ options: String...) throws {
        sandbox = try Sandbox()
        let authority = try CertificateAuthority()
        let issued = try authority.issue()
        for (name, text) in [
          ("ca.pem", authority.certificate), ("cert.pem", issued.certificate),
          ("key.pem", issued.key), ("key", key + "\n"),
          ("wrong", String(repeating: "w", count: 40)),
        ] {
          chmod(try sandbox.write(text, to: name), 0o600)
        }
        server = try ServerProcess(
          sandbox,
          [
            "--port", "0", "--tls-cert", sandbox.directory + "/cert.pem", "--tls-key",
            sandbox.directory + "/key.pem", "--admin-key-file", sandbox.directory + "/key",
            "--socket", sandbox.directory + "/s", "--data-dir", sandbox.directory + "/blog",
            "--rules", Sandbox.package + "/assets/rules/blog.json",
          ] + options
        )
      }

      /// Runs a command as an administrator on the server's machine.
      @discardableResult
      func hearth(_ arguments: String...) throws -> [String] {
        let way = ["--data-dir", sandbox.directory + "/blog", "--socket", server.socket]
        return try sandbox.run(arguments + way).lines
      }

      /// The content of the database.
      func data() throws -> String { try hearth("get", "/").joined() }

      /// The existing accounts, one per line.
      func accounts() throws -> [String] { try hearth("users", "list") }

      /// Starts a swarm, whose directory is below that of the sandbox.
      func swarm(_ arguments: [String]) throws -> Spawned {
        try Spawned(
          Sandbox.program,
          ["swarm", "--report", sandbox.directory + "/report.json"] + access + arguments,
          environment: sandbox.environment,
          output: sandbox.directory + "/swarm.out",
          errors: sandbox.directory + "/swarm.err"
        )
      }

      /// The output of the swarm.
      var text: String {
        ["swarm.out", "swarm.err"].compactMap {
          try? String(contentsOfFile: sandbox.directory + "/" + $0, encoding: .utf8)
        }.joined()
      }
    }

    /// The texts of all files below a directory.
    private static func texts(below directory: String) -> [String: String] {
      let names = FileManager.default.enumerator(atPath: directory)?.compactMap { $0 as? String }
      var texts: [String: String] = [:]
      for name in names ?? [] {
        texts[name] = FileManager.default.contents(atPath: directory + "/" + name).map {
          String(decoding: $0, as: UTF8.self)
        }
      }
      return texts
    }

    @Test("A swarm of six accounts keeps every promise, leaves no data and leaks no secrets")
    func accounts() throws {
      let guarded = try Guarded("--token-seconds", "12")
      // A post by somebody else, whose title is that of one of the swarm's hot posts.
      try guarded.hearth("post", "--title", "hot 0", "--body", "b")
      let before = try guarded.data()
      #expect(before.contains("hot 0"))
      let directory = guarded.sandbox.directory + "/storm"
      let run = try guarded.swarm([
        "--users", "6", "--users-per-process", "2", "--seconds", "3", "--rate", "20", "--faults",
        "kill,drop,duplicate,server-kill", "--directory", directory,
      ])
      defer { run.terminate() }
      var lines: [String] = []
      try waitUntil("the clients run", within: 60) {
        lines = try Spawned.commandLines().values.map { $0.joined(separator: " ") }
          .filter { $0.contains(directory) && $0.contains("swarm-client") }
        return lines.count == 3 || run.hasEnded
      }
      try #require(lines.count == 3, "\(guarded.text)")
      #expect(lines.allSatisfy { !$0.contains(guarded.key) && !Secret.hasToken($0) })
      let mode = try FileManager.default.attributesOfItem(
        atPath: directory + "/credentials/process0.json"
      )[.posixPermissions]
      #expect(mode as? Int == 0o600)
      let settings = try object(
        String(contentsOfFile: directory + "/settings.json", encoding: .utf8)
      )
      let uids = try #require(settings["uids"] as? [String])
      #expect(Set(uids).count == 6 && !uids.contains { $0.hasPrefix("swarm") })
      #expect(run.wait() == 0, "\(guarded.text)")

      let report = try object(
        String(contentsOfFile: guarded.sandbox.directory + "/report.json", encoding: .utf8)
      )
      #expect(report["violations"] as? Int == 0)
      #expect(report["mishaps"] as? [String] == [])
      let promises = try #require(report["promises"] as? [[String: Any]])
      let checked = promises.filter { $0["checked"] as? Int ?? 0 > 0 }
      let names = Set(checked.compactMap { $0["name"] as? String })
      #expect(names.isSuperset(of: ["I1", "I3", "I10/G8", "I12/G3", "G9"]))
      let faults = try #require(report["faults"] as? [String: Int])
      #expect(faults["kill"] ?? 0 > 0)
      #expect(faults["drop"] ?? 0 > 0)

      let text = guarded.text
      #expect(text.contains("left out: duplicate, which needs connections without encryption"))
      #expect(text.contains("left out: server-kill, which needs a server of the swarm's own"))
      #expect(try guarded.accounts() == [])
      #expect(try guarded.data() == before)
      // The directory was requested, and remains without the sessions.
      let left = Self.texts(below: directory).merging(["the output": text]) { $1 }
      let histories = left.filter { $0.key.hasPrefix("histories/u") }
      #expect(histories.count == 6)
      // The drops took effect: they ended connections although these are encrypted.
      #expect(histories.values.contains { $0.contains(#""k":"connection","up":false"#) })
      for (name, text) in left {
        #expect(!text.contains(guarded.key) && !Secret.hasToken(text), "\(name)")
        #expect(!text.contains("password") && !text.contains("refreshToken"), "\(name)")
      }
      let log = try guarded.server.text()
      #expect(!Secret.hasToken(log))
    }

    @Test("An interrupted swarm deletes its accounts and data")
    func interrupted() throws {
      let guarded = try Guarded()
      let before = try guarded.data()
      let run = try guarded.swarm(["--users", "1", "--seconds", "600", "--rate", "20"])
      defer { run.terminate() }
      try waitUntil("something is written", within: 60) {
        try guarded.data().contains("hot 0") || run.hasEnded
      }
      #expect(try guarded.accounts().count == 1)
      kill(run.processIdentifier, SIGINT)
      #expect(run.wait() == 130)
      #expect(try guarded.accounts() == [])
      #expect(try guarded.data() == before)
      let names = try FileManager.default.contentsOfDirectory(atPath: guarded.sandbox.directory)
      #expect(!names.contains { $0.hasPrefix("hearth-swarm-") })
    }

    @Test("A wrong or missing key and a server without sign-up are reported")
    func refused() throws {
      let guarded = try Guarded("--no-sign-up")
      func run(_ arguments: [String]) throws -> Sandbox.Outcome {
        try guarded.sandbox.run(["swarm", "--users", "1", "--seconds", "1"] + arguments)
      }
      let open = Array(guarded.access.prefix(4))
      let missing = try run(open)
      #expect(missing.status == 4)
      #expect(missing.errors.contains("--admin-key-file names the secret"))
      let wrong = try run(open + ["--admin-key-file", guarded.sandbox.directory + "/wrong"])
      #expect(wrong.status == 4)
      #expect(wrong.errors.contains("does not take what is in \(guarded.sandbox.directory)/wrong"))
      let absent = try run(open + ["--admin-key-file", guarded.sandbox.directory + "/absent"])
      #expect(absent.status == 2)
      #expect(absent.errors.contains("absent cannot be read"))
      let stranger = try run(Array(guarded.access.prefix(2)))
      #expect(stranger.status == 5)
      #expect(stranger.errors.contains("certificate"))
      let closed = try run(guarded.access)
      #expect(closed.status == 1)
      #expect(closed.errors.contains("lets nobody make an account"))
      #expect(try guarded.accounts() == [])
    }
  }
}
