/// The abilities of a terminal that terminfo does not describe.
package enum TerminalAbilities {
  /// Whether a terminal of this type (`TERM`) and environment is known to open links (OSC 8).
  ///
  /// Most terminals without this feature ignore the sequence, but some print it. An unknown
  /// terminal therefore gets no links.
  package static func opensLinks(type: String, _ environment: (String) -> String?) -> Bool {
    func version(_ name: String) -> (Int, Int) {
      let numbers = (environment(name) ?? "").split { !$0.isNumber }.map { Int($0) ?? 0 }
      return (numbers.first ?? 0, numbers.dropFirst().first ?? 0)
    }
    // Inside a multiplexer, the multiplexer decides, whatever terminal is around it.
    if environment("STY") != nil || type.hasPrefix("screen") && environment("TMUX") == nil {
      return false
    }
    if environment("TMUX") != nil || type.hasPrefix("tmux") {
      return environment("TERM_PROGRAM") == "tmux" && version("TERM_PROGRAM_VERSION") >= (3, 4)
    }
    let types = ["xterm-kitty", "xterm-ghostty", "foot", "wezterm", "contour", "alacritty"]
    if types.contains(where: { type.hasPrefix($0) }) { return true }
    let programs = ["iTerm.app", "WezTerm", "vscode", "ghostty", "Hyper", "rio", "Tabby"]
    if programs.contains(environment("TERM_PROGRAM") ?? "") { return true }
    // Versions of VTE: 0.50 is 5000. Konsole: 21.04 is 210400.
    return version("VTE_VERSION").0 >= 5_000 || version("KONSOLE_VERSION").0 >= 210_400
      || environment("WT_SESSION") != nil || environment("KITTY_WINDOW_ID") != nil
  }

  /// A text that identifies the terminal of this environment, as far as it is known.
  package static func identity(type: String, _ environment: (String) -> String?) -> String {
    let names = [
      "TERM_PROGRAM", "TERM_PROGRAM_VERSION", "VTE_VERSION", "KONSOLE_VERSION", "COLORTERM",
    ]
    let parts = [type] + names.compactMap { name in environment(name).map { "\(name)=\($0)" } }
    // A terminal inside another one measures text in its own way.
    let within = ["TMUX", "STY"].filter { environment($0) != nil }
    return String((parts + within).joined(separator: " ").prefix(300))
  }

  /// Whether the terminal of this process is known to open links.
  package static func opensLinks() -> Bool {
    opensLinks(type: NcursesTerminal.environment("TERM") ?? "") { NcursesTerminal.environment($0) }
  }

  package static func identity() -> String {
    identity(type: NcursesTerminal.environment("TERM") ?? "") { NcursesTerminal.environment($0) }
  }
}

/// Asks a terminal how wide it draws joined emoji.
///
/// It writes three sequences, each at the beginning of a line, and requests the cursor position
/// after each. The first frame wipes them away. Nothing waits for the replies: until they arrive,
/// and if none does, each joined emoji is shown as the first of its parts.
enum EmojiMeasure {
  /// The emoji that are measured: a family, a skin tone, and a heart as a picture.
  static let probes = ["👨\u{200D}👩\u{200D}👧", "👋🏽", "❤\u{FE0F}"]
  /// The row of the first probe; a reply for row 1 could be mistaken for a key.
  static let firstRow = 2
  /// The columns that a reply may report.
  static let columns = 1...12
  /// The column that a reply should report: after two cells.
  static let rightColumn = 3

  /// The bytes to write to a terminal with that many rows; nil if there are too few.
  static func question(rows: Int) -> String? {
    guard rows > firstRow + probes.count else { return nil }
    // The emoji are concealed, since the first frame may take a moment.
    let all = probes.enumerated().map { number, probe in
      let row = firstRow + number
      return "\u{1B}[\(row);1H\u{1B}[8m\(probe)\u{1B}[0m\u{1B}[6n\r\u{1B}[2K"
    }
    return all.joined() + "\u{1B}[H"
  }

  /// The meaning of a reply: the index of the probe, and whether it took two cells; nil if it
  /// answers none.
  static func answer(row: Int, column: Int) -> (number: Int, isRight: Bool)? {
    let number = row - firstRow
    guard probes.indices.contains(number), columns.contains(column) else { return nil }
    return (number, column == rightColumn)
  }
}
