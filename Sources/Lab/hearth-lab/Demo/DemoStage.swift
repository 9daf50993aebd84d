import BlogSwarm
import Foundation
import HearthProgram
import NIOConcurrencyHelpers
import RealtimeCore

/// A demonstration in several terminals of tmux: it is set up, shown, and taken away again.
struct DemoStage {
  /// The names of those who act.
  static let names = ["bob", "carol", "dave", "erin", "frank", "grace", "heidi", "ivan"]

  /// The name of somebody who comes in by the port, and is not signed in.
  static let stranger = "mallory"

  /// What the options say.
  struct Wishes {
    /// The number of people's terminals, the user's own among them.
    var terminals: Int
    /// Who the user is.
    var user: String
    /// After how many seconds it ends by itself.
    var seconds: Double?
    /// Whether there are scenes.
    var presents: Bool
    /// The number that makes two demonstrations alike.
    var seed: UInt64
    /// A database elsewhere.
    var database: String?
    /// How long people have to read a scene, as a multiple of the usual time.
    var pace = 1.0
  }

  private let place: DemoFolder
  private let wishes: Wishes
  private let program: String

  /// Makes a stage in an empty place.
  init(in place: DemoFolder, wishes: Wishes) {
    self.place = place
    self.wishes = wishes
    program = ChildProcess.hearth
  }

  /// Starts a server that keeps its data here, and returns its port for those who are no administrators.
  ///
  /// - Throws: ``CommandFailure`` when it does not start.
  static func startServer(in place: DemoFolder) async throws -> Int {
    let rules = "\(place.directory)/rules.json"
    try DemoRules.source.write(toFile: rules, atomically: true, encoding: .utf8)
    let server = try ChildProcess(
      [
        "serve", "--data-dir", place.data, "--socket", place.socket, "--port", "0", "--rules",
        rules, "--log", "\(place.directory)/server.log", "--idle-exit", "10",
      ],
      of: ChildProcess.hearth,
      errors: "/dev/null"
    )
    guard let line = await server.firstLine(), let ready = try? JSONParser.parse(line),
      ready["ready"]?.bool == true
    else {
      throw CommandFailure(.failed, description: "the server of the demonstration does not start")
    }
    return ready["port"]?.integer.flatMap { Int(exactly: $0) } ?? 0
  }

  /// Shows the demonstration in the terminal of this process until it is over.
  ///
  /// - Throws: ``CommandFailure`` when it cannot be set up.
  ///
  /// - Returns: The signal that ended it, if one did.
  func run() async throws -> Int32? {
    let asked = NIOLockedValueBox<Int32?>(nil)
    let tmux = TmuxServer(place)
    let watches = [SIGTERM, SIGINT, SIGHUP].map { number in
      SignalWatch(number) {
        asked.withLockedValue { $0 = number }
        tmux.run(["kill-server"])
      }
    }
    defer { for watch in watches { watch.cancel() } }
    let port = wishes.database == nil ? try await Self.startServer(in: place) : nil
    try setUp(port: port)
    // A signal that came before there was a tmux server is obeyed here.
    if let number = asked.withLockedValue({ $0 }) { return number }
    // Another terminal around this one is none of its business.
    unsetenv("TMUX")
    let words = [TmuxServer.program ?? "tmux"] + tmux.prefix + ["attach-session", "-t", "demo"]
    _ = OtherProgram.run(words, with: .terminal)
    Self.removeLastWords()
    return asked.withLockedValue { $0 }
  }

  /// Removes the line with which tmux says that it has ended.
  private static func removeLastWords() {
    if isatty(STDOUT_FILENO) == 1 { Output.text("\u{1B}[A\r\u{1B}[K") }
  }

  private func setUp(port: Int?) throws {
    let tmux = TmuxServer(place)
    let size = Self.terminalSize
    func open(_ words: [String], isFirst: Bool) throws(CommandFailure) -> TmuxServer.Pane {
      try tmux.open(
        words,
        isFirst: isFirst,
        columns: size.columns,
        rows: size.rows
      )
    }
    let own = try open([program] + reach(place.socket) + ["--user", wishes.user], isFirst: true)
    adorn(tmux)
    var plan = DemoPlan(
      own: own,
      presents: wishes.presents,
      seconds: wishes.seconds,
      seed: wishes.seed
    )
    plan.database = wishes.database
    plan.pace = wishes.pace
    let names = Self.names.prefix(wishes.terminals - 1)
    for name in names {
      let isAtCable = wishes.database == nil && name == names.last && names.count > 1
      let words =
        isAtCable
        ? ["--database", DemoFolder.url(place.cable), "--database-name", "demo, by a cable"]
        : reach(place.socket)
      plan.actors.append(
        DemoPlan.Actor(
          name: name,
          pane: try open([program] + words + ["--user", name], isFirst: false)
        )
      )
    }
    if wishes.presents, let port {
      let words = [
        "--database", DemoFolder.url(port: port), "--user", Self.stranger,
        "--database-name", "demo, not signed in",
      ]
      plan.stranger = DemoPlan.Actor(
        name: Self.stranger,
        pane: try open([program] + words, isFirst: false)
      )
    }
    try plan.write(to: place.plan)
    let live = try open(
      [ChildProcess.program, "demo", "--conduct", place.directory],
      isFirst: false
    )
    if wishes.presents { tmux.run(["bind", "-n", "F8", "send-keys", "-t", live.id, "Space"]) }
    tmux.run(["select-pane", "-t", own.id])
  }

  /// How a terminal comes to the database.
  private func reach(_ socket: String) -> [String] {
    if let database = wishes.database { return ["--database", database] }
    return ["--data-dir", place.data, "--socket", socket, "--database-name", "demo"]
  }

  private func adorn(_ tmux: TmuxServer) {
    let keys = (wishes.presents ? ["F8 next scene"] : []) + ["F9 next terminal", "F10 end"]
    let options = [
      ["set", "-g", "status-left", " hearth demo: type in any terminal "],
      ["set", "-g", "status-right", " \(keys.joined(separator: "  ")) "],
      ["set", "-g", "status-right-length", "60"], ["set", "-g", "status-left-length", "40"],
      ["set", "-g", "window-status-format", ""],
      ["set", "-g", "window-status-current-format", ""], ["set", "-s", "escape-time", "0"],
      ["set", "-g", "mouse", "on"], ["set", "-g", "default-terminal", "screen-256color"],
      ["bind", "-n", "F9", "select-pane", "-t", ":.+"], ["bind", "-n", "F10", "kill-server"],
      // Who leaves the own terminal leaves the demonstration.
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

/// What a demonstration shows: the file that its live pane begins with.
struct DemoPlan: Codable, Sendable {
  /// Somebody at a terminal.
  struct Actor: Codable, Sendable {
    /// The name.
    let name: String
    /// The terminal.
    let pane: TmuxServer.Pane
  }

  /// The user's own terminal.
  var own: TmuxServer.Pane
  /// The others, who act.
  var actors: [Actor] = []
  /// Whether there are scenes.
  var presents: Bool
  /// After how many seconds it ends by itself; nil for never.
  var seconds: Double?
  /// The number that makes two demonstrations alike.
  var seed: UInt64
  /// How long people have to read a scene, as a multiple of the usual time.
  var pace = 1.0
  /// The database elsewhere; nil for one of its own.
  var database: String?
  /// Somebody who is not let in by the socket, so that rules decide; nil when nobody is.
  var stranger: Actor?

  /// Writes the file.
  ///
  /// - Throws: What the system reports.
  func write(to path: String) throws {
    try JSONEncoder().encode(self).write(to: URL(fileURLWithPath: path), options: .atomic)
  }

  /// Reads the file.
  ///
  /// - Throws: What the system reports, or what is wrong with it.
  init(from path: String) throws {
    self = try JSONDecoder().decode(Self.self, from: Data(contentsOf: URL(fileURLWithPath: path)))
  }

  init(own: TmuxServer.Pane, presents: Bool, seconds: Double?, seed: UInt64) {
    self.own = own
    self.presents = presents
    self.seconds = seconds
    self.seed = seed
  }
}

/// The terminals of a demonstration: somebody types in them, and looks at them.
protocol DemoTerminals: Sendable {
  /// Presses keys by their tmux names in several terminals, as nearly at once as possible.
  func press(_ keys: [String], in panes: [TmuxServer.Pane])
  /// Types a text.
  func type(_ text: String, in pane: TmuxServer.Pane)
  /// What a terminal shows, a line a row; empty when it is gone.
  func screen(of pane: TmuxServer.Pane) -> String
}

extension TmuxServer: DemoTerminals {}
