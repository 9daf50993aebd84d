import BlogSwarm
import Foundation
import HearthProgram

/// A tmux server of a demonstration, with all its terminals.
struct TmuxServer: Sendable {
  /// A terminal.
  struct Pane: Hashable, Sendable, Codable {
    /// Its name for tmux.
    let id: String
  }

  private let place: DemoFolder

  /// Names the server of a place, which may not run yet.
  init(_ place: DemoFolder) {
    self.place = place
  }

  /// Where tmux is, if it is there.
  static var program: String? {
    let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
    return path.split(separator: ":").map { "\($0)/tmux" }.first { access($0, X_OK) == 0 }
  }

  /// What follows `tmux` to reach this server.
  var prefix: [String] { ["-S", place.tmux, "-f", "/dev/null"] }

  /// Gives tmux a command, or several with `;` between them.
  ///
  /// - Returns: What it prints; nil when it cannot do that, or is not there.
  @discardableResult
  func run(_ arguments: [String]) -> String? {
    guard let program = Self.program else { return nil }
    return Tool.output(of: [program] + prefix + arguments, environment: place.environment)
  }

  /// Opens a terminal with a program: the first one begins the session.
  ///
  /// - Throws: ``CommandFailure`` when tmux does not do that.
  func open(
    _ words: [String],
    isFirst: Bool,
    columns: Int,
    rows: Int
  ) throws(CommandFailure) -> Pane {
    let verb =
      isFirst
      ? ["new-session", "-d", "-s", "demo", "-x", "\(columns)", "-y", "\(rows)"]
      : ["split-window", "-d", "-t", "demo:0"]
    // One word would go through a shell.
    guard let id = run(verb + ["-P", "-F", "#{pane_id}", "-c", "/", "--", "env"] + words) else {
      throw CommandFailure(.failed, description: "tmux opens no terminal (--no-tmux needs none)")
    }
    run(["select-layout", "-t", "demo:0", "tiled"])
    return Pane(id: id.trimmingCharacters(in: .whitespacesAndNewlines))
  }

  /// Presses keys in several terminals, as nearly at once as tmux can.
  func press(_ keys: [String], in panes: [Pane]) {
    // Without a command, tmux would open a terminal.
    guard !panes.isEmpty, !keys.isEmpty else { return }
    var words: [String] = []
    for pane in panes { words += ["send-keys", "-t", pane.id] + keys + [";"] }
    run(words.dropLast())
  }

  /// Types a text.
  func type(_ text: String, in pane: Pane) {
    run(["send-keys", "-t", pane.id, "-l", text])
  }

  /// What a terminal shows, a line a row; empty when it is gone.
  func screen(of pane: Pane) -> String {
    run(["capture-pane", "-p", "-t", pane.id]) ?? ""
  }
}
