import Foundation
import Testing

/// A tmux server for one test, with one terminal per pane.
final class Tmux {
  private let socket: String
  fileprivate let sandbox: Sandbox
  private var count = 0

  init(_ sandbox: Sandbox) {
    self.sandbox = sandbox
    socket = sandbox.directory + "/tmux"
  }

  deinit {
    _ = try? tmux(["kill-server"])
  }

  static let isInstalled = FileManager.default.isExecutableFile(atPath: "/usr/bin/tmux")

  /// Opens a terminal that runs a shell command.
  func open(_ command: String, columns: Int = 80, rows: Int = 24) throws -> Pane {
    count += 1
    let name = "pane\(count)"
    let variables = sandbox.environment.flatMap { ["-e", "\($0.key)=\($0.value)"] }
    try tmux(
      [
        "-f", "/dev/null", "new-session", "-d", "-s", name, "-x", "\(columns)", "-y", "\(rows)",
        "-c", sandbox.directory,
      ]
        // A server that exits with its last terminal would do so while the next one is being
        // opened.
        + variables + [command, ";", "set-option", "-s", "exit-empty", "off"]
    )
    return Pane(self, name)
  }

  @discardableResult
  func tmux(_ arguments: [String]) throws -> String {
    let output = sandbox.directory + "/" + UUID().uuidString
    let process = try Spawned(
      "/usr/bin/tmux",
      ["-S", socket] + arguments,
      environment: sandbox.environment,
      output: output
    )
    process.wait()
    return try String(contentsOfFile: output, encoding: .utf8)
  }

  /// One terminal.
  struct Pane {
    private let server: Tmux
    private let name: String

    init(_ server: Tmux, _ name: String) {
      self.server = server
      self.name = name
    }

    /// Types keys by their tmux names.
    func press(_ keys: String...) throws {
      try server.tmux(["send-keys", "-t", name] + keys)
    }

    /// Types text literally.
    func type(_ text: String) throws {
      try server.tmux(["send-keys", "-t", name, "-l", text])
    }

    func resize(columns: Int, rows: Int) throws {
      try server.tmux(["resize-window", "-t", name, "-x", "\(columns)", "-y", "\(rows)"])
    }

    /// The screen as text, one line per row.
    func screen() throws -> String {
      try server.tmux(["capture-pane", "-p", "-t", name])
    }

    /// Whether the terminal still runs its program.
    var isOpen: Bool {
      get throws {
        try server.tmux(["list-sessions", "-F", "#{session_name}"])
          .split(separator: "\n").contains { $0 == name }
      }
    }

    /// The process ID of the program in the terminal.
    func process() throws -> pid_t {
      let text = try server.tmux(["display-message", "-p", "-t", name, "#{pane_pid}"])
      return try #require(pid_t(text.trimmingCharacters(in: .whitespacesAndNewlines)))
    }

    /// Waits until the screen contains a text.
    func waitFor(_ text: String, within seconds: Double = 60) throws {
      do {
        try waitUntil("\(name) shows \(text)", within: seconds) { try screen().contains(text) }
      } catch {
        Issue.record("the screen of \(name) is\n\(try screen())")
        throw error
      }
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
          let outcome = try server.sandbox.run(
            ["get", path] + options,
            environment: server.sandbox.environment
          )
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
