import Foundation
import Testing

extension EndToEnd {
  /// The logs of servers and terminals: how large they grow, and what they never contain.
  @Suite("Logs")
  struct LogTests {
    /// The files of a log, starting with the current one.
    private func files(_ log: String) -> [String] {
      ([log] + (1...9).map { "\(log).\($0)" }).filter(FileManager.default.fileExists)
    }

    private func size(_ file: String) throws -> Int {
      try #require(FileManager.default.attributesOfItem(atPath: file)[.size] as? Int)
    }

    @Test("A running server rotates a full log, keeps three old files and tears no line")
    func server() throws {
      let sandbox = try Sandbox()
      let log = sandbox.directory + "/logs/server.log"
      let server = try sandbox.serve([
        "--ephemeral", "--socket", sandbox.directory + "/run/s.sock", "--log", log, "--log-size",
        "4000", "--log-format", "json", "--metrics", "0.01",
      ])
      try waitUntil("three files are full", within: 60) { files(log).count == 4 }
      let oldest = try String(contentsOfFile: log + ".3", encoding: .utf8)
      try waitUntil("the oldest goes", within: 60) {
        (try? String(contentsOfFile: log + ".3", encoding: .utf8)).map { $0 != oldest } ?? false
      }
      server.process.terminate()
      server.process.wait()
      #expect(files(log).count == 4)
      var times: [String] = []
      for file in files(log).reversed() {
        #expect(try size(file) <= 4_000)
        let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions]
        #expect(mode as? Int == 0o600)
        for line in try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n") {
          times.append(try #require(try object(String(line))["time"] as? String))
        }
      }
      #expect(times.count > 8)
      #expect(times == times.sorted())
    }

    @Test("A server keeps running and stops cleanly if nobody reads its log")
    func unread() throws {
      let sandbox = try Sandbox()
      let pipe = sandbox.directory + "/log"
      try #require(mkfifo(pipe, 0o600) == 0)
      let reader = open(pipe, O_RDONLY | O_NONBLOCK)
      try #require(reader >= 0)
      defer { close(reader) }
      let server = try ServerProcess(
        sandbox,
        ["--ephemeral", "--socket", sandbox.directory + "/run/s.sock", "--metrics", "0.01"],
        errors: pipe
      )
      defer { kill(server.process.processIdentifier, SIGKILL) }
      // The server logs a hundred times a second, until the pipe has no more room.
      var logged: [Int32] = []
      try waitUntil("the pipe is full", within: 60) {
        var count: Int32 = 0
        try #require(ioctl(reader, UInt(FIONREAD), &count) == 0)
        usleep(100_000)
        logged.append(count)
        return count > 0 && logged.suffix(10).allSatisfy { $0 == count } && logged.count >= 10
      }
      #expect(try server.request("PUT", "/a.json", "1", bySocket: true).status == 200)
      kill(server.process.processIdentifier, SIGTERM)
      try waitUntil("the server ends", within: 60) { server.process.hasEnded }
      #expect(server.process.wait() == 0)
    }

    @Test("A log can be a pipe, if somebody reads it")
    func pipe() throws {
      let sandbox = try Sandbox()
      let pipe = sandbox.directory + "/log"
      try #require(mkfifo(pipe, 0o600) == 0)
      let options = ["--ephemeral", "--socket", sandbox.directory + "/run/s.sock", "--log", pipe]
      let reader = open(pipe, O_RDONLY | O_NONBLOCK)
      try #require(reader >= 0)
      defer { close(reader) }
      let server = try ServerProcess(sandbox, options + ["--metrics", "0.01"])
      defer { server.process.terminate() }
      try waitUntil("a line is in the pipe") {
        var bytes = [UInt8](repeating: 0, count: 4_096)
        let count = read(reader, &bytes, bytes.count)
        return count > 0 && bytes[..<count].contains(UInt8(ascii: "\n"))
      }
    }

    @Test("Terminals that share a log rotate it together without losing lines")
    func terminals() throws {
      let sandbox = try Sandbox()
      let log = sandbox.directory + "/logs/own.log"
      // Four at a time; their input is empty, so they exit immediately.
      for round in 0..<50 where files(log).count < 4 {
        let processes = try (0..<4).map { number in
          try sandbox.start([
            "--plain", "--ephemeral", "--user", "user\(round * 4 + number)", "--log", log,
            "--log-size", "1000",
          ])
        }
        for process in processes { process.wait() }
      }
      #expect(files(log).count == 4)
      let lines = try files(log).flatMap { file in
        let lines = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n")
        // All four may have found at the same moment that their next line still fits.
        #expect(lines.dropLast(3).reduce(0) { $0 + $1.utf8.count + 1 } <= 1_000)
        return lines
      }
      // Every line is complete: a time, a level, and an event.
      #expect(lines.allSatisfy { $0.contains(" notice ") && $0.hasPrefix("2") })
      #expect(lines.contains { $0.contains("opened") && $0.contains("user=user") })
    }

    @Test(
      "Logs contain no passwords, tokens or texts at any level",
      .needsTmux
    )
    func secrets() throws {
      let sandbox = try Sandbox()
      let serverLog = sandbox.directory + "/server.log"
      let ownLog = sandbox.directory + "/own.log"
      let (server, url) = try sandbox.serveBlog(["--log", serverLog, "--log-level", "trace"])
      let password = "correct horse battery"
      try sandbox.signUp("ann", at: url, password: password)
      try write(sandbox, ["--log", ownLog, "--log-level", "trace", "--database", url])
      // A token that the server refuses is not logged either.
      let forged = String(repeating: "forged-token-", count: 8)
      _ = try server.request("GET", "/posts.json?auth=\(forged)")
      _ = try server.request("GET", "/posts.json", bearer: forged)
      try sandbox.hearth("post", "--title", "x", "--body", "Refused body", "--database", url)

      let credentials = try String(
        contentsOfFile: sandbox.directory + "/state/hearth/credentials.json",
        encoding: .utf8
      )
      var secrets = [password, "A title nobody logs", "A body nobody logs", "forged-token"]
      // Anything long without blanks in that file is a token or part of one.
      secrets += credentials.split { !$0.isLetter && !$0.isNumber && !"-_".contains($0) }
        .map(String.init).filter { $0.count >= 40 }
      #expect(secrets.count >= 6)
      for log in [serverLog, ownLog] {
        let text = try String(contentsOfFile: log, encoding: .utf8)
        #expect(!text.isEmpty)
        for secret in secrets { #expect(!text.contains(secret), "\(log)") }
      }
    }

    /// Writes a post in a terminal, as the user who is signed in.
    private func write(_ sandbox: Sandbox, _ arguments: [String]) throws {
      let quoted = arguments.map { "'\($0)'" }.joined(separator: " ")
      let pane = try sandbox.open("\(Sandbox.program) \(quoted)")
      try pane.waitFor("online", within: 30)
      try pane.compose("A title nobody logs", "A body nobody logs")
      try pane.waitFor("the post is stored", within: 30) {
        $0.contains("A title nobody logs") && !$0.contains("not acknowledged")
      }
      try pane.press("q")
      try waitUntil("the terminal has ended", within: 30) { try !pane.isOpen }
    }
  }
}
