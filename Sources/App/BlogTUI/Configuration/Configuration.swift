/// The configuration from files, environment variables and options.
package struct Configuration: Hashable, Sendable, Codable {
  package var settings = Settings()
  /// The key bindings that differ from the default ones.
  package var keys: [KeyOverride] = []
  /// The user's own commands for posts.
  package var commands: [OwnCommand] = []
  /// The themes in addition to the built-in ones.
  package var themes: [Theme] = []
  /// The name of the file in problems.
  package var source: String
  package var problems: [ConfigurationProblem] = []
  /// Whether the terminal has a light background; nil if nobody knows.
  package var isLight: Bool?
  /// The number of colours that the terminal has; nil if nobody knows.
  package var colorCount: Int?

  /// Whether the terminal is so far away that nothing should move on it; nil if nobody knows.
  package var isFarAway: Bool?

  package init(source: String = "config.toml") {
    self.source = source
  }

  /// All themes; those of files come last and override built-in ones with the same name.
  package var allThemes: [Theme] { Theme.builtIn + themes }

  /// The names of all themes, each once.
  package var themeNames: [String] {
    var seen: Set<String> = []
    return [Self.automatic] + allThemes.map(\.name).filter { seen.insert($0).inserted }
  }

  package var theme: Theme {
    let name = settings.word(.theme)
    return allThemes.last { $0.name == name } ?? automaticTheme
  }

  /// The name of the theme that fits the terminal.
  package static let automatic = "auto"

  private var automaticTheme: Theme {
    let hasShades = (colorCount ?? 256) >= 256
    if isLight == true { return hasShades ? .emberLight : .light }
    return hasShades ? .ember : .dark
  }
}

extension Configuration {
  /// Reads a configuration; recordings made by earlier programs have no commands.
  package init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    settings = try values.decode(Settings.self, forKey: .settings)
    keys = try values.decode([KeyOverride].self, forKey: .keys)
    commands = try values.decodeIfPresent([OwnCommand].self, forKey: .commands) ?? []
    themes = try values.decode([Theme].self, forKey: .themes)
    source = try values.decode(String.self, forKey: .source)
    problems = try values.decode([ConfigurationProblem].self, forKey: .problems)
    isLight = try values.decodeIfPresent(Bool.self, forKey: .isLight)
    colorCount = try values.decodeIfPresent(Int.self, forKey: .colorCount)
    isFarAway = try values.decodeIfPresent(Bool.self, forKey: .isFarAway)
  }
}

/// A problem with a line of a configuration file; the line has no effect.
package struct ConfigurationProblem: Hashable, Sendable, CustomStringConvertible, Codable {
  /// The file, or another source of the value.
  package let source: String
  /// The line, counted from 1; nil if the source has no lines.
  package let line: Int?
  /// What is wrong, and what would be right.
  package let reason: String

  package init(source: String, line: Int?, reason: String) {
    self.source = source
    self.line = line
    self.reason = reason
  }

  package var description: String {
    line.map { "\(source):\($0): \(reason)" } ?? "\(source): \(reason)"
  }
}

/// A key binding from a configuration file: in this context, these keys perform this action.
package struct KeyOverride: Hashable, Sendable, Codable {
  /// The name of the context, or nil for every context in which the action exists.
  package let context: String?
  /// The names of the keys, such as `g g`.
  package let keys: String
  /// The name of the action, or `none`.
  package let action: String
  /// The line of the file, counted from 1.
  package let line: Int
}
