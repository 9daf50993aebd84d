import Foundation
import HearthLab
import HearthProgram

/// The tmux server of a demonstration, with all its terminals.
struct TmuxServer: Sendable {
  struct Pane: Hashable, Sendable, Codable {
    /// Its identifier in tmux.
    let id: String
  }

  private let folder: DemoFolder

  init(_ folder: DemoFolder) {
    self.folder = folder
  }

  /// The path of tmux, if it is installed.
  static var program: String? { Tool.path(of: "tmux") }

  /// The arguments after `tmux` that select this server.
  var prefix: [String] { ["-S", folder.tmux, "-f", "/dev/null"] }

  /// The output of a tmux command, or of several separated by `;`; nil if it fails.
  @discardableResult
  func run(_ arguments: [String]) -> String? {
    guard let program = Self.program else { return nil }
    return Tool.output(of: [program] + prefix + arguments, environment: folder.environment)
  }

  /// Opens a terminal that runs a program; the first one starts the session.
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
    // A single word would be passed to a shell.
    guard let id = run(verb + ["-P", "-F", "#{pane_id}", "-c", "/", "--", "env"] + words) else {
      throw CommandFailure(.failed, "tmux opens no terminal (--no-tmux needs none)")
    }
    run(["select-layout", "-t", "demo:0", "tiled"])
    return Pane(id: id.trimmingCharacters(in: .whitespacesAndNewlines))
  }

  func press(_ keys: [String], in panes: [Pane]) {
    // Without a command, tmux would open a terminal.
    guard !panes.isEmpty, !keys.isEmpty else { return }
    var words: [String] = []
    for pane in panes { words += ["send-keys", "-t", pane.id] + keys + [";"] }
    run(words.dropLast())
  }

  func type(_ text: String, in pane: Pane) {
    run(["send-keys", "-t", pane.id, "-l", text])
  }

  func screen(of pane: Pane) -> String {
    run(["capture-pane", "-p", "-t", pane.id]) ?? ""
  }
}
