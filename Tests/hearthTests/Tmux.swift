import Foundation
import Testing

extension Trait where Self == ConditionTrait {
  /// Skips what needs terminals where there is no tmux.
  static var needsTmux: Self {
    .enabled(
      if: FileManager.default.isExecutableFile(atPath: "/usr/bin/tmux"),
      "tmux is not installed"
    )
  }
}

/// The terminals of a test, in a tmux server of its own.
extension Sandbox {
  /// Opens a terminal that runs a shell command.
  func open(_ command: String, columns: Int = 80, rows: Int = 24) throws -> Pane {
    terminalCount += 1
    let name = "pane\(terminalCount)"
    let variables = environment.flatMap { ["-e", "\($0.key)=\($0.value)"] }
    try tmux(
      [
        "-f", "/dev/null", "new-session", "-d", "-s", name, "-x", "\(columns)", "-y", "\(rows)",
        "-c", directory,
      ]
        // A server that exits with its last terminal would do so while the next one is being
        // opened.
        + variables + [command, ";", "set-option", "-s", "exit-empty", "off"]
    )
    return Pane(self, name)
  }

  /// Opens a terminal in which a user runs the program, and waits until it is online.
  func open(
    as user: String,
    _ options: String = "",
    variables: String = "",
    columns: Int = 80,
    rows: Int = 24
  ) throws -> Pane {
    let command = "\(variables) \(Sandbox.program) --user \(user) \(options)"
    let pane = try open(command, columns: columns, rows: rows)
    try pane.waitFor("online")
    return pane
  }

  @discardableResult
  func tmux(_ arguments: [String]) throws -> String {
    let output = directory + "/" + UUID().uuidString
    let process = try Spawned(
      "/usr/bin/tmux",
      ["-S", directory + "/tmux"] + arguments,
      environment: environment,
      output: output
    )
    process.wait()
    return try String(contentsOfFile: output, encoding: .utf8)
  }

  /// One terminal.
  struct Pane {
    private let sandbox: Sandbox
    private let name: String

    fileprivate init(_ sandbox: Sandbox, _ name: String) {
      self.sandbox = sandbox
      self.name = name
    }

    /// Types keys by their tmux names, and may wait until the screen contains a text.
    func press(_ keys: String..., until text: String? = nil, within seconds: Double = 60) throws {
      try sandbox.tmux(["send-keys", "-t", name] + keys)
      if let text { try waitFor(text, within: seconds) }
    }

    /// Types text literally, and may wait until the screen contains one.
    func type(_ text: String, until shown: String? = nil) throws {
      try sandbox.tmux(["send-keys", "-t", name, "-l", text])
      if let shown { try waitFor(shown) }
    }

    /// Types a line, ends it, and may wait until the screen contains a text.
    func enter(_ text: String, until shown: String? = nil) throws {
      try type(text)
      try press("Enter", until: shown)
    }

    /// Writes a post from a list with the form for it.
    func compose(_ title: String, _ body: String = "text") throws {
      try press("c", until: "New post")
      try type(title)
      try press("Tab")
      try type(body, until: body)
      try press("C-s")
      try waitFor("the form is closed") { !$0.contains("New post") }
    }

    func resize(columns: Int, rows: Int) throws {
      try sandbox.tmux(["resize-window", "-t", name, "-x", "\(columns)", "-y", "\(rows)"])
    }

    /// The screen as text, one line per row.
    func screen() throws -> String {
      try sandbox.tmux(["capture-pane", "-p", "-t", name])
    }

    /// Whether the terminal still runs its program.
    var isOpen: Bool {
      get throws {
        try sandbox.tmux(["list-sessions", "-F", "#{session_name}"])
          .split(separator: "\n").contains { $0 == name }
      }
    }

    /// The process ID of the program in the terminal.
    func process() throws -> pid_t {
      let text = try sandbox.tmux(["display-message", "-p", "-t", name, "#{pane_pid}"])
      return try #require(pid_t(text.trimmingCharacters(in: .whitespacesAndNewlines)))
    }

    /// Waits until the screen contains a text.
    func waitFor(_ text: String, within seconds: Double = 60) throws {
      try waitFor(text, within: seconds) { $0.contains(text) }
    }

    /// Waits until everything the terminal has written is stored, according to its status line.
    func waitUntilAcknowledged() throws {
      try waitFor("everything is stored") {
        $0.contains("online") && !$0.contains("not acknowledged")
      }
    }

    /// Waits until a newly opened terminal has made its automatic writes to the database at that
    /// address or to the local one.
    func waitUntilAtHome(as user: String, in database: String? = nil) throws {
      let options = ["--user", user] + (database.map { ["--database", $0] } ?? [])
      for path in ["/presence/\(user)", "/reading/\(user)", "/seen/\(user)"] {
        try waitUntil("\(path) is stored") {
          let outcome = try sandbox.run(["get", path] + options)
          return outcome.status == 0 && outcome.output != "null\n"
        }
      }
      try waitUntilAcknowledged()
    }

    /// Waits until the screen satisfies a condition.
    func waitFor(
      _ what: String,
      within seconds: Double = 60,
      _ condition: (String) -> Bool
    ) throws {
      do {
        try waitUntil("\(name): \(what)", within: seconds) { condition(try screen()) }
      } catch {
        Issue.record("the screen of \(name) is\n\(try screen())")
        throw error
      }
    }
  }
}
