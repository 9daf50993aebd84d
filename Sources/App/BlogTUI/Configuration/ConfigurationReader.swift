/// Builds a configuration from files, environment variables and options.
///
/// Later sources override earlier ones: files, then variables, then options. Invalid input never
/// stops reading: it is listed as a problem and has no effect.
package struct ConfigurationReader {
  /// The name of a theme, the name of its file in problems, and the content of the file.
  package typealias ThemeFile = (name: String, source: String, text: String)

  private var configuration: Configuration

  /// Starts with the content of the configuration file, if there is one, and of the theme files.
  ///
  /// The source is the name of the configuration file in problems.
  package init(text: String?, source: String, themes: [ThemeFile] = []) {
    configuration = Configuration(source: source)
    for file in themes {
      configuration.themes.append(ThemeText.theme(of: file, problems: &configuration.problems))
    }
    if let text { readFile(text) }
  }

  package static func variable(of setting: Setting) -> String {
    "HEARTH_" + setting.rawValue.uppercased().replacing("-", with: "_")
  }

  package mutating func read(environment: [String: String]) {
    configuration.isLight = environment["COLORFGBG"].map(Self.isLight)
    for setting in Setting.allCases {
      let name = Self.variable(of: setting)
      guard let text = environment[name], !text.isEmpty else { continue }
      choose(text, for: setting, from: .environment(name))
    }
  }

  package mutating func read(_ text: String, for setting: Setting, option: String) {
    choose(text, for: setting, from: .commandLine(option))
  }

  package var result: Configuration { configuration }

  /// Whether `COLORFGBG`, which some terminals set, indicates a light background.
  private static func isLight(_ text: String) -> Bool {
    guard let last = text.split(separator: ";").last, let number = Int(last) else { return false }
    return number == 7 || number == 15
  }

  private mutating func readFile(_ text: String) {
    let document = TOMLDocument(text)
    for fault in document.faults { complain(fault.reason, line: fault.line) }
    var commands = OwnCommandReader()
    for entry in document.entries {
      switch entry.table.first {
      case nil: readSetting(entry)
      case "commands"? where entry.table.count <= 2: commands.read(entry)
      case "keys"? where entry.table.count <= 2: readKeys(entry)
      default:
        let name = entry.table.joined(separator: ".")
        let known = "there are [keys], [keys.PLACE], [commands] and [commands.NAME]"
        complain("there is no table [\(name)]; \(known)", line: entry.line)
      }
    }
    commands.finish()
    for fault in commands.faults { complain(fault.reason, line: fault.line) }
    configuration.commands = commands.complete
    configuration.problems.sort { ($0.line ?? 0) < ($1.line ?? 0) }
  }

  private mutating func readSetting(_ entry: TOMLDocument.Entry) {
    guard let setting = Setting(rawValue: entry.key) else {
      let similar = FuzzyMatch.closest(to: entry.key, among: Setting.allCases.map(\.rawValue))
      let hint = similar.map { "; \"\($0)\" exists" } ?? ""
      return complain("there is no setting \"\(entry.key)\"\(hint)", line: entry.line)
    }
    let origin = Settings.Origin.file(configuration.source, line: entry.line)
    choose(entry.value ?? "?", for: setting, from: origin)
  }

  private mutating func readKeys(_ entry: TOMLDocument.Entry) {
    guard let action = entry.value else {
      return complain("\"\(entry.key)\" needs the name of an action in quotes", line: entry.line)
    }
    let context = entry.table.count == 2 ? entry.table[1] : nil
    configuration.keys.append(
      KeyOverride(context: context, keys: entry.key, action: action, line: entry.line ?? 1)
    )
  }

  private mutating func choose(
    _ text: String,
    for setting: Setting,
    from origin: Settings.Origin
  ) {
    switch setting.value(of: text, themes: configuration.themeNames) {
    case .success(let value): configuration.settings.choose(value, for: setting, from: origin)
    case .failure(let problem):
      var (source, line) = (origin.text, Int?.none)
      if case .file(let name, let number) = origin { (source, line) = (name, number) }
      configuration.problems.append(
        ConfigurationProblem(source: source, line: line, reason: problem.reason)
      )
    }
  }

  private mutating func complain(_ reason: String, line: Int?) {
    configuration.problems.append(
      ConfigurationProblem(source: configuration.source, line: line, reason: reason)
    )
  }
}

/// The text of theme files: one line for each part that has a style of its own.
enum ThemeText {
  /// Parses a theme; invalid lines have no effect, and are reported.
  static func theme(
    of file: ConfigurationReader.ThemeFile,
    problems: inout [ConfigurationProblem]
  ) -> Theme {
    let document = TOMLDocument(file.text)
    var styles: [Theme.Role: Style] = [:]
    func complain(_ reason: String, line: Int?) {
      problems.append(ConfigurationProblem(source: file.source, line: line, reason: reason))
    }
    for fault in document.faults { complain(fault.reason, line: fault.line) }
    for entry in document.entries {
      guard entry.table.isEmpty, let role = Theme.Role(rawValue: entry.key) else {
        complain("there is no part \"\(entry.key)\"; hearth-config(5) lists them", line: entry.line)
        continue
      }
      guard let style = entry.value.flatMap({ Style(description: $0) }) else {
        complain("write a style like \"bold yellow on blue\"", line: entry.line)
        continue
      }
      styles[role] = style
    }
    return Theme(name: file.name, styles: styles)
  }
}
