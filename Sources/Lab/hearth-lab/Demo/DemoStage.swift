import Foundation
import HearthLab
import HearthProgram
import NIOConcurrencyHelpers
import RealtimeCore

/// A demonstration in several tmux terminals: sets it up, shows it, and removes it again.
struct DemoStage {
  static let names = ["bob", "carol", "dave", "erin", "frank", "grace", "heidi", "ivan"]

  /// The name of a person who connects to the port and is not signed in.
  static let stranger = "mallory"

  struct Wishes: Codable, Sendable {
    /// The number of terminals, including the user's own.
    var terminals: Int
    var user: String
    /// After how many seconds the demonstration ends; nil for no limit.
    var seconds: Double?
    /// Whether scenes are played.
    var presents = false
    /// The seed; equal seeds make demonstrations alike.
    var seed: UInt64
    /// The URL of a remote database.
    var database: String?
    /// The time for reading a scene, as a multiple of the usual time; nil if a speaker decides.
    var pace: Double?
    /// The names of the people at the other terminals.
    var cast = DemoStage.names
  }

  /// An empty directory.
  let folder: DemoFolder
  let wishes: Wishes

  /// Starts a server with its data in the directory; returns its port for clients without
  /// privileges.
  static func startServer(in folder: DemoFolder) async throws -> Int {
    let rules = "\(folder.directory)/rules.json"
    try DemoRules.source.write(toFile: rules, atomically: true, encoding: .utf8)
    let server = try server(in: folder, port: 0)
    guard let line = await server.firstLine(), let ready = try? JSONParser.parse(line),
      ready["ready"]?.bool == true
    else {
      throw CommandFailure(.failed, "the server of the demonstration does not start")
    }
    let port = ready["port"]?.integer.flatMap { Int(exactly: $0) } ?? 0
    try String(port).write(toFile: folder.port, atomically: true, encoding: .utf8)
    return port
  }

  /// Starts a server at the port of the one before, unless a terminal has started one first.
  static func restartServer(in folder: DemoFolder) {
    let text = try? String(contentsOfFile: folder.port, encoding: .utf8)
    if let port = text.flatMap({ Int($0) }) { _ = try? server(in: folder, port: port) }
  }

  private static func server(in folder: DemoFolder, port: Int) throws -> ChildProcess {
    try ChildProcess(
      [
        "serve", "--data-dir", folder.data, "--socket", folder.socket, "--port", "\(port)",
        "--rules",
        "\(folder.directory)/rules.json", "--log", "\(folder.directory)/server.log", "--idle-exit",
        "10",
      ],
      of: ChildProcess.hearth,
      errors: "/dev/null"
    )
  }

  /// Shows the demonstration until it is over; returns the signal that ended it, if one did.
  func run() async throws -> Int32? {
    let asked = NIOLockedValueBox<Int32?>(nil)
    let tmux = TmuxServer(folder)
    let watches = [SIGTERM, SIGINT, SIGHUP].map { number in
      SignalWatch(number) {
        asked.withLockedValue { $0 = number }
        tmux.run(["kill-server"])
      }
    }
    defer { for watch in watches { watch.cancel() } }
    let port = wishes.database == nil ? try await Self.startServer(in: folder) : nil
    try setUp(port: port)
    // Obeys a signal that arrived before there was a tmux server.
    if let number = asked.withLockedValue({ $0 }) { return number }
    // tmux refuses to run inside another tmux while this variable is set.
    unsetenv("TMUX")
    let words = [TmuxServer.program ?? "tmux"] + tmux.prefix + ["attach-session", "-t", "demo"]
    _ = OtherProgram.run(words, with: .terminal)
    Self.removeLastWords()
    return asked.withLockedValue { $0 }
  }

  /// Removes the line with which tmux reports that it has ended.
  private static func removeLastWords() {
    if isatty(STDOUT_FILENO) == 1 { Output.text("\u{1B}[A\r\u{1B}[K") }
  }

  private func setUp(port: Int?) throws {
    let tmux = TmuxServer(folder)
    let size = Self.terminalSize
    func open(
      _ arguments: [String],
      of program: String = ChildProcess.hearth,
      isFirst: Bool = false
    ) throws(CommandFailure) -> TmuxServer.Pane {
      try tmux.open(
        [program] + arguments,
        isFirst: isFirst,
        columns: size.columns,
        rows: size.rows
      )
    }
    let own = try open(reach(folder.socket) + ["--user", wishes.user], isFirst: true)
    adorn(tmux)
    var plan = DemoPlan(wishes: wishes, own: own)
    let names = Self.names.prefix(wishes.terminals - 1)
    for name in names {
      let isAtCable = wishes.database == nil && name == names.last && names.count > 1
      let words =
        isAtCable
        ? ["--database", DemoFolder.url(folder.cable), "--database-name", "demo, by a cable"]
        : reach(folder.socket)
      let pane = try open(words + ["--user", name])
      plan.actors.append(DemoPlan.Actor(name: name, pane: pane))
    }
    if wishes.presents, let port {
      let words = [
        "--database", DemoFolder.url(port: port), "--user", Self.stranger,
        "--database-name", "demo, not signed in",
      ]
      plan.stranger = DemoPlan.Actor(name: Self.stranger, pane: try open(words))
    }
    try plan.write(to: folder.plan)
    let live = try open(["demo", "--conduct", folder.directory], of: ChildProcess.program)
    var keys = DemoHarm.allCases.map { ("M-\($0.rawValue)", "\($0.rawValue)") }
    if wishes.presents { keys += [("F8", "Space"), ("F7", "b")] }
    for (key, sent) in keys { tmux.run(["bind", "-n", key, "send-keys", "-t", live.id, sent]) }
    tmux.run(["select-pane", "-t", own.id])
  }

  /// The options with which a terminal reaches the database.
  private func reach(_ socket: String) -> [String] {
    if let database = wishes.database { return ["--database", database] }
    return ["--data-dir", folder.data, "--socket", socket, "--database-name", "demo"]
  }

  private func adorn(_ tmux: TmuxServer) {
    let keys = (wishes.presents ? ["F8 next", "F7 back"] : []) + ["F9 next terminal", "F10 end"]
    let options = [
      ["set", "-g", "status-left", " hearth demo: type in any terminal "],
      ["set", "-g", "status-right", " \(keys.joined(separator: "  ")) "],
      ["set", "-g", "status-right-length", "60"], ["set", "-g", "status-left-length", "40"],
      ["set", "-g", "window-status-format", ""],
      ["set", "-g", "window-status-current-format", ""], ["set", "-s", "escape-time", "0"],
      ["set", "-g", "mouse", "on"], ["set", "-g", "default-terminal", "screen-256color"],
      ["bind", "-n", "F9", "select-pane", "-t", ":.+"], ["bind", "-n", "F10", "kill-server"],
      // Leaving the own terminal ends the demonstration.
      ["set-hook", "-g", "pane-exited", "kill-server"],
    ]
    for option in options { tmux.run(option) }
  }

  private static var terminalSize: (columns: Int, rows: Int) {
    var size = winsize()
    guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 1
    else {
      return (160, 48)
    }
    return (Int(size.ws_col), Int(size.ws_row))
  }
}

/// The plan of a demonstration, stored in a file that its live pane reads.
struct DemoPlan: Codable, Sendable {
  struct Actor: Codable, Sendable {
    let name: String
    let pane: TmuxServer.Pane
  }

  let wishes: DemoStage.Wishes
  /// The user's own terminal.
  let own: TmuxServer.Pane
  var actors: [Actor] = []
  /// Whether the last person is at a cable, as where there is more than one.
  var hasSomebodyAtCable: Bool { wishes.database == nil && actors.count > 1 }
  /// A person who connects to the port, where rules apply; nil if there is none.
  var stranger: Actor?
}

extension DemoPlan {
  func write(to path: String) throws {
    try JSONEncoder().encode(self).write(to: URL(fileURLWithPath: path), options: .atomic)
  }

  init(from path: String) throws {
    self = try JSONDecoder().decode(Self.self, from: Data(contentsOf: URL(fileURLWithPath: path)))
  }
}

/// The terminals of a demonstration, which can be typed in and read.
protocol DemoTerminals: Sendable {
  /// Presses keys by their tmux names in several terminals, as nearly at once as possible.
  func press(_ keys: [String], in panes: [TmuxServer.Pane])
  func type(_ text: String, in pane: TmuxServer.Pane)
  /// The text of a terminal, one line per row; empty if the terminal is gone.
  func screen(of pane: TmuxServer.Pane) -> String
}

extension TmuxServer: DemoTerminals {}
