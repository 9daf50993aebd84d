/// A user preference.
package enum Setting: String, CaseIterable, Hashable, Sendable, Codable {
  /// The colours.
  case theme
  /// When colours are used.
  case color
  /// ASCII only.
  case ascii
  case mouse
  case bell
  /// Whole frames at once.
  case synchronized = "synchronized-output"
  /// Links that the terminal can open.
  case hyperlinks
  /// Where the cursor is while nothing is typed.
  case cursor
  /// The number of columns of text.
  case textWidth = "text-width"
  /// How many lines a post has in a list.
  case density
  /// How times are shown.
  case times
  /// A line between days.
  case dayRules = "day-rules"
  /// List and post side by side.
  case split
  /// Typing is told to others.
  case sendTyping = "send-typing"
  /// Typing of others is shown.
  case showTyping = "show-typing"
  case notifications

  /// The values that a setting can have.
  package enum Kind: Hashable, Sendable {
    /// Yes or no.
    case flag
    /// One of these words.
    case choice([String])
    /// A number between these, which are allowed too.
    case number(ClosedRange<Int>)
    /// The name of a theme.
    case theme
  }

  /// The values it can have.
  package var kind: Kind {
    switch self {
    case .theme: .theme
    case .color: .choice(["auto", "always", "never"])
    case .ascii, .mouse, .bell, .synchronized, .hyperlinks, .sendTyping, .showTyping,
      .notifications,
      .dayRules:
      .flag
    case .cursor: .choice(["selection", "hidden"])
    case .textWidth: .number(40...400)
    case .density: .choice(["compact", "normal", "full"])
    case .times: .choice(["age", "date"])
    case .split: .choice(["auto", "never"])
    }
  }

  /// The value for those who choose nothing.
  package var standard: SettingValue {
    switch self {
    case .theme: .word("dark")
    case .color: .word("auto")
    case .ascii, .notifications, .dayRules: .flag(false)
    case .mouse, .bell, .synchronized, .hyperlinks, .sendTyping, .showTyping: .flag(true)
    case .cursor: .word("selection")
    case .textWidth: .number(100)
    case .density: .word("compact")
    case .times: .word("age")
    case .split: .word("auto")
    }
  }

  /// One sentence for manual pages and for the screen.
  package var help: String {
    switch self {
    case .theme: "The colours: dark, light, high-contrast, mono, or a file of your own."
    case .color: "Use colours: auto follows the terminal and NO_COLOR."
    case .ascii: "Draw with ASCII characters only."
    case .mouse: "Use the mouse; without it, the terminal selects text as usual."
    case .bell: "Ring the bell when something was refused."
    case .synchronized: "Draw each change of the screen at once, if the terminal can."
    case .hyperlinks: "Let the terminal open the links of posts, if it can."
    case .cursor:
      "Keep the terminal's cursor on the selected row, for screen readers and magnifiers."
    case .textWidth: "How wide text may get, in columns."
    case .density: "How many lines a post has in a list."
    case .times: "Show how long ago something was, or its date."
    case .dayRules: "Show a line with the date between the days of a list."
    case .split: "Show list and post side by side when the terminal is wide."
    case .sendTyping: "Let others see that you are writing a comment."
    case .showTyping: "Show who is writing a comment."
    case .notifications:
      "Tell of comments, answers, stars and mentions with the bell and on the desktop."
    }
  }
}

package enum SettingValue: Hashable, Sendable, CustomStringConvertible, Codable {
  /// Yes or no.
  case flag(Bool)
  case word(String)
  case number(Int)

  /// The value as it is typed.
  package var description: String {
    switch self {
    case .flag(let isOn): isOn ? "true" : "false"
    case .word(let word): word
    case .number(let number): String(number)
    }
  }

  /// The value as a configuration file writes it.
  package var tomlText: String {
    switch self {
    case .word(let word): "\"\(word)\""
    case .flag, .number: description
    }
  }
}

/// Why a value cannot be the value of a setting.
package struct SettingProblem: Error, Hashable, Sendable {
  /// What is wrong and what would be right.
  package let reason: String

  /// Makes a problem.
  package init(_ reason: String) {
    self.reason = reason
  }
}

/// The user's preferences and the origin of each value.
package struct Settings: Hashable, Sendable, Codable {
  /// Where a value comes from; later ones win over earlier ones.
  package enum Origin: Hashable, Sendable, Comparable, Codable {
    /// Nobody chose.
    case standard
    /// The configuration file.
    case file(String, line: Int?)
    /// A variable of the environment.
    case environment(String)
    case commandLine(String)
    /// The running program.
    case session

    private var rank: Int {
      switch self {
      case .standard: 0
      case .file: 1
      case .environment: 2
      case .commandLine: 3
      case .session: 4
      }
    }

    /// Whether the other one wins.
    package static func < (left: Origin, right: Origin) -> Bool { left.rank < right.rank }

    /// The origin in words.
    package var text: String {
      switch self {
      case .standard: "default"
      case .file(let name, let line): line.map { "\(name):\($0)" } ?? name
      case .environment(let name): "$\(name)"
      case .commandLine(let name): name
      case .session: "chosen here"
      }
    }
  }

  /// What was chosen for a setting, and by whom.
  struct Choice: Hashable, Sendable, Codable {
    let value: SettingValue
    let origin: Origin
  }

  private var choices: [Setting: Choice] = [:]

  /// Makes settings in which nobody has chosen anything.
  package init() {}

  /// The value that holds.
  package subscript(setting: Setting) -> SettingValue {
    choices[setting]?.value ?? setting.standard
  }

  /// What was chosen for a setting; nil where nobody has chosen.
  subscript(choiceOf setting: Setting) -> Choice? {
    get { choices[setting] }
    set { choices[setting] = newValue }
  }

  /// Where the value comes from.
  package func origin(of setting: Setting) -> Origin {
    choices[setting]?.origin ?? .standard
  }

  /// Chooses a value, unless a stronger origin has chosen before.
  package mutating func choose(_ value: SettingValue, for setting: Setting, from origin: Origin) {
    guard origin >= self.origin(of: setting) else { return }
    choices[setting] = Choice(value: value, origin: origin)
  }

  /// Whether a flag is on.
  package func isOn(_ setting: Setting) -> Bool { self[setting] == .flag(true) }

  /// The word of a setting.
  package func word(_ setting: Setting) -> String { self[setting].description }

  /// The number of a setting.
  package func number(_ setting: Setting) -> Int {
    guard case .number(let number) = self[setting] else { return 0 }
    return number
  }
}

extension Setting {
  /// Reads a typed value.
  ///
  /// - Parameters:
  ///   - text: What was typed.
  ///   - themes: The names of all themes.
  /// - Returns: The value, or what is wrong with it.
  package func value(of text: String, themes: [String]) -> Result<SettingValue, SettingProblem> {
    switch kind {
    case .flag:
      switch text {
      case "true", "on", "yes": return .success(.flag(true))
      case "false", "off", "no": return .success(.flag(false))
      default: return .failure(SettingProblem("\(rawValue) is true or false, not \"\(text)\""))
      }
    case .choice(let words):
      return Self.word(text, of: words, name: rawValue)
    case .theme:
      return Self.word(text, of: themes, name: rawValue)
    case .number(let range):
      guard let number = Int(text), range.contains(number) else {
        let bounds = "\(range.lowerBound) to \(range.upperBound)"
        return .failure(SettingProblem("\(rawValue) is a number from \(bounds), not \"\(text)\""))
      }
      return .success(.number(number))
    }
  }

  private static func word(
    _ text: String,
    of words: [String],
    name: String
  ) -> Result<SettingValue, SettingProblem> {
    if words.contains(text) { return .success(.word(text)) }
    let all = words.joined(separator: ", ")
    return .failure(SettingProblem("\(name) is one of \(all), not \"\(text)\""))
  }

  /// The words that can be typed as a value.
  package func suggestions(themes: [String]) -> [String] {
    switch kind {
    case .flag: ["true", "false"]
    case .choice(let words): words
    case .theme: themes
    case .number: []
    }
  }
}
