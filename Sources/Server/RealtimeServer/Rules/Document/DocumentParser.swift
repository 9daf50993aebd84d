internal import RealtimeCore

/// A value of a rules document, with the offset at which it starts.
struct DocumentValue {
  indirect enum Content {
    case bool(Bool)
    case string(DocumentText)
    case array([DocumentValue])
    case object([DocumentMember])
    case null
    case number
  }

  let offset: Int
  let content: Content

  var kind: String {
    switch content {
    case .bool: "a boolean"
    case .string: "a string"
    case .array: "an array"
    case .object: "an object"
    case .null: "null"
    case .number: "a number"
    }
  }

  /// The value as JSON; numbers and nulls, which a valid document never contains, become null.
  var json: JSONValue {
    switch content {
    case .bool(let value): .bool(value)
    case .string(let text): .string(text.text)
    case .array(let elements): .array(elements.map(\.json))
    case .object(let members): .object(members.map { JSONMember($0.name.text, $0.value.json) })
    case .null, .number: .null
    }
  }
}

/// A named value of an object in a rules document.
struct DocumentMember {
  let name: DocumentText
  let value: DocumentValue
}

/// An unescaped string of a rules document, with the offset of each character.
struct DocumentText {
  /// The characters after unescaping.
  var scalars: [Unicode.Scalar] = []
  var offsets: [Int] = []
  /// The offset of the opening quote.
  let start: Int
  /// The offset of the closing quote.
  var end = 0

  var text: String {
    var text = ""
    text.unicodeScalars.append(contentsOf: scalars)
    return text
  }

  /// The offset of a character in the document; past the last one, that of the closing quote.
  func offset(of index: Int) -> Int {
    index < offsets.count ? offsets[index] : end
  }

  /// A character in the form that messages show.
  static func describe(_ scalar: Unicode.Scalar) -> String {
    scalar.value < 0x20 || scalar.value == 0x7F
      ? "U+" + String(scalar.value, radix: 16, uppercase: true) : "'\(scalar)'"
  }
}

/// Parses a rules document: JSON with comments, multi-line strings, and commas that may trail.
struct DocumentParser {
  private let source: [Unicode.Scalar]
  private var position = 0

  static func parse(_ source: [Unicode.Scalar]) throws(RuleProblem) -> DocumentValue {
    var parser = DocumentParser(source: source)
    let value = try parser.value(depth: 0)
    try parser.skipBlanks()
    guard parser.current == nil else {
      throw parser.problem("expected the end of the document, found \(parser.found)")
    }
    return value
  }

  private var current: Unicode.Scalar? { position < source.count ? source[position] : nil }

  private var next: Unicode.Scalar? {
    position + 1 < source.count ? source[position + 1] : nil
  }

  /// The current character, for messages.
  private var found: String { current.map(DocumentText.describe) ?? "the end of the document" }

  private func problem(_ message: String) -> RuleProblem { RuleProblem(message, at: position) }

  private mutating func skipBlanks() throws(RuleProblem) {
    while let scalar = current {
      switch scalar {
      case " ", "\t", "\n", "\r", "\u{FEFF}": position += 1
      case "/":
        if next == "/" {
          while let scalar = current, scalar != "\n" { position += 1 }
        } else if next == "*" {
          try skipBlockComment()
        } else {
          return
        }
      default: return
      }
    }
  }

  private mutating func skipBlockComment() throws(RuleProblem) {
    let start = position
    position += 2
    while let scalar = current {
      if scalar == "*", next == "/" {
        position += 2
        return
      }
      position += 1
    }
    throw RuleProblem("this comment is not closed; expected */", at: start)
  }

  private mutating func value(depth: Int) throws(RuleProblem) -> DocumentValue {
    try skipBlanks()
    let start = position
    guard depth < RulesLimits.documentDepth else {
      throw problem("nested deeper than \(RulesLimits.documentDepth) levels")
    }
    switch current {
    case "{": return DocumentValue(offset: start, content: .object(try members(depth: depth)))
    case "[": return DocumentValue(offset: start, content: .array(try elements(depth: depth)))
    case "\"": return DocumentValue(offset: start, content: .string(try string()))
    case let scalar? where scalar == "-" || ("0"..."9").contains(scalar):
      while let scalar = current, Self.isNumberPart(scalar) { position += 1 }
      return DocumentValue(offset: start, content: .number)
    default: return DocumentValue(offset: start, content: try word())
    }
  }

  private static func isNumberPart(_ scalar: Unicode.Scalar) -> Bool {
    ("0"..."9").contains(scalar) || "+-.eE".unicodeScalars.contains(scalar)
  }

  private mutating func word() throws(RuleProblem) -> DocumentValue.Content {
    let start = position
    var text = ""
    while let scalar = current, ("a"..."z").contains(scalar) {
      text.unicodeScalars.append(scalar)
      position += 1
    }
    switch text {
    case "true": return .bool(true)
    case "false": return .bool(false)
    case "null": return .null
    default:
      position = start
      throw problem("expected a value, found \(found)")
    }
  }

  private mutating func members(depth: Int) throws(RuleProblem) -> [DocumentMember] {
    var members: [DocumentMember] = []
    var names: Set<[Unicode.Scalar]> = []
    while try begins("a member", closing: "}", isFirst: members.isEmpty) {
      guard current == "\"" else {
        throw problem("expected a member name in double quotes, found \(found)")
      }
      let name = try string()
      guard names.insert(name.scalars).inserted else {
        throw RuleProblem("the member \"\(name.text)\" appears twice", at: name.start)
      }
      try skipBlanks()
      guard current == ":" else {
        throw problem("expected ':' after a member name, found \(found)")
      }
      position += 1
      members.append(DocumentMember(name: name, value: try value(depth: depth + 1)))
    }
    return members
  }

  private mutating func elements(depth: Int) throws(RuleProblem) -> [DocumentValue] {
    var elements: [DocumentValue] = []
    while try begins("an element", closing: "]", isFirst: elements.isEmpty) {
      elements.append(try value(depth: depth + 1))
    }
    return elements
  }

  /// Advances to the next part in brackets, or behind them; returns whether there is another part.
  private mutating func begins(
    _ what: String,
    closing: Unicode.Scalar,
    isFirst: Bool
  ) throws(RuleProblem) -> Bool {
    if !isFirst {
      try skipBlanks()
      guard current == closing || current == "," else {
        throw problem("expected ',' or '\(closing)' after \(what), found \(found)")
      }
    }
    // Behind the opening bracket or a comma, which may trail.
    if isFirst || current == "," {
      position += 1
      try skipBlanks()
    }
    guard current == closing else { return true }
    position += 1
    return false
  }

  private mutating func string() throws(RuleProblem) -> DocumentText {
    var text = DocumentText(start: position)
    position += 1
    while let scalar = current {
      let offset = position
      if scalar == "\"" {
        text.end = position
        position += 1
        return text
      }
      text.offsets.append(offset)
      if scalar == "\\" {
        text.scalars.append(try escape())
      } else {
        text.scalars.append(scalar)
        position += 1
      }
    }
    throw RuleProblem("this string is not closed; expected '\"'", at: text.start)
  }

  private mutating func escape() throws(RuleProblem) -> Unicode.Scalar {
    let start = position
    position += 1
    guard let scalar = current else {
      throw RuleProblem("expected a character after '\\'", at: start)
    }
    position += 1
    switch scalar {
    case "\"", "\\", "/": return scalar
    case "b": return "\u{8}"
    case "f": return "\u{C}"
    case "n": return "\n"
    case "r": return "\r"
    case "t": return "\t"
    case "u": return try unicodeEscape(from: start)
    default:
      throw RuleProblem(
        "'\\\(scalar)' is not a JSON escape; write a backslash as '\\\\'",
        at: start
      )
    }
  }

  private mutating func unicodeEscape(from start: Int) throws(RuleProblem) -> Unicode.Scalar {
    let unit = try hexUnit(start)
    if let scalar = Unicode.Scalar(unit) { return scalar }
    if unit < 0xDC00, current == "\\", next == "u" {
      position += 2
      let low = try hexUnit(start)
      if (0xDC00...0xDFFF).contains(low),
        let scalar = Unicode.Scalar(0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00))
      {
        return scalar
      }
    }
    throw RuleProblem("this escape is a lone surrogate", at: start)
  }

  private mutating func hexUnit(_ start: Int) throws(RuleProblem) -> UInt32 {
    var unit: UInt32 = 0
    for _ in 0..<4 {
      guard let scalar = current, let digit = Character(scalar).hexDigitValue, scalar.isASCII
      else { throw RuleProblem("expected four hexadecimal digits after '\\u'", at: start) }
      unit = unit * 16 + UInt32(digit)
      position += 1
    }
    return unit
  }
}
