/// A TOML document that may contain invalid lines: these are reported, and the rest is read.
///
/// An invalid statement is skipped with its line, so nothing that follows depends on it. Values of
/// types that no setting has are skipped as well.
package struct TOMLDocument {
  package struct Fault {
    /// The line, counted from 1; nil if it was not found.
    let line: Int?
    let reason: String
  }

  package struct Entry {
    /// The names of the enclosing tables.
    package let table: [String]
    package let key: String
    /// The value; nil if its type is not that of any setting.
    package let value: String?
    /// The line on which its statement begins, counted from 1.
    let line: Int?
  }

  private static let faultLimit = 100

  /// All values, in the order in which they appear in the file.
  package private(set) var entries: [Entry] = []
  package private(set) var faults: [Fault] = []
  /// The names of the table that the next keys are in; in the end, of the last one.
  package private(set) var table: [String] = []
  private var tables: Set<[String]> = []
  private var keys: Set<[String]> = []

  package init(_ text: String) {
    var reader = TOMLReader(text)
    while faults.count < Self.faultLimit, reader.beginStatement() {
      let line = reader.line
      do {
        try read(&reader, line)
      } catch {
        faults.append(Fault(line: line, reason: "this is not TOML: \(error.reason)"))
        reader.giveUp(statementAt: line)
      }
    }
  }

  private mutating func read(_ reader: inout TOMLReader, _ line: Int) throws(TOMLFault) {
    if let (names, isList) = try reader.readHeader() {
      try reader.endStatement()
      table = names
      let name = names.joined(separator: ".")
      if isList { throw TOMLFault(reason: "there are no lists of tables here; write [\(name)]") }
      guard tables.insert(names).inserted else {
        throw TOMLFault(reason: "there is a table [\(name)] already")
      }
      return
    }
    let names = try reader.readName()
    let value = try reader.readValue()
    // A line with a mistake has no effect at all.
    try reader.endStatement()
    try add(value, named: table + names, line)
  }

  private mutating func add(
    _ value: TOMLValue,
    named names: [String],
    _ line: Int
  ) throws(TOMLFault) {
    if case .table(let members) = value {
      for member in members { try add(member.value, named: names + member.names, line) }
      return
    }
    guard let key = names.last, keys.insert(names).inserted else {
      throw TOMLFault(reason: "there is a value of \"\(names.last ?? "")\" already")
    }
    var text: String?
    if case .text(let known) = value { text = known }
    // Shells and the system take it for the end of a text.
    if text?.contains("\0") == true { throw TOMLFault(reason: "it has a null character") }
    entries.append(Entry(table: names.dropLast(), key: key, value: text, line: line))
  }
}

private struct TOMLFault: Error {
  let reason: String
}

private enum TOMLValue {
  /// A string, a number or a truth value, as settings are written.
  case text(String)
  /// A date, a fraction or an array.
  case other
  case table([(names: [String], value: TOMLValue)])
}

/// Reads the statements of a text, most of which take a line each.
private struct TOMLReader {
  /// How deep arrays and tables may be nested.
  private static let depthLimit = 64

  private let lines: [Substring]
  private var index = -1
  /// What is left of the present line.
  private var rest: Substring = ""

  init(_ text: String) {
    // A line feed after a carriage return is not a character of its own, and a byte order mark is
    // no part of the text.
    let scalars = text.unicodeScalars.drop { $0 == "\u{FEFF}" }
    lines = String(scalars).replacing("\r\n", with: "\n")
      .split(separator: "\n", omittingEmptySubsequences: false)
  }

  /// The number of the present line, counted from 1.
  var line: Int { index + 1 }

  /// Goes to the next statement; false if there is none.
  mutating func beginStatement() -> Bool {
    while nextLine() {
      skipBlanks()
      if !isAtEnd { return true }
    }
    return false
  }

  /// Ensures that the line has nothing else.
  mutating func endStatement() throws(TOMLFault) {
    skipBlanks()
    guard isAtEnd else { throw TOMLFault(reason: "\"\(excerpt)\" is too much") }
  }

  /// Goes on behind the line on which a statement began.
  mutating func giveUp(statementAt line: Int) { index = line - 1 }

  /// Reads the name of a table in brackets, and whether there are two of each; nil if there is none.
  mutating func readHeader() throws(TOMLFault) -> (names: [String], isList: Bool)? {
    guard skip("[") else { return nil }
    let isList = skip("[")
    let names = TOMLKey.read(&rest)
    guard !names.isEmpty, skip("]"), !isList || skip("]") else {
      throw TOMLFault(reason: "a table begins with its name in brackets, such as [keys]")
    }
    return (names, isList)
  }

  /// Reads a key and the sign behind it.
  mutating func readName() throws(TOMLFault) -> [String] {
    let names = TOMLKey.read(&rest)
    guard !names.isEmpty, skip("=") else {
      throw TOMLFault(reason: "write a name, = and a value, such as mouse = true")
    }
    return names
  }

  mutating func readValue(depth: Int = 0) throws(TOMLFault) -> TOMLValue {
    skipBlanks()
    guard depth < Self.depthLimit else { throw TOMLFault(reason: "it is nested too deeply") }
    for quote in ["\"", "'"] as [Unicode.Scalar] where rest.unicodeScalars.first == quote {
      let marks = String(repeating: String(quote), count: 3).unicodeScalars
      if rest.unicodeScalars.starts(with: marks) { return .text(try readLines(endedBy: quote)) }
      let text = quote == "'" ? TOMLString.readLiteral(&rest) : TOMLString.read(&rest)
      guard let text else {
        throw TOMLFault(reason: "the string has no end, or a wrong escape")
      }
      return .text(text)
    }
    if skip("[") { return try readArray(depth) }
    if skip("{") { return try readTable(depth) }
    return try readWord()
  }

  private mutating func readArray(_ depth: Int) throws(TOMLFault) -> TOMLValue {
    while try !skipOverLines("]") {
      _ = try readValue(depth: depth + 1)
      guard try !skipOverLines(",") else { continue }
      guard skip("]") else { throw TOMLFault(reason: "the array has no end") }
      break
    }
    return .other
  }

  private mutating func readTable(_ depth: Int) throws(TOMLFault) -> TOMLValue {
    var members: [(names: [String], value: TOMLValue)] = []
    skipBlanks()
    while !skip("}") {
      members.append((try readName(), try readValue(depth: depth + 1)))
      skipBlanks()
      guard !skip(",") else { continue }
      guard skip("}") else { throw TOMLFault(reason: "the table has no end") }
      break
    }
    return .table(members)
  }

  /// Reads a value without quotation marks.
  private mutating func readWord() throws(TOMLFault) -> TOMLValue {
    let scalars = rest.unicodeScalars
    let end = scalars.firstIndex { " \t,]}#".unicodeScalars.contains($0) } ?? scalars.endIndex
    let word = rest[..<end]
    rest = rest[end...]
    if word == "true" || word == "false" { return .text(String(word)) }
    let isSigned = word.first == "+" || word.first == "-"
    let number = isSigned ? word.dropFirst() : word
    let radix = isSigned ? nil : ["0x": 16, "0o": 8, "0b": 2][number.prefix(2)]
    if let digits = Self.digits(of: radix == nil ? number : number.dropFirst(2), radix ?? 10) {
      if radix == nil, digits.count > 1, digits.first == "0" {
        throw TOMLFault(reason: "a number does not begin with 0")
      }
      guard let value = Int((word.first == "-" ? "-" : "") + digits, radix: radix ?? 10) else {
        throw TOMLFault(reason: "\(digits.prefix(40)) is too large a number")
      }
      return .text(String(value))
    }
    let isOther =
      number == "inf" || number == "nan"
      || number.first.map { "0"..."9" ~= $0 } == true
        && number.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-+_.:".contains($0)) }
    // Fractions and dates.
    if isOther { return .other }
    throw TOMLFault(
      reason: word.isEmpty ? "there is no value" : "write \"\(word.prefix(40))\" in quotes"
    )
  }

  /// The digits of a whole number without the underscores between them; nil if it is none.
  private static func digits(of number: Substring, _ radix: Int) -> String? {
    let parts = number.split(separator: "_", omittingEmptySubsequences: false)
    let isNumber = parts.allSatisfy { part in
      !part.isEmpty
        && part.allSatisfy { $0.isASCII && $0.hexDigitValue.map { $0 < radix } == true }
    }
    return isNumber ? parts.joined() : nil
  }

  /// Reads a string of several lines, which begins and ends with three quotation marks.
  private mutating func readLines(endedBy quote: Unicode.Scalar) throws(TOMLFault) -> String {
    var text = String.UnicodeScalarView()
    var scalars = rest.unicodeScalars.dropFirst(3)
    // The end of the first line is no part of it.
    if scalars.isEmpty { scalars = try lineOfString() }
    while true {
      guard let scalar = scalars.popFirst() else {
        text.append("\n")
        scalars = try lineOfString()
        continue
      }
      if scalar == quote, scalars.starts(with: [quote, quote]) {
        scalars.removeFirst(2)
        // Up to two marks may stand before those at the end.
        for _ in 0..<2 where scalars.first == quote { scalars.popFirst().map { text.append($0) } }
        rest = Substring(scalars)
        return String(text)
      }
      guard scalar == "\\", quote == "\"" else {
        text.append(scalar)
        continue
      }
      let isLineEnd = scalars.allSatisfy { $0 == " " || $0 == "\t" }
      if isLineEnd {
        repeat {
          scalars = try lineOfString().drop { $0 == " " || $0 == "\t" }
        } while scalars.isEmpty
      } else if let escaped = TOMLString.readEscaped(&scalars) {
        text.append(escaped)
      } else {
        throw TOMLFault(reason: "a string has a wrong escape")
      }
    }
  }

  private mutating func lineOfString() throws(TOMLFault) -> Substring.UnicodeScalarView {
    guard nextLine() else { throw TOMLFault(reason: "the string has no end") }
    return rest.unicodeScalars
  }

  // MARK: Lines

  private var isAtEnd: Bool { rest.isEmpty || rest.unicodeScalars.first == "#" }

  private var excerpt: String { String(rest.prefix(40)) }

  private mutating func nextLine() -> Bool {
    guard index + 1 < lines.count else { return false }
    index += 1
    rest = lines[index]
    return true
  }

  private mutating func skipBlanks() { rest = rest.drop { $0 == " " || $0 == "\t" } }

  /// Skips a sign, if it comes next.
  private mutating func skip(_ sign: Unicode.Scalar) -> Bool {
    guard rest.unicodeScalars.first == sign else { return false }
    rest = Substring(rest.unicodeScalars.dropFirst())
    return true
  }

  /// Skips blanks, comments and ends of lines, and then a sign, if it comes next.
  private mutating func skipOverLines(_ sign: Unicode.Scalar) throws(TOMLFault) -> Bool {
    skipBlanks()
    while isAtEnd {
      guard nextLine() else { throw TOMLFault(reason: "the array has no end") }
      skipBlanks()
    }
    return skip(sign)
  }
}

/// The keys of TOML: bare words and quoted strings, separated by dots.
enum TOMLKey {
  /// Reads a key and the blanks around it from the beginning of a line; empty if there is no key.
  static func read(_ text: inout Substring) -> [String] {
    var names: [String] = []
    while true {
      text = text.drop { $0 == " " || $0 == "\t" }
      guard let name = readPart(&text) else { return [] }
      names.append(name)
      text = text.drop { $0 == " " || $0 == "\t" }
      guard text.first == "." else { return names }
      text = text.dropFirst()
    }
  }

  private static func readPart(_ text: inout Substring) -> String? {
    if text.unicodeScalars.first == "\"" { return TOMLString.read(&text) }
    if text.unicodeScalars.first == "'" { return TOMLString.readLiteral(&text) }
    let word = text.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") }
    text = text[word.endIndex...]
    return word.isEmpty ? nil : String(word)
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

  /// Reads a string from the beginning of a text; nil if there is none.
  static func read(_ text: inout Substring) -> String? {
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

  /// Reads a string in apostrophes, which has no escapes, from the beginning of a text; nil if it
  /// has no end.
  fileprivate static func readLiteral(_ text: inout Substring) -> String? {
    let rest = text.unicodeScalars.dropFirst()
    guard let end = rest.firstIndex(of: "'") else { return nil }
    text = Substring(rest[end...].dropFirst())
    return String(rest[..<end])
  }

  /// Reads what follows a backslash; nil if that is nothing known.
  fileprivate static func readEscaped(_ rest: inout Substring.UnicodeScalarView) -> Unicode.Scalar?
  {
    guard let kind = rest.popFirst() else { return nil }
    switch kind {
    case "\"", "\\": return kind
    case "b": return "\u{8}"
    case "t": return "\t"
    case "n": return "\n"
    case "f": return "\u{C}"
    case "r": return "\r"
    case "u", "U":
      let count = kind == "u" ? 4 : 8
      let digits = rest.prefix(count)
      guard digits.count == count, digits.allSatisfy(\.properties.isASCIIHexDigit) else {
        return nil
      }
      rest = rest[digits.endIndex...]
      return UInt32(String(digits), radix: 16).flatMap(Unicode.Scalar.init)
    default: return nil
    }
  }
}
