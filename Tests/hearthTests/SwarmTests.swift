import Foundation
import TestSupport
import Testing

/// A run of `hearth swarm` in its own sandbox.
struct SwarmProcess {
  let sandbox: Sandbox
  let process: Spawned
  let report: String
  let output: String

  /// Starts a run.
  ///
  /// - Parameters:
  ///   - arguments: The arguments after `swarm`.
  ///   - variables: Environment variables in addition to those of the sandbox.
  /// - Throws: The error that keeps the program from starting.
  init(_ arguments: [String], variables: [String: String] = [:]) throws {
    sandbox = try Sandbox()
    report = sandbox.directory + "/report.json"
    output = sandbox.directory + "/swarm.out"
    process = try Spawned(
      Sandbox.program,
      ["swarm", "--report", report, "--rules", Sandbox.package + "/assets/rules/blog.json"]
        + arguments,
      environment: sandbox.environment.merging(variables) { $1 },
      output: output,
      errors: output + ".err"
    )
  }

  /// The status and the report, once the run is over.
  func result() throws -> (status: Int32, report: [String: Any]) {
    let status = process.wait()
    guard let text = try? String(contentsOfFile: report, encoding: .utf8) else {
      Issue.record("there is no report: \(errors)")
      return (status, [:])
    }
    return (status, try object(text))
  }

  /// The output of the run.
  var text: String { (try? String(contentsOfFile: output, encoding: .utf8)) ?? "" }

  /// The progress messages of the run.
  var errors: String { (try? String(contentsOfFile: output + ".err", encoding: .utf8)) ?? "" }

  /// Keeps the histories of a run that went wrong, which may not do so again, beside the build.
  ///
  /// - Returns: Where they are.
  func keep(as name: String) -> String {
    let place = Sandbox.package + "/.build/\(name)"
    try? FileManager.default.removeItem(atPath: place)
    let copy = try? Spawned("/bin/cp", ["-r", sandbox.directory, place], environment: [:])
    return copy?.wait() == nil ? "nowhere" : place
  }

  /// The names of the promises that were violated, such as "I1" and "G4".
  static func violated(_ report: [String: Any]) -> Set<String> {
    let promises = report["promises"] as? [[String: Any]] ?? []
    return Set(
      promises.filter { ($0["violations"] as? Int ?? 0) > 0 }
        .flatMap { ($0["name"] as? String ?? "").split(separator: "/").map(String.init) }
    )
  }
}

extension EndToEnd {
  /// Many users, real faults, and a checker that reads the database by a different route.
  @Suite("Swarm")
  struct SwarmTests {
    /// Three seeds at a time, each in ten seconds or more; `SWARM_SEEDS` sets how many there are.
    private static let batches: [ClosedRange<Int>] = {
      let wanted = ProcessInfo.processInfo.environment["SWARM_SEEDS"].flatMap { Int($0) }
      let count = max(1, wanted ?? (Thoroughness.isFull ? 20 : 3))
      let first = wanted == nil ? Int(Thoroughness.seeds(1)[0] % 1_000_000) : 1
      let last = first + count - 1
      return stride(from: first, through: last, by: 3).map { $0...min($0 + 2, last) }
    }()

    /// A star by transaction takes two of them, and a client that is killed in between never makes
    /// the second; `fsck --repair` does.
    private static let allButKilledClients =
      "drop,delay,partition,pause,duplicate,server-kill,slow,clock,disk-full,rules,hostile"

    @Test(
      "Every promise holds for 12 users and 3 terminals under all faults",
      .needsTmux,
      arguments: batches
    )
    func seeds(seeds: ClosedRange<Int>) throws {
      let runs = try seeds.map { seed in
        try SwarmProcess([
          "--users", "12", "--seconds", "10", "--rate", "16", "--seed", "\(seed)",
          "--faults", seed.isMultiple(of: 2) ? "all" : Self.allButKilledClients,
          "--terminals", "3", "--stars", seed.isMultiple(of: 2) ? "increment" : "transaction",
          "--rules",
          Sandbox.package + "/assets/rules/"
            + (seed.isMultiple(of: 2) ? "blog.json" : "blog-transactions.json"),
        ])
      }
      var unchecked: [Set<String>] = []
      for (seed, run) in zip(seeds, runs) {
        let (status, report) = try run.result()
        // On a busy machine a run may do little; what it did must still be right.
        let isRight = status == 0 || (report["verdict"] as? String)?.hasPrefix("too little") == true
        let place = isRight ? "" : run.keep(as: "swarm-\(seed)")
        #expect(isRight, "seed \(seed), kept in \(place): \(run.text)")
        #expect(report["violations"] as? Int == 0)
        #expect(report["mishaps"] as? [String] == [])
        unchecked.append(Set(report["unchecked"] as? [String] ?? ["everything"]))
        let faults = try #require(report["faults"] as? [String: Int])
        #expect(faults.values.reduce(0, +) >= 6)
      }
      // What one run had no occasion to check, another one has checked.
      let missed = unchecked.dropFirst().reduce(unchecked.first ?? []) { $0.intersection($1) }
      #expect(missed == [])
    }

    @Test(
      "On a terminal, a pane shows the run; q ends the storm, and the report remains",
      .needsTmux
    )
    func pane() throws {
      let sandbox = try Sandbox()
      let pane = try Self.open(in: sandbox)
      try pane.waitFor("operations are drawn") { screen in
        screen.contains(try! Regex(#"(?m)^ p99 .* \d+ ms$"#)) && screen.contains("◌I1")
          && screen.contains("servers   ✓up")
      }
      try pane.resize(columns: 40, rows: 12)
      try pane.waitFor("the pane is narrow") { screen in
        screen.split(separator: "\n").allSatisfy { $0.count <= 40 } && screen.contains("ops/s")
          && screen.contains("◌◌◌")
      }
      try pane.resize(columns: 100, rows: 60)
      try pane.press("q", until: "status 0")
      let screen = try pane.screen()
      #expect(screen.contains("verdict: held"))
      #expect(screen.contains("hearth: the storm was ended after"))
      #expect(screen.contains("every starCount equals the number of stars"))
      #expect(!screen.contains("ops/s"))
      #expect(try Self.remains(of: sandbox) == [])
    }

    @Test(
      "On a terminal, ^C twice ends servers and clients at once",
      .needsTmux
    )
    func interruption() throws {
      let sandbox = try Sandbox()
      let pane = try Self.open(in: sandbox)
      try pane.waitFor("ops/s")
      try pane.press("C-c", "C-c", until: "status 130")
      #expect(try pane.screen().contains("hearth: clearing up"))
      #expect(try Self.remains(of: sandbox) == [])
    }

    @Test("The terminals of a swarm that is killed end, so that its server can", .needsTmux)
    func killed() throws {
      let run = try SwarmProcess(["--users", "2", "--seconds", "600", "--terminals", "1"])
      defer {
        for process in (try? Self.remains(of: run.sandbox)) ?? [] {
          if let number = pid_t(process) { kill(number, SIGKILL) }
        }
      }
      func terminals() throws -> Int {
        try Spawned.commandLines().values.count { words in
          words.last == "terminal0" && words.contains { $0.contains(run.sandbox.directory) }
        }
      }
      try waitUntil("a terminal runs") { try terminals() > 0 }
      run.process.kill()
      try waitUntil("the terminals have ended") { try terminals() == 0 }
    }

    private static func open(in sandbox: Sandbox) throws -> Sandbox.Pane {
      let rules = Sandbox.package + "/assets/rules/blog.json"
      return try sandbox.open(
        "\(Sandbox.program) swarm --users 3 --seconds 600 --rate 60 "
          + "--terminals 0 --rules \(rules); echo \"status $?\"; sleep 1000"
      )
    }

    /// The directory of a run that is over, and the processes that it has left behind.
    private static func remains(of sandbox: Sandbox) throws -> [String] {
      let files = try FileManager.default.contentsOfDirectory(atPath: sandbox.directory)
        .filter { $0.hasPrefix("hearth-swarm-") }
      let processes = try Spawned.commandLines().filter {
        $1.contains { $0.contains(sandbox.directory + "/hearth-swarm-") }
      }
      return files + processes.keys
    }

    @Test("Memory and descriptors of the server and its clients stay flat")
    func soak() throws {
      let run = try SwarmProcess([
        "--soak", "--users", "6", "--users-per-process", "2", "--seconds", "10", "--rate", "60",
        "--terminals", "0",
      ])
      let (status, report) = try run.result()
      #expect(status == 0, "\(run.text)")
      let resources = try #require(report["resources"] as? [[String: Any]])
      #expect(
        resources.compactMap { $0["name"] as? String } == [
          "memory of the server, MB", "descriptors of the server", "memory of a client, MB",
          "descriptors of a client",
        ]
      )
      #expect(resources.allSatisfy { $0["flat"] as? Bool == true })
      // There were no screens: what could not be checked is reported, and nothing else.
      #expect(report["unchecked"] as? [String] == ["I13"])
      #expect(run.text.contains("NOT CHECKED, for want of anything to see it by: I13"))
    }

    @Test("The races of the published samples are found", arguments: ["sample", "naive"])
    func samples(strategy: String) throws {
      var texts: [String] = []
      // Whether two of so few writes race is up to the machine.
      for seed in 1...8 {
        let run = try SwarmProcess([
          "--users", "6", "--seconds", "2", "--rate", "60", "--posts", "1", "--stars", strategy,
          "--mix", "star=3,unstar=2,comment=1", "--rules",
          Sandbox.package + "/assets/rules/quickstart.json", "--terminals", "0", "--seed",
          "\(seed)",
        ])
        let (status, report) = try run.result()
        if !SwarmProcess.violated(report).isDisjoint(with: ["I1", "I2", "I5"]) {
          #expect(status == 1)
          return
        }
        texts.append(run.text)
      }
      Issue.record("no race was found in \(texts.count) runs:\n\(texts.joined())")
    }

    /// The mistakes that can be made on purpose, with the promise that each one breaks.
    private static let bugs = [
      ("lost-write", "I3"), ("double-apply", "I3"), ("half-update", "I2"),
      ("reordered-comments", "I4"), ("lost-increment", "I5"), ("count-drift", "I1"),
      ("phantom-comment", "I3"), ("stale-read", "I8"), ("forgotten-comment", "G6"),
      ("diverging-view", "I6"), ("stuck-presence", "I10"), ("denied-write", "I9"),
      ("unbounded-memory", "I14"),
    ]

    @Test(
      "Every injected bug is found under its promise",
      // Several at a time: each waits more than it works.
      arguments: stride(from: 0, to: bugs.count, by: 7).map { bugs[$0..<min($0 + 7, bugs.count)] }
    )
    func findsBugs(bugs: ArraySlice<(String, String)>) throws {
      var hidden = Array(bugs)
      var texts = ""
      // On a busy machine, too little happens in a second to find them all.
      for seconds in [1, 4, 16] where !hidden.isEmpty {
        let runs = try hidden.map { name, _ in
          try SwarmProcess([
            "--users", "4", "--users-per-process", "4", "--seconds", "\(seconds)", "--rate", "80",
            "--seed", "3", "--inject-bug", name,
            "--mix", "post=5,comment=40,star=30,unstar=15,edit=5,count=10,trespass=30",
            "--posts", "2",
          ])
        }
        let found = try zip(hidden, runs).map { bug, run in
          let (status, report) = try run.result()
          let isFound = status == 1 && SwarmProcess.violated(report).contains(bug.1)
          if !isFound { texts += "\(bug.0): \(run.text)" }
          return isFound
        }
        hidden = zip(hidden, found).filter { !$1 }.map(\.0)
      }
      #expect(hidden.isEmpty, "\(texts)")
    }

    @Test("A run that does too little does not pass")
    func tooLittle() throws {
      let run = try SwarmProcess([
        "--users", "1", "--seconds", "0.3", "--rate", "50", "--posts", "1", "--mix", "trespass=1",
        "--terminals", "0",
        // There are fewer.
        "--users-per-process", "\(Int.max)",
      ])
      let (status, report) = try run.result()
      #expect(status == 1)
      #expect((report["verdict"] as? String)?.hasPrefix("too little") == true)
      #expect(report["violations"] as? Int == 0)
    }

    @Test("A swarm on an existing database harms only its own clients and leaves no data")
    func otherDatabase() throws {
      let sandbox = try Sandbox()
      let server = try sandbox.serve("--ephemeral", "--socket", sandbox.directory + "/s")
      let run = try SwarmProcess([
        "--users", "3", "--seconds", "1", "--rate", "40", "--mix", "post=1,comment=3,star=3",
        "--faults", "drop,server-kill", "--database", "unix:\(server.socket)?ns=hearth",
      ])
      let (status, report) = try run.result()
      #expect(status == 0, "\(run.text)")
      #expect(report["violations"] as? Int == 0)
      #expect(!server.process.hasEnded)
      // One of three connections was lost with the data on it, and another one was established.
      #expect((report["faults"] as? [String: Int])?.keys.sorted() == ["drop"])
      let activity = try #require(report["activity"] as? [String: Any])
      #expect(activity["connections"] as? Int ?? 0 > 3)
      #expect(run.errors.contains("left out: server-kill, which needs a server of the swarm's own"))
      let left = try sandbox.hearth("get", "/", "--database", "unix:\(server.socket)?ns=hearth")
      #expect(left.output == "null\n")
    }

    @Test("Rules that can be read only once are enough")
    func pipedRules() throws {
      let sandbox = try Sandbox()
      let rules = "<(cat '\(Sandbox.package)/assets/rules/blog.json')"
      let swarm = "swarm --users 2 --seconds 1 --terminals 0 --plain --rules"
      let run = try sandbox.run(["-c", "'\(Sandbox.program)' \(swarm) \(rules)"], of: "/bin/bash")
      // So short a storm may be too little to mean anything, but there was one.
      #expect(run.output.contains("verdict"), "\(run.errors)")
    }

    @Test(
      "Invalid options are rejected with a reason",
      arguments: [
        (["--users", "0"], "--users takes 1 to 5000"), (["--faults", "earthquake"], "earthquake"),
        (["--stars", "none"], "none"), (["--mix", "dance=1"], "dance"),
        (["--rate", "0"], "--rate"),
        (["--inject-bug", "typo"], "typo"), (["--admin-key-file", "k"], "about a --database"),
        (["--ca-file", "c"], "about a --database"), (["--api-key", "k"], "about a --database"),
        (["--keep"], "about a --database"), (["--servers", "0"], "--servers"),
        (["--servers", "3", "--database", "http://127.0.0.1:1?ns=x"], "--servers"),
        (["--servers", "3", "--faults", "disk-full"], "one server only"),
        (["--faults", "freeze"], "--servers"), (["--faults", "kill,postgres"], "--servers"),
        (["--report", "/nope/x"], "/nope/x cannot be written"), (["--report", "/"], "directory"),
        (["--rules", "/nope"], "/nope cannot be read"),
        (["--database", "https://localhost:1?ns=x", "--ca-file", "/nope"], "certificates: /nope"),
      ]
    )
    func refused(arguments: [String], reason: String) throws {
      let outcome = try Sandbox().run(["swarm"] + arguments)
      #expect(outcome.status == 2)
      #expect(outcome.errors.contains(reason), "\(outcome.errors)")
    }

    @Test("A report that cannot be written after the storm does not withhold the result")
    func unwrittenReport() throws {
      let sandbox = try Sandbox()
      let pipe = sandbox.directory + "/report"
      #expect(mkfifo(pipe, 0o600) == 0)
      let arguments = [
        "--users", "2", "--seconds", "1", "--report", pipe,
        "--rules", Sandbox.package + "/assets/rules/blog.json",
      ]
      let outcome = try sandbox.run(["swarm"] + arguments)
      #expect(outcome.status == 1 && outcome.errors.contains("nobody reads it"))
      #expect(outcome.output.contains("verdict: "), "\(outcome.errors)")
    }
  }
}
