/// The keys of TOML: bare words and quoted strings, with dots between them.
enum TOMLKey {
  /// Reads a key and the blanks around it from the start of a line.
  ///
  /// - Parameter text: Loses what was read.
  /// - Returns: The parts of the key; none if there is no key.
  static func read(_ text: inout Substring) -> [String] {
    var names: [String] = []
    while true {
      text = text.drop { $0 == " " || $0 == "\t" }
      guard let name = readPart(&text) else { return names }
      names.append(name)
      text = text.drop { $0 == " " || $0 == "\t" }
      guard text.first == "." else { return names }
      text = text.dropFirst()
    }
  }

  private static func readPart(_ text: inout Substring) -> String? {
    guard let first = text.first else { return nil }
    guard first == "\"" || first == "'" else {
      let word = text.prefix {
        $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_")
      }
      text = text.dropFirst(word.count)
      return word.isEmpty ? nil : String(word)
    }
    var name = ""
    var rest = text.dropFirst()
    while let next = rest.popFirst() {
      if next == first {
        text = rest
        return name
      }
      // The only escapes that names of keys need are those of the quote and of the backslash.
      if next == "\\", first == "\"", let escaped = rest.popFirst() {
        name.append(escaped)
      } else {
        name.append(next)
      }
    }
    return nil
  }

  /// The key as a file writes it.
  static func text(_ name: String) -> String {
    let isBare = name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }
    guard !isBare || name.isEmpty else { return name }
    return quoted(name)
  }

  /// A string as a file writes it.
  static func quoted(_ text: String) -> String {
    "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
  }
}
