import TOMLKit

/// A TOML document that may contain invalid lines: these are skipped, and the rest is read.
///
/// The parser reports the location of errors but not of values; these are located by searching for
/// the keys of each table.
struct TOMLDocument {
  struct Fault {
    /// The line, counted from 1; nil if it was not found.
    let line: Int?
    let reason: String
  }

  struct Entry {
    /// The names of the enclosing tables.
    let table: [String]
    let key: String
    /// The value; nil if its type is not that of any setting.
    let value: String?
    /// The line, counted from 1; nil if it was not found.
    let line: Int?
  }

  private static let faultLimit = 100

  /// All values, in the order in which they appear in the file.
  private(set) var entries: [Entry] = []
  private(set) var faults: [Fault] = []

  init(_ text: String) {
    // A line feed after a carriage return is not a character of its own.
    var lines = text.replacing("\r\n", with: "\n")
      .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    // The parser treats a NUL character as the end of the file.
    for index in lines.indices where lines[index].contains("\0") {
      faults.append(Fault(line: index + 1, reason: "this is not TOML: it has a null character"))
      lines[index] = ""
    }
    while faults.count < Self.faultLimit {
      do {
        let table = try TOMLTable(string: lines.joined(separator: "\n"))
        entries = Self.entries(of: table, in: [], Self.lineNumbers(of: lines))
        entries.sort { ($0.line ?? .max, $0.key) < ($1.line ?? .max, $1.key) }
        return
      } catch let error as TOMLParseError {
        let line = Self.faultyLine(error.source.begin.line, in: lines)
        faults.append(Fault(line: line, reason: Self.reason(error)))
        guard lines.indices.contains(line - 1), !lines[line - 1].isEmpty else { return }
        lines[line - 1] = ""
      } catch {
        faults.append(Fault(line: 1, reason: "this is not TOML"))
        return
      }
    }
  }

  /// The line to skip: the reported one, or the last non-empty line before it.
  private static func faultyLine(_ reported: Int, in lines: [String]) -> Int {
    var line = min(max(1, reported), max(1, lines.count))
    while line > 1, lines[line - 1].isEmpty { line -= 1 }
    return line
  }

  private static func reason(_ error: TOMLParseError) -> String {
    let text = error.description.split(separator: "\n").first.map(String.init) ?? ""
    return text.isEmpty ? "this is not TOML" : "this is not TOML: \(text)"
  }

  private static func entries(
    of table: TOMLTable,
    in names: [String],
    _ lineNumbers: [[String]: Int]
  ) -> [Entry] {
    table.keys.flatMap { key -> [Entry] in
      guard let value = table[key] else { return [] }
      if let inner = value.table { return entries(of: inner, in: names + [key], lineNumbers) }
      // What stands in braces is on the line of its table.
      let line = lineNumbers[names + [key]] ?? lineNumbers[names]
      return [Entry(table: names, key: key, value: text(of: value), line: line)]
    }
  }

  private static func text(of value: any TOMLValueConvertible) -> String? {
    switch value.type {
    case .string: value.string
    case .bool: value.bool.map { $0 ? "true" : "false" }
    case .int: value.int.map(String.init)
    case .table, .array, .double, .date, .time, .dateTime: nil
    }
  }

  /// The line on which each key first appears, by the names of its tables and its own name.
  private static func lineNumbers(of lines: [String]) -> [[String]: Int] {
    var lineNumbers: [[String]: Int] = [:]
    var table: [String] = []
    for (index, line) in lines.enumerated() {
      var rest = line.drop { $0 == " " || $0 == "\t" }
      if rest.first == "[" {
        rest = rest.dropFirst()
        table = TOMLKey.read(&rest)
      } else {
        let names = TOMLKey.read(&rest)
        guard !names.isEmpty, rest.first == "=" else { continue }
        let path = table + names
        if lineNumbers[path] == nil { lineNumbers[path] = index + 1 }
      }
    }
    return lineNumbers
  }
}

/// The keys of TOML: bare words and quoted strings, separated by dots.
enum TOMLKey {
  /// Reads a key and the blanks around it from the beginning of a line.
  ///
  /// - Returns: The parts of the key; empty if there is no key.
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
    if text.unicodeScalars.first == "\"" { return TOMLString.read(&text) }
    guard text.first == "'" else {
      let word = text.prefix {
        $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_")
      }
      text = text.dropFirst(word.count)
      return word.isEmpty ? nil : String(word)
    }
    let rest = text.dropFirst()
    guard let end = rest.firstIndex(of: "'") else { return nil }
    text = rest[end...].dropFirst()
    return String(rest[..<end])
  }

  /// The key as written in a file.
  static func text(_ name: String) -> String {
    let isBare = name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }
    guard !isBare || name.isEmpty else { return name }
    return TOMLString.quoted(name)
  }
}

/// The strings of TOML in quotation marks.
///
/// They are taken apart by scalars: a mark that is combined with a quotation mark is a character with
/// it, but not part of it.
package enum TOMLString {
  /// The string as written in a file, on one line and without control characters.
  package static func quoted(_ text: String) -> String {
    var quoted = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"", "\\": quoted += "\\\(scalar)"
      case "\n": quoted += "\\n"
      case "\r": quoted += "\\r"
      case "\t": quoted += "\\t"
      default:
        if scalar.properties.generalCategory == .control {
          let digits = String(scalar.value, radix: 16)
          quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        } else {
          quoted.unicodeScalars.append(scalar)
        }
      }
    }
    return quoted + "\""
  }

  /// Reads a string from the beginning of a text.
  ///
  /// - Returns: The string; nil if there is none.
  package static func read(_ text: inout Substring) -> String? {
    var rest = text.unicodeScalars
    guard rest.popFirst() == "\"" else { return nil }
    var string = String.UnicodeScalarView()
    while var scalar = rest.popFirst() {
      if scalar == "\"" {
        text = Substring(rest)
        return String(string)
      }
      if scalar == "\\" {
        guard let escaped = readEscaped(&rest) else { return nil }
        scalar = escaped
      }
      string.append(scalar)
    }
    return nil
  }

  /// Reads what follows a backslash; nil if that is nothing known.
  private static func readEscaped(_ rest: inout Substring.UnicodeScalarView) -> Unicode.Scalar? {
    guard let kind = rest.popFirst() else { return nil }
    switch kind {
    case "\"", "\\": return kind
    case "b": return "\u{8}"
    case "t": return "\t"
    case "n": return "\n"
    case "f": return "\u{C}"
    case "r": return "\r"
    case "u", "U":
      let digits = rest.prefix(kind == "u" ? 4 : 8)
      guard digits.allSatisfy(\.properties.isASCIIHexDigit) else { return nil }
      rest = rest[digits.endIndex...]
      return UInt32(String(digits), radix: 16).flatMap(Unicode.Scalar.init)
    default: return nil
    }
  }
}
