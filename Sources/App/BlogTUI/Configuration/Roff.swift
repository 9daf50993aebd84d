/// The text of a manual page, piece by piece, in the macros that every `man` knows.
package struct Roff {
  /// What was added so far.
  package private(set) var text: String

  /// Begins a page.
  ///
  /// - Parameters:
  ///   - name: The name of the page, such as `hearth-keys`.
  ///   - section: The section of the manual.
  ///   - summary: What the page is about, in a few words.
  package init(name: String, section: Int, summary: String) {
    text = ".TH \"\(name.uppercased())\" \"\(section)\" \"\" \"hearth\" \"hearth\"\n"
    heading("Name")
    text += "\(Self.escaped(name)) \\- \(Self.escaped(summary))\n"
  }

  /// Begins a section.
  package mutating func heading(_ title: String) {
    text += ".SH \(Self.escaped(title).uppercased())\n"
  }

  /// Begins a part of a section.
  package mutating func subheading(_ title: String) {
    text += ".SS \"\(Self.escaped(title))\"\n"
  }

  /// Adds a paragraph.
  package mutating func paragraph(_ words: String) {
    text += ".PP\n\(Self.escaped(words))\n"
  }

  /// Adds a term and what it means.
  package mutating func item(_ term: String, _ meaning: String) {
    text += ".TP\n.B \"\(Self.escaped(term).replacing("\"", with: "\\(dq"))\"\n"
    text += "\(Self.escaped(meaning))\n"
  }

  /// Adds lines that are shown as they are.
  package mutating func example(_ lines: String) {
    text += ".PP\n.nf\n"
    for line in lines.split(separator: "\n", omittingEmptySubsequences: false) {
      text += "    \(Self.escaped(String(line)))\n"
    }
    text += ".fi\n"
  }

  /// Text in which nothing is a command of the formatter.
  static func escaped(_ words: String) -> String {
    var result = ""
    for character in words {
      switch character {
      case "\\": result += "\\e"
      case "-": result += "\\-"
      case "^": result += "\\(ha"
      case "~": result += "\\(ti"
      case "`": result += "\\(ga"
      case "'": result += "\\(aq"
      case "…": result += "..."
      default: result.append(character)
      }
    }
    return result.hasPrefix(".") ? "\\&" + result : result
  }
}
