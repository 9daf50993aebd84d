import Foundation
import TestSupport
import Testing

extension EndToEnd {
  /// `hearth serve` as an operator uses it.
  @Suite("hearth serve")
  struct ServeTests {
    private let sandbox: Sandbox

    init() throws { sandbox = try Sandbox() }

    @Test("A port without rules denies everything, and the server says so")
    func locked() throws {
      let server = try sandbox.serve("--port", "0")
      #expect(server.ready["rules"] as? String == "locked")
      #expect(server.ready["emulator"] as? Bool == false)
      #expect(server.ready["databases"] as? [String] == ["hearth"])
      #expect(server.ready["data"] as? String == sandbox.directory + "/data/hearth")
      #expect(try server.request("GET", "/x.json").status == 401)
      #expect(try server.request("GET", "/x.json", bearer: "owner").status == 401)
      #expect(try sandbox.hearth("set", "/x", "1").status == 0)
      #expect(try server.text().contains("the port refuses everything"))
    }

    @Test("SIGHUP reloads the rules file, and an invalid file keeps the old rules")
    func rules() throws {
      let file = try sandbox.write(#"{"rules":{".read":true}}"#, to: "rules.json")
      let server = try sandbox.serve("--port", "0", "--rules", file)
      #expect(server.ready["rules"] as? String == "document")
      #expect(try server.request("GET", "/x.json").status == 200)
      #expect(try server.request("PUT", "/x.json", "1").status == 401)
      try sandbox.write(#"{"rules":{".write":true}}"#, to: "rules.json")
      kill(server.process.processIdentifier, SIGHUP)
      try waitUntil("the rules are read again") { try server.text().contains("reloaded the rules") }
      #expect(try server.request("PUT", "/x.json", "1").status == 200)
      try sandbox.write("{\n  \"rules\": oops }", to: "rules.json")
      kill(server.process.processIdentifier, SIGHUP)
      try waitUntil("the mistake is told") { try server.text().contains("\(file):2:") }
      #expect(try server.request("PUT", "/x.json", "2").status == 200)
      #expect(try sandbox.hearth("get", "/x").output == "2\n")
    }

    @Test("SIGHUP during the start reloads the rules once the server runs, and does not end it")
    func earlyReload() throws {
      let sandbox = try Sandbox()
      let rules = sandbox.directory + "/rules.pipe"
      let (output, log) = (sandbox.directory + "/out", sandbox.directory + "/log")
      try #require(mkfifo(rules, 0o600) == 0)
      func reader() throws -> FileHandle {
        var pipe: Int32 = -1
        try waitUntil("the rules are read") {
          pipe = open(rules, O_WRONLY | O_NONBLOCK)
          return pipe >= 0
        }
        return FileHandle(fileDescriptor: pipe, closeOnDealloc: true)
      }
      let text = Data(#"{"rules":{}}"#.utf8)
      let words = ["serve", "--rules", rules]
      let server = try sandbox.start(words, output: output, errors: log)
      let first = try reader()
      // With a reader of its own the test is not ended by SIGPIPE if the server is.
      let own = open(rules, O_RDONLY | O_NONBLOCK)
      kill(server.processIdentifier, SIGHUP)
      try first.write(contentsOf: text)
      try first.close()
      close(own)
      try waitUntil("the server is ready") {
        try String(contentsOfFile: output, encoding: .utf8).contains("ready")
      }
      let second = try reader()
      try second.write(contentsOf: text)
      try second.close()
      try waitUntil("the rules are read again") {
        try String(contentsOfFile: log, encoding: .utf8).contains("reloaded the rules")
      }
    }

    @Test("The emulator warns, stores nothing, opens no local socket and trusts every token")
    func emulator() throws {
      let server = try sandbox.serve("--emulator", "--port", "0")
      #expect(server.ready["emulator"] as? Bool == true)
      #expect(server.ready["rules"] as? String == "open")
      #expect(server.ready["socket"] is NSNull && server.ready["data"] is NSNull)
      #expect(try server.text().contains("EMULATOR MODE"))
      #expect(try server.request("PUT", "/x.json?ns=demo", "1").body == "1")
      let rules = #"{"rules":{}}"#
      let settings = "/.settings/rules.json?ns=demo"
      #expect(try server.request("PUT", settings, rules, bearer: "owner").status == 200)
      #expect(try server.request("GET", "/x.json?ns=demo").status == 401)
      #expect(try server.request("GET", "/x.json?ns=demo", bearer: "owner").body == "1")
      #expect(try sandbox.serverProcess() == nil)
      server.process.terminate()
      #expect(!FileManager.default.fileExists(atPath: sandbox.directory + "/data/hearth"))
    }

    @Test("The JSON log has one object per line, includes metrics and contains no data")
    func log() throws {
      let server = try sandbox.serve([
        "--emulator", "--port", "0", "--log-format", "json", "--log-level", "trace", "--metrics",
        "0.2",
      ])
      let secret = "s3cret\u{1B}[2J"
      _ = try server.request("PUT", "/s3cret-path.json?auth=s3cret", #""\#(secret)""#)
      try waitUntil("the numbers are told") { try server.text().contains("uptimeSeconds") }
      server.process.terminate()
      let text = try server.text()
      #expect(!text.contains("s3cret") && !text.contains("\u{1B}"))
      let objects = try server.lines.filter { !$0.hasPrefix("hearth: ") }.map { try object($0) }
      #expect(objects.count > 3)
      for object in objects {
        #expect(object["time"] is String && object["level"] is String)
        #expect(object["message"] is String)
      }
      let metrics = try #require(objects.first { $0["message"] as? String == "metrics" })
      #expect((metrics["metrics"] as? [String: Any])?["databases"] is [String: Any])
    }

    @Test("The server stops on SIGTERM, even at the moment it becomes ready")
    func stopsAtOnce() throws {
      let home = try TemporaryDirectory()
      for _ in 0..<20 { #expect(try EmulatorProcess(home: home.path).stop() == 0) }
    }

    @Test("The service file and the example use only existing options")
    func serviceFile() throws {
      let help = try sandbox.hearth("serve", "--help").output
      let options = Set(help.matches(of: /--[a-z][a-z-]*/).map { String($0.output) })
      let limits = Set(help.matches(of: /(?m)^  ([a-z-]+)  +/).map { String($0.output.1) })
      let service = try String(
        contentsOfFile: Sandbox.package + "/assets/systemd/hearth.service",
        encoding: .utf8
      )
      let example = try String(
        contentsOfFile: Sandbox.package + "/assets/config/hearth-serve.example",
        encoding: .utf8
      )
      let starts = service.split(separator: "\n").filter { $0.hasPrefix("ExecStart=") }
      #expect(starts.count == 1)
      let settings = example.split(separator: "\n").filter { $0.contains("HEARTH_OPTIONS=") }
      #expect(settings.count == 3)
      let cluster = try ["systemd/hearth-cluster.service", "config/hearth-cluster.example"]
        .flatMap { name in
          try String(contentsOfFile: "\(Sandbox.package)/assets/\(name)", encoding: .utf8)
            .split(separator: "\n").filter { $0.contains("--port ") || $0.contains("ExecStart=") }
        }
      #expect(cluster.count == 2)
      for line in starts + settings + cluster {
        for word in line.split(whereSeparator: { $0 == " " || $0 == "=" })
        where word.hasPrefix("--") {
          #expect(options.contains(String(word)), "\(word)")
        }
        for match in line.matches(of: /--limit ([a-z-]+)=/) {
          #expect(limits.contains(String(match.output.1)), "\(match.output.1)")
        }
      }
      #expect(service.contains("EnvironmentFile=-/etc/hearth/serve"))
      #expect(service.contains("$HEARTH_OPTIONS"))
    }
  }
}
