/// The text of theme files: a line for each part that has a style of its own.
package enum ThemeText {
  /// Reads a theme; lines that are wrong have no effect.
  ///
  /// - Parameters:
  ///   - file: The file.
  ///   - problems: Gets what is wrong with it.
  /// - Returns: The theme.
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
        complain("a style is written such as \"bold yellow on blue\"", line: entry.line)
        continue
      }
      styles[role] = style
    }
    return Theme(name: file.name, styles: styles)
  }

  /// The file of a theme.
  package static func text(of theme: Theme) -> String {
    let heading = """
      # The theme "\(theme.name)". A copy of this file in $XDG_CONFIG_HOME/hearth/themes, under
      # another name, is a theme of that name: see hearth-config(5).

      """
    let lines = Theme.Role.allCases.map { role in
      let style = theme[role].description
      return "\(role.rawValue) = \"\(style)\"\n"
    }
    return heading + "\n" + lines.joined()
  }
}
