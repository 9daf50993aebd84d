import TOMLKit

/// A TOML file that may contain invalid lines: they are skipped, and the rest is read.
///
/// The parser tells where text is no TOML, but not where a value stands; that is found by looking
/// for the keys of each table.
struct TOMLDocument {
  /// Something wrong with a line.
  struct Fault {
    let line: Int
    let reason: String
  }

  /// A value and where it stands.
  struct Entry {
    /// The names of the tables it is in.
    let table: [String]
    let key: String
    /// The value; nil if it is of a kind that no setting has.
    let value: String?
    /// The line, counted from 1; nil if it was not found.
    let line: Int?
  }

  private static let faultLimit = 100

  /// All values, in the order of the file.
  private(set) var entries: [Entry] = []
  /// What is no TOML.
  private(set) var faults: [Fault] = []

  init(_ text: String) {
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    // The parser treats a NUL character as the end of the file.
    for index in lines.indices where lines[index].contains("\0") {
      faults.append(Fault(line: index + 1, reason: "this is not TOML: it has a character of zero"))
      lines[index] = ""
    }
    let lineNumbers = Self.lineNumbers(of: lines)
    while faults.count < Self.faultLimit {
      do {
        let table = try TOMLTable(string: lines.joined(separator: "\n"))
        entries = Self.entries(of: table, in: [], lineNumbers)
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

  /// The line to leave out: the reported one, or the last before it that has any text.
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
      let line = lineNumbers[names + [key]]
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

  /// The first line of each key, by the names of its tables and itself.
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
