import BlogTUI
import Foundation
import RealtimeDatabase

/// What helps to find a fault: versions, the terminal, places and settings, and nothing secret.
enum DebugInformation {
  /// Variables that change how the program looks or where it keeps things.
  private static let variables = [
    "TERM", "COLORTERM", "COLORFGBG", "NO_COLOR", "LANG", "LC_ALL", "LC_CTYPE", "ESCDELAY", "TMUX",
    "STY", "SSH_TTY", "VISUAL", "EDITOR", "BROWSER", "XDG_CONFIG_HOME", "XDG_DATA_HOME",
    "XDG_STATE_HOME", "XDG_RUNTIME_DIR",
  ]

  /// The lines to print.
  static func lines(
    places: Places,
    files: ConfigurationFiles,
    environment: [String: String] = ProcessInfo.processInfo.environment
  ) -> [String] {
    let configuration = files.read()
    var lines = ["hearth \(SDKVersion.current)", "system: \(system)"]
    lines.append("terminal: \(isatty(STDOUT_FILENO) == 1 ? "yes" : "no")")
    for name in variables {
      guard let value = environment[name] else { continue }
      // Sockets of others may carry names that are nobody's business.
      lines.append("\(name): \(name == "TMUX" || name == "SSH_TTY" ? "set" : value)")
    }
    lines.append("configuration: \(files.path)")
    lines.append("data: \(places.data)")
    lines.append("state: \(places.state)")
    for setting in Setting.allCases {
      let origin = configuration.settings.origin(of: setting)
      guard origin != .standard else { continue }
      lines.append("\(setting.rawValue): \(configuration.settings[setting]) (\(origin.text))")
    }
    lines += configuration.problems.map { "problem: \($0)" }
    return lines
  }

  private static var system: String {
    var name = utsname()
    guard uname(&name) == 0 else { return "unknown" }
    return [text(&name.sysname), text(&name.release), text(&name.machine)].joined(separator: " ")
  }

  private static func text<Characters>(_ characters: inout Characters) -> String {
    withUnsafeBytes(of: &characters) { bytes in
      String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
  }
}
