import TOMLKit

/// A TOML document that may contain invalid lines: these are skipped, and the rest is read.
///
/// The parser reports the location of errors but not of values; these are located by searching for
/// the keys of each table.
struct TOMLDocument {
  /// An error on a line.
  struct Fault {
    /// The line, counted from 1; nil if it was not found.
    let line: Int?
    let reason: String
  }

  /// A value and its location.
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
  /// The errors in the text.
  private(set) var faults: [Fault] = []

  init(_ text: String) {
    // A line feed after a carriage return is no character of its own.
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
  /// - Parameter text: The text of the line; what was read is removed.
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
      // Key names need no escapes other than those of the quote and the backslash.
      if next == "\\", first == "\"", let escaped = rest.popFirst() {
        name.append(escaped)
      } else {
        name.append(next)
      }
    }
    return nil
  }

  /// The key as written in a file.
  static func text(_ name: String) -> String {
    let isBare = name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }
    guard !isBare || name.isEmpty else { return name }
    return quoted(name)
  }

  /// The string as written in a file.
  static func quoted(_ text: String) -> String {
    "\""
      + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
      .replacing("\n", with: "\\n").replacing("\t", with: "\\t") + "\""
  }
}
