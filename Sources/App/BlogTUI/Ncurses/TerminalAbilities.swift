/// What a terminal can do beyond what terminfo tells.
package enum TerminalAbilities {
  /// Whether the terminal of this environment is known to open links (OSC 8).
  ///
  /// Those that do not know the sequence mostly ignore it, but some write it on the screen. A terminal
  /// that is not known therefore gets none.
  ///
  /// - Parameters:
  ///   - type: The value of `TERM`.
  ///   - environment: The value of a variable, or nil.
  /// - Returns: Whether it is one of those that do.
  package static func opensLinks(type: String, _ environment: (String) -> String?) -> Bool {
    func version(_ name: String) -> (Int, Int) {
      let numbers = (environment(name) ?? "").split { !$0.isNumber }.map { Int($0) ?? 0 }
      return (numbers.first ?? 0, numbers.dropFirst().first ?? 0)
    }
    // Inside another program, that program decides, whatever is around it.
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

  /// What names the terminal of this environment, as far as it tells.
  package static func identity(type: String, _ environment: (String) -> String?) -> String {
    let names = [
      "TERM_PROGRAM", "TERM_PROGRAM_VERSION", "VTE_VERSION", "KONSOLE_VERSION", "COLORTERM",
    ]
    let parts = [type] + names.compactMap { name in environment(name).map { "\(name)=\($0)" } }
    // A terminal within a terminal measures in its own way.
    let within = ["TMUX", "STY"].filter { environment($0) != nil }
    return String((parts + within).joined(separator: " ").prefix(300))
  }

  /// What the terminal of this process is asked: whether it opens links.
  package static func opensLinks() -> Bool {
    opensLinks(type: NcursesTerminal.environment("TERM") ?? "") { NcursesTerminal.environment($0) }
  }

  /// What names the terminal of this process.
  package static func identity() -> String {
    identity(type: NcursesTerminal.environment("TERM") ?? "") { NcursesTerminal.environment($0) }
  }
}

/// Asks a terminal how wide it draws emoji that belong together.
///
/// It writes three of them, each at the beginning of a line, and asks behind each where the cursor is.
/// The first frame wipes them away. Nothing waits for the answers: until they are there, and where none
/// comes, the first emoji of each group stands for it.
enum EmojiMeasure {
  /// What is measured: a family, a skin tone, and a heart as a picture.
  static let probes = ["👨\u{200D}👩\u{200D}👧", "👋🏽", "❤\u{FE0F}"]
  /// The line of the first; the answer for the first line could be the report of a key.
  static let firstRow = 2
  /// The columns that an answer may name.
  static let columns = 1...12
  /// The right column: behind two cells.
  static let rightColumn = 3

  /// What is written to a terminal with so many rows; nil if it is too low.
  static func question(rows: Int) -> String? {
    guard rows > firstRow + probes.count else { return nil }
    // Concealed, as the first frame may be a moment away.
    let all = probes.enumerated().map { number, probe in
      let row = firstRow + number
      return "\u{1B}[\(row);1H\u{1B}[8m\(probe)\u{1B}[0m\u{1B}[6n\r\u{1B}[2K"
    }
    return all.joined() + "\u{1B}[H"
  }

  /// The sequences of all answers, with the codes that stand for them.
  static let answers: [(String, Int32)] = probes.indices.flatMap { number in
    columns.map { column in
      ("\u{1B}[\(firstRow + number);\(column)R", code(number: number, column: column))
    }
  }

  private static func code(number: Int, column: Int) -> Int32 {
    KeyDecoder.Code.firstMeasure + Int32(number * 16 + column)
  }

  /// What an answer says: the number of the probe, and whether it took two cells.
  static func answer(of code: Int32) -> (number: Int, isRight: Bool)? {
    let offset = Int(code - KeyDecoder.Code.firstMeasure)
    guard offset >= 0, probes.indices.contains(offset / 16) else { return nil }
    return (offset / 16, offset % 16 == rightColumn)
  }
}
