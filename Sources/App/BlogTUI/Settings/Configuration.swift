/// Everything that files, variables and options say about the screens.
package struct Configuration: Hashable, Sendable, Codable {
  /// The settings.
  package var settings: Settings
  /// Keys that mean something else than usual.
  package var keys: [KeyOverride]
  /// The themes beside those that are built in.
  package var themes: [Theme]
  /// The file, as problems name it.
  package var source: String
  /// What is wrong with the files.
  package var problems: [ConfigurationProblem]

  /// Makes a configuration.
  package init(
    settings: Settings = Settings(),
    keys: [KeyOverride] = [],
    themes: [Theme] = [],
    source: String = "config.toml",
    problems: [ConfigurationProblem] = []
  ) {
    self.settings = settings
    self.keys = keys
    self.themes = themes
    self.source = source
    self.problems = problems
  }

  /// All themes, those of files last: they win over built-in ones of the same name.
  package var allThemes: [Theme] { Theme.builtIn + themes }

  /// The names of all themes, each once.
  package var themeNames: [String] {
    var seen: Set<String> = []
    return allThemes.map(\.name).filter { seen.insert($0).inserted }
  }

  /// The theme of the settings.
  package var theme: Theme {
    let name = settings.word(.theme)
    return allThemes.last { $0.name == name } ?? .dark
  }
}
