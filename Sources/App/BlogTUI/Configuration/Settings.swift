package enum Setting: String, CaseIterable, Hashable, Sendable, Codable {
  case theme
  case color
  case ascii
  case mouse
  case bell
  case synchronized = "synchronized-output"
  case hyperlinks
  /// Where the cursor is while no text is being typed.
  case cursor
  case textWidth = "text-width"
  case density
  case motion
  case times
  case dayRules = "day-rules"
  case split
  case sendTyping = "send-typing"
  case shareReading = "share-reading"
  case showTyping = "show-typing"
  case notifications

  /// The values that a setting can have.
  package enum Kind: Hashable, Sendable {
    case flag
    case choice([String])
    case number(ClosedRange<Int>)
    case theme
  }

  package var kind: Kind {
    switch self {
    case .theme: .theme
    case .color: .choice(["auto", "always", "never"])
    case .ascii, .mouse, .bell, .synchronized, .hyperlinks, .sendTyping, .shareReading,
      .showTyping, .notifications, .dayRules, .motion:
      .flag
    case .cursor: .choice(["selection", "hidden"])
    case .textWidth: .number(40...400)
    case .density: .choice(["compact", "normal", "full"])
    case .times: .choice(["age", "date"])
    case .split: .choice(["auto", "never"])
    }
  }

  package var standard: SettingValue {
    switch self {
    case .theme: .word(Configuration.automatic)
    case .color: .word("auto")
    case .ascii, .notifications, .dayRules: .flag(false)
    case .mouse, .bell, .synchronized, .hyperlinks, .sendTyping, .shareReading, .showTyping,
      .motion:
      .flag(true)
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
    case .theme:
      "The colours: auto fits the terminal; ember, dusk, paper and others, or a file of your own."
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
    case .motion: "Tint what arrives for a second; never over a slow line."
    case .times: "Show how long ago something was, or its date."
    case .dayRules: "Show a line with the date between the days of a list."
    case .split: "Show list and post side by side when the terminal is wide."
    case .sendTyping: "Let others see that you are writing a comment."
    case .shareReading: "Let others see which post you read."
    case .showTyping: "Show who is writing a comment."
    case .notifications:
      "Tell of comments, answers, stars and mentions with the bell and on the desktop."
    }
  }
}

package enum SettingValue: Hashable, Sendable, CustomStringConvertible, Codable {
  case flag(Bool)
  case word(String)
  case number(Int)

  /// The value as the user types it.
  package var description: String {
    switch self {
    case .flag(let isOn): isOn ? "true" : "false"
    case .word(let word): word
    case .number(let number): String(number)
    }
  }

  /// The value as written in a configuration file.
  package var tomlText: String {
    switch self {
    case .word(let word): TOMLString.quoted(word)
    case .flag, .number: description
    }
  }
}

/// Why a value is invalid for a setting, or a binding for keys.
package struct SettingProblem: Error, Hashable, Sendable {
  package let reason: String
}

/// The user's preferences and the origin of each value.
package struct Settings: Hashable, Sendable, Codable {
  /// The origin of a value; later origins override earlier ones.
  package enum Origin: Hashable, Sendable, Comparable, Codable {
    case standard
    case file(String, line: Int?)
    case environment(String)
    case commandLine(String)
    /// A choice in the running program.
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

    package static func < (left: Origin, right: Origin) -> Bool { left.rank < right.rank }

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

  struct Choice: Hashable, Sendable, Codable {
    let value: SettingValue
    let origin: Origin
  }

  private var choices: [Setting: Choice] = [:]

  package subscript(setting: Setting) -> SettingValue {
    choices[setting]?.value ?? setting.standard
  }

  /// The choice for a setting; nil if it has its default value.
  subscript(choiceOf setting: Setting) -> Choice? {
    get { choices[setting] }
    set { choices[setting] = newValue }
  }

  package func origin(of setting: Setting) -> Origin {
    choices[setting]?.origin ?? .standard
  }

  /// Sets a value, unless an origin that overrides this one has set it.
  package mutating func choose(_ value: SettingValue, for setting: Setting, from origin: Origin) {
    guard origin >= self.origin(of: setting) else { return }
    choices[setting] = Choice(value: value, origin: origin)
  }

  package func isOn(_ setting: Setting) -> Bool { self[setting] == .flag(true) }

  package func word(_ setting: Setting) -> String { self[setting].description }

  /// The value of a setting as a number; 0 if it is not a number.
  package func number(_ setting: Setting) -> Int {
    guard case .number(let number) = self[setting] else { return 0 }
    return number
  }
}

extension Setting {
  /// Parses a typed value, or returns why it is invalid.
  package func value(of text: String, themes: [String]) -> Result<SettingValue, SettingProblem> {
    switch kind {
    case .flag:
      switch text {
      case "true", "on", "yes": return .success(.flag(true))
      case "false", "off", "no": return .success(.flag(false))
      default: return problem("true or false", text)
      }
    case .choice, .theme:
      let words = suggestions(themes: themes)
      guard words.contains(text) else {
        return problem("one of " + words.joined(separator: ", "), text)
      }
      return .success(.word(text))
    case .number(let range):
      guard let number = Int(text), range.contains(number) else {
        return problem("a number from \(range.lowerBound) to \(range.upperBound)", text)
      }
      return .success(.number(number))
    }
  }

  private func problem(_ values: String, _ text: String) -> Result<SettingValue, SettingProblem> {
    .failure(SettingProblem(reason: "\(rawValue) is \(values), not \"\(text)\""))
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
