/// What the user has chosen, and where each choice comes from.
package struct Settings: Hashable, Sendable, Codable {
  /// Where a value comes from; later ones win over earlier ones.
  package enum Origin: Hashable, Sendable, Comparable, Codable {
    /// Nobody chose.
    case standard
    /// The configuration file.
    case file(String, line: Int?)
    /// A variable of the environment.
    case environment(String)
    /// The command line.
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

  private struct Choice: Hashable, Sendable, Codable {
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
