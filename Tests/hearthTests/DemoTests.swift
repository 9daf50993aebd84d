import Foundation
import Testing

extension EndToEnd {
  /// Demonstrations: several working terminals, a live pane that measures, and nothing left behind.
  @Suite("hearth demo", .needsTmux)
  struct DemoTests {
    /// What a demonstration has left behind: its directory, and processes that name it.
    private static func remains(of directory: String) throws -> [String] {
      let files = FileManager.default.fileExists(atPath: directory) ? [directory] : []
      let processes = try Spawned.commandLines().filter { $1.contains { $0.contains(directory) } }
      return files + processes.keys
    }

    /// Waits until the demonstration has ended with a status and left nothing behind.
    private static func expectEnd(
      of directory: String,
      _ sandbox: Sandbox,
      status expected: Int32 = 0,
      within seconds: Double = 120
    ) throws {
      let file = sandbox.directory + "/status"
      var status = ""
      // The shell creates the file before it writes the line.
      try waitUntil("the demonstration has ended", within: seconds) {
        status = (try? String(contentsOfFile: file, encoding: .utf8)) ?? ""
        return status.hasSuffix("\n")
      }
      #expect(status == "status \(expected)\n")
      try waitUntil("nothing is left", within: 60) { try remains(of: directory).isEmpty }
    }

    /// The directory of the demonstration that this process shows.
    private static func directory(of process: pid_t) throws -> String {
      var found = ""
      try waitUntil("there is a demonstration", within: 60) {
        for name in try FileManager.default.contentsOfDirectory(atPath: "/tmp")
        where name.hasPrefix("hearth-demo-") {
          let plan = FileManager.default.contents(atPath: "/tmp/\(name)/owner") ?? Data()
          if String(decoding: plan, as: UTF8.self) == String(process) { found = "/tmp/" + name }
        }
        return !found.isEmpty
      }
      return found
    }

    /// Waits until the terminal runs the program itself, and returns its process ID.
    private static func start(
      _ arguments: String,
      in sandbox: Sandbox
    ) throws -> (pane: Sandbox.Pane, process: pid_t) {
      let pidFile = sandbox.directory + "/pid"
      let status = sandbox.directory + "/status"
      let pane = try sandbox.open(
        "sh -c 'echo $$ > \(pidFile); exec \(Sandbox.program) demo \(arguments)'"
          + "; echo \"status $?\" > \(status); sleep 1000",
        columns: 160,
        rows: 50
      )
      var process: pid_t?
      try waitUntil("the program has started") {
        let text = try? String(contentsOfFile: pidFile, encoding: .utf8)
        process = text.flatMap { pid_t($0.trimmingCharacters(in: .whitespacesAndNewlines)) }
        return process != nil
      }
      return (pane, try #require(process))
    }

    @Test("The terminals show each other's actions, the figures update, and a key ends the demo")
    func watching() throws {
      let sandbox = try Sandbox()
      let (pane, process) = try Self.start("--panes 3", in: sandbox)
      let directory = try Self.directory(of: process)
      try pane.waitFor("the live pane measures", within: 60) { screen in
        let isMeasured = screen.contains(try! Regex(#"write to screen p50 \d+ ms, p99 \d+ ms"#))
        return isMeasured && screen.contains(try! Regex(#"operations +\d+\.\d/s, [1-9]"#))
          && screen.contains(try! Regex(#"transactions +[1-9]\d* attempts"#))
          && screen.contains(try! Regex(#"checked +[1-9]"#))
          && screen.contains(try! Regex(#"violations +0"#))
      }
      try pane.waitFor("all 3 show the same", within: 60)
      // Three terminals show the same post.
      try pane.waitFor("everybody sees it", within: 60) { screen in
        let titles = screen.matches(of: try! Regex(#"(bob|carol) \d+: [a-z]+"#)).map {
          screen[$0.range]
        }
        return Dictionary(grouping: titles) { $0 }.values.contains { $0.count >= 3 }
      }
      try pane.press("F10")
      try pane.waitFor("0 violations")
      try Self.expectEnd(of: directory, sandbox)
    }

    @Test(
      "The demo leaves nothing behind, whether it ends by itself or by a signal",
      arguments: [0, SIGTERM, SIGKILL]
    )
    func ending(signal: Int32) throws {
      let sandbox = try Sandbox()
      let time = signal == 0 ? " --seconds 2" : ""
      let (pane, process) = try Self.start("--panes 2\(time)", in: sandbox)
      let directory = try Self.directory(of: process)
      try pane.waitFor("violations", within: 60)
      if signal != 0 { kill(process, signal) }
      let status = signal == 0 ? 0 : 128 + signal
      try Self.expectEnd(of: directory, sandbox, status: status)
    }

    @Test("Every scene succeeds on a single screen")
    func scenes() throws {
      let sandbox = try Sandbox()
      let (pane, process) = try Self.start("--present --pace 0.1 --no-tmux", in: sandbox)
      let directory = try Self.directory(of: process)
      try Self.expectEnd(of: directory, sandbox, within: 400)
      try pane.waitFor("ok: 2 stars at once", within: 30)
      let screen = try pane.screen()
      #expect(screen.contains("ok: carol wrote one post offline: it arrived once"))
      #expect(screen.contains("ok: mallory was told that the star was not saved"))
      #expect(screen.contains("auth != null"))
      #expect(screen.contains(try! Regex(#"ok: server \d+ was killed, \d+ went on"#)))
      #expect(!screen.contains("WRONG"))
    }

    @Test("Keys play scenes and inject faults, and every count is right")
    func speaker() throws {
      let sandbox = try Sandbox()
      let (pane, process) = try Self.start("--present", in: sandbox)
      let directory = try Self.directory(of: process)
      try pane.waitFor("next: Race on one star", within: 60)
      try pane.press("F8")
      try pane.waitFor("all stars are counted", within: 120) {
        // The people without a terminal may have starred the same post.
        $0.contains(try! Regex(#"2 stars at once( and \d of others)?: (\d+) given, \2 counted"#))
      }
      try pane.waitFor("next: Pulled cable", within: 60)
      try pane.press("F7", until: "next: Race on one star", within: 120)
      try pane.press("M-5")
      try pane.waitFor("six have raced", within: 60) {
        $0.contains(try! Regex(#"six at once (un)?starred .*: (\d+) counted, \2 given"#))
      }
      for (key, begun, over) in [
        ("M-2", "stands still", "goes on"), ("M-3", "a cable is cut", "the cable is back"),
        ("M-4", "the disk is full", "there is room on the disk again"),
      ] {
        try pane.press(key, until: begun, within: 60)
        // What the server would show stands still; a full disk is named at the terminals.
        let told = ["M-2": "no answer from the server", "M-4": "stored: the disk is full"][key]
        if let told { try pane.waitFor(told, within: 60) }
        try pane.press(key, until: over, within: 60)
      }
      try pane.press("M-1", until: "was killed", within: 60)
      try pane.press("F10")
      try Self.expectEnd(of: directory, sandbox)
    }

    @Test("The demo runs against a remote database and leaves its server running")
    func elsewhere() throws {
      let sandbox = try Sandbox()
      let server = try sandbox.serve([
        "--emulator", "--port", "0", "--socket", sandbox.directory + "/s",
      ])
      let (pane, process) = try Self.start(
        "--panes 3 --database http://127.0.0.1:\(server.port)?ns=hearth",
        in: sandbox
      )
      let directory = try Self.directory(of: process)
      try pane.waitFor("the live pane measures", within: 120) { screen in
        screen.contains(try! Regex(#"write to screen p50 \d+ ms, p99 \d+ ms"#))
          && screen.contains(try! Regex(#"checked +[1-9]\d* times: [1-9]"#))
          && screen.contains(try! Regex(#"violations +0"#))
      }
      try pane.press("F10")
      try Self.expectEnd(of: directory, sandbox)
      #expect(!server.process.hasEnded)
      let posts = try server.request("GET", "/posts.json?ns=hearth", bearer: "owner")
      #expect(posts.status == 200)
      #expect(posts.body.contains(try! Regex(#"(bob|carol) \d+: "#)))
    }
  }
}
