private import Foundation

/// Terminals in tmux that run `hearth` while a swarm works.
struct SwarmTerminals: Sendable {
  /// How long it may take until the screens show the same content.
  private static let patience = Duration.seconds(60)
  /// The numbers of lines above and below the list, which differ between terminals.
  private static let frame = (above: 2, below: 3)

  private let count: Int
  private let socket: String
  private let directory: String

  init(
    _ count: Int,
    options: [String],
    areSignedIn: Bool = false,
    in directory: String
  ) throws(SwarmProblem) {
    self.count = count
    self.directory = directory
    socket = "\(directory)/tmux.sock"
    // All in one command, so that tmux does not exit with one terminal while another is being
    // opened.
    var words = ["tmux", "-S", socket, "-f", "/dev/null"]
    for number in 0..<count {
      let home = Self.home(number, in: directory)
      mkdir(home, 0o700)
      let variables = [
        "HOME=\(home)", "XDG_RUNTIME_DIR=\(home)", "XDG_DATA_HOME=", "XDG_STATE_HOME=",
        "XDG_CONFIG_HOME=", "LC_ALL=C.UTF-8", "TZ=UTC",
      ].flatMap { ["-e", $0] }
      let command = ["sh", "-c", "exec \"$@\"", "sh", ChildProcess.hearth] + options
      let user = areSignedIn ? [] : ["--user", Self.name(number)]
      words += ["new-session", "-d", "-s", Self.name(number), "-x", "100", "-y", "40"]
      words += variables + command + user + [";"]
    }
    words += ["set-option", "-s", "exit-empty", "off", ";"]
    // A swarm that is killed closes nothing, and no server is idle as long as a terminal watches.
    let watch = "while kill -0 \(getpid()) 2> /dev/null; do sleep 1; done; tmux kill-server"
    guard Tool.run(words + ["run-shell", "-b", watch]) else {
      throw SwarmProblem("no terminal can be opened; is tmux installed?")
    }
  }

  /// The name of a terminal and of its user.
  static func name(_ number: Int) -> String { "terminal\(number)" }

  /// The home directory of the user of a terminal.
  static func home(_ number: Int, in directory: String) -> String {
    "\(directory)/\(name(number))"
  }

  /// Waits until all screens are online and show the same content from the top of the list, and
  /// captures them.
  ///
  /// Screens that are offline may well show the same content, but not what the database has by now.
  /// The same is true of a screen that has only just come online.
  ///
  /// - Returns: The last capture of each screen, in the order of the terminals.
  func capture(
    where isCurrent: (CapturedScreen) async -> Bool = { _ in true }
  ) async -> [CapturedScreen] {
    let deadline = Moment.now.advanced(by: Self.patience)
    for number in 0..<count { _ = tmux(["send-keys", "-t", Self.name(number), "Home"]) }
    while true {
      let texts = (0..<count).map(text)
      let screens = texts.enumerated().map { Self.screen($0.offset, lines: $0.element) }
      let areEqual = Set(screens.map(\.lines)).count == 1
      if areEqual, texts.allSatisfy(Self.isOnline), let first = screens.first, !first.rows.isEmpty,
        await isCurrent(first)
      {
        return screens
      }
      if Moment.now > deadline { return screens }
      await Pause.lasting(.milliseconds(200))
    }
  }

  private func text(_ number: Int) -> [String] {
    let text = tmux(["capture-pane", "-p", "-t", Self.name(number)]) ?? ""
    return text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
  }

  /// Whether the status bar of a screen says that it is connected.
  static func isOnline(_ lines: [String]) -> Bool {
    lines.last { !$0.isEmpty }?.hasSuffix("● online") == true
  }

  private static func screen(_ number: Int, lines: [String]) -> CapturedScreen {
    let list = Self.list(lines)
    return CapturedScreen(
      terminal: Self.name(number),
      group: "recent",
      lines: list,
      rows: list.compactMap(Self.row)
    )
  }

  /// The lines of the list, without the ages of posts, their numbers of comments, and the leading
  /// marks.
  ///
  /// The age of a post grows with time, and the terminals read the clock at different moments. The
  /// selection and what has been read are each user's own. Comments are counted around what is on
  /// the screen.
  static func list(_ lines: [String]) -> [String] {
    let shown = lines.last == "" ? lines.dropLast() : lines[...]
    return shown.dropFirst(frame.above).dropLast(frame.below).map { line in
      let marks = line.prefix { "▌• ".contains($0) }
      let unmarked = String(repeating: " ", count: marks.count) + line.dropFirst(marks.count)
      return unmarked.replacing(#/ +\S+(?: +❝ \d+\+?)?( +[★☆] +\d+)$/#) { String($0.1) }
    }
  }

  /// The post in a line, if the swarm has written it.
  static func row(_ line: String) -> CapturedScreen.Row? {
    guard let end = line.range(of: " · "),
      let stars = line.split(separator: " ").last.flatMap({ Int($0) })
    else { return nil }
    let title = line[..<end.lowerBound].trimmingCharacters(in: .whitespaces)
    guard title.hasPrefix("hot ") || title.hasPrefix("post ") else { return nil }
    return CapturedScreen.Row(title: title, stars: stars)
  }

  func close() async {
    _ = tmux(["kill-server"])
  }

  /// Runs tmux and returns its output; nil when it failed.
  private func tmux(_ arguments: [String]) -> String? {
    Tool.output(of: ["tmux", "-S", socket] + arguments)
  }
}
