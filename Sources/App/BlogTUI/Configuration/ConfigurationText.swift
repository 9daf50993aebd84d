/// The text of configuration files as the program writes them.
package enum ConfigurationText {
  /// All effective values with their origins, in a form that the program can read again.
  package static func text(of configuration: Configuration) -> String {
    var text = "# The settings in effect and where they come from; see hearth-config(5).\n"
    for setting in Setting.allCases {
      let value = configuration.settings[setting].tomlText
      let origin = configuration.settings.origin(of: setting).text
      text += "\n# \(setting.help)\n# \(values(of: setting))\n"
      text += "\(setting.rawValue) = \(value)  # \(origin)\n"
    }
    let contexts = Dictionary(grouping: configuration.keys) { $0.context ?? "" }
    for context in contexts.keys.sorted() {
      text += context.isEmpty ? "\n[keys]\n" : "\n[keys.\(TOMLKey.text(context))]\n"
      for wish in contexts[context] ?? [] {
        text += "\(TOMLString.quoted(wish.keys)) = \(TOMLString.quoted(wish.action))\n"
      }
    }
    for command in configuration.commands {
      text += "\n[commands.\(TOMLKey.text(command.name))]\n"
      text += "run = \(TOMLString.quoted(command.shell))\n"
      if let keys = command.keys?.keys { text += "key = \(TOMLString.quoted(keys))\n" }
      text += "output = \(TOMLString.quoted(command.output.rawValue))\n"
    }
    return text
  }

  /// The allowed values of a setting, in words.
  package static func values(of setting: Setting) -> String {
    switch setting.kind {
    case .flag: "true or false"
    case .choice(let words): words.map { "\"\($0)\"" }.joined(separator: ", ")
    case .number(let range): "a number from \(range.lowerBound) to \(range.upperBound)"
    case .theme:
      Configuration().themeNames.map { TOMLString.quoted($0) }.joined(separator: ", ")
        + ", or a file"
    }
  }

  /// Changes the value of a setting in the text of a file and leaves everything else unchanged,
  /// apart from a byte order mark; nil if the file has the setting in a form that a line cannot
  /// replace.
  package static func setting(
    _ setting: Setting,
    to value: SettingValue,
    in text: String
  ) -> String? {
    let text = String(text.unicodeScalars.drop { $0 == "\u{FEFF}" })
    let changed = changed(setting, "\(setting.rawValue) = \(value.tomlText)", in: text)
    let document = TOMLDocument(changed)
    let wanted = TOMLDocument("value = \(value.tomlText)").entries.first?.value
    let isSet = document.entries.contains {
      $0.table.isEmpty && $0.key == setting.rawValue && $0.value == wanted
    }
    return isSet && document.faults.count <= TOMLDocument(text).faults.count ? changed : nil
  }

  private static func changed(_ setting: Setting, _ new: String, in text: String) -> String {
    let lineEnd = text.contains("\r\n") ? "\r\n" : "\n"
    var lines = text.replacing("\r\n", with: "\n")
      .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    if lines.last?.isEmpty == true { lines.removeLast() }
    var lastOfTop = 0
    for (index, line) in lines.enumerated() {
      var rest = line.drop { $0 == " " || $0 == "\t" }
      if rest.first == "[" { break }
      let key = TOMLKey.read(&rest)
      guard rest.first == "=" else { continue }
      lastOfTop = index + 1
      guard key == [setting.rawValue] else { continue }
      lines[index] = new + comment(of: rest)
      return lines.joined(separator: lineEnd) + lineEnd
    }
    lines.insert(new, at: lastOfTop)
    return lines.joined(separator: lineEnd) + lineEnd
  }

  /// The comment at the end of a line, preceded by blanks.
  private static func comment(of rest: Substring) -> String {
    var quote: Character?
    for index in rest.indices {
      let character = rest[index]
      if let open = quote {
        if character == open { quote = nil }
      } else if character == "\"" || character == "'" {
        quote = character
      } else if character == "#" {
        return "  " + rest[index...]
      }
    }
    return ""
  }
}
