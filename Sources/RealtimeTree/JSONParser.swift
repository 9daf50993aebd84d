/// A reason why a text is no JSON value, with the place.
package struct JSONError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What is wrong.
  package let reason: String
  /// The position of the first bad byte, counted from 0.
  package let offset: Int

  package var description: String { "invalid JSON at byte \(offset): \(reason)" }
}

/// Reads JSON text of UTF-8 bytes, strictly and to a limited depth.
package struct JSONParser {
  private let source: UnsafeBufferPointer<UInt8>
  private var position = 0
  private let depthLimit: Int

  private init(_ source: UnsafeBufferPointer<UInt8>, depthLimit: Int) {
    self.source = source
    self.depthLimit = depthLimit
  }

  /// Reads a whole text as one value.
  ///
  /// - Parameters:
  ///   - bytes: UTF-8 text.
  ///   - depthLimit: The deepest nesting that is followed.
  /// - Returns: The value.
  /// - Throws: ``JSONError`` with the reason and the place.
  /// - Complexity: O(bytes)
  package static func parse(
    _ bytes: some Collection<UInt8>,
    depthLimit: Int = Limits.jsonDepth
  ) throws(JSONError) -> JSONValue {
    let result: Result<JSONValue, JSONError>? = bytes.withContiguousStorageIfAvailable {
      parse($0, depthLimit: depthLimit)
    }
    return try
      (result ?? Array(bytes).withUnsafeBufferPointer { parse($0, depthLimit: depthLimit) })
      .get()
  }

  /// Reads a whole text as one value.
  ///
  /// - Parameter text: The text.
  /// - Returns: The value.
  /// - Throws: ``JSONError`` with the reason and the place.
  /// - Complexity: O(length)
  package static func parse(_ text: String) throws(JSONError) -> JSONValue {
    try parse(text.utf8)
  }

  private static func parse(
    _ source: UnsafeBufferPointer<UInt8>,
    depthLimit: Int
  ) -> Result<JSONValue, JSONError> {
    var parser = JSONParser(source, depthLimit: depthLimit)
    do throws(JSONError) {
      let value = try parser.value(depth: 0)
      parser.skipWhitespace()
      if parser.position < source.count { throw parser.error("text after the value") }
      return .success(value)
    } catch {
      return .failure(error)
    }
  }

  private func error(_ reason: String) -> JSONError {
    JSONError(reason: reason, offset: position)
  }

  private var current: UInt8? { position < source.count ? source[position] : nil }

  private mutating func skipWhitespace() {
    while let byte = current, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 {
      position += 1
    }
  }

  private mutating func value(depth: Int) throws(JSONError) -> JSONValue {
    guard depth <= depthLimit else { throw error("nested deeper than \(depthLimit) levels") }
    skipWhitespace()
    guard let byte = current else { throw error("the text ends where a value should be") }
    switch byte {
    case UInt8(ascii: "{"): return try object(depth: depth)
    case UInt8(ascii: "["): return try array(depth: depth)
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "t"): return try literal("true", .bool(true))
    case UInt8(ascii: "f"): return try literal("false", .bool(false))
    case UInt8(ascii: "n"): return try literal("null", .null)
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
    default: throw error("a value cannot start with \(describe(byte))")
    }
  }

  private func describe(_ byte: UInt8) -> String {
    (0x21...0x7E).contains(byte) ? "'\(Character(UnicodeScalar(byte)))'" : "byte \(byte)"
  }

  private mutating func literal(
    _ text: StaticString,
    _ value: JSONValue
  ) throws(JSONError) -> JSONValue {
    let length = text.utf8CodeUnitCount
    let matches =
      position + length <= source.count
      && text.withUTF8Buffer { expected in
        (0..<length).allSatisfy { source[position + $0] == expected[$0] }
      }
    guard matches else { throw error("expected \(text)") }
    position += length
    return value
  }

  private mutating func object(depth: Int) throws(JSONError) -> JSONValue {
    position += 1
    var members: [JSONMember] = []
    skipWhitespace()
    if current == UInt8(ascii: "}") {
      position += 1
      return .object(members)
    }
    while true {
      skipWhitespace()
      guard current == UInt8(ascii: "\"") else { throw error("expected a member name in quotes") }
      let name = try string()
      skipWhitespace()
      guard current == UInt8(ascii: ":") else { throw error("expected ':' after a member name") }
      position += 1
      members.append(JSONMember(name, try value(depth: depth + 1)))
      skipWhitespace()
      switch current {
      case UInt8(ascii: ","): position += 1
      case UInt8(ascii: "}"):
        position += 1
        return .object(members)
      default: throw error("expected ',' or '}' in an object")
      }
    }
  }

  private mutating func array(depth: Int) throws(JSONError) -> JSONValue {
    position += 1
    var elements: [JSONValue] = []
    skipWhitespace()
    if current == UInt8(ascii: "]") {
      position += 1
      return .array(elements)
    }
    while true {
      elements.append(try value(depth: depth + 1))
      skipWhitespace()
      switch current {
      case UInt8(ascii: ","): position += 1
      case UInt8(ascii: "]"):
        position += 1
        return .array(elements)
      default: throw error("expected ',' or ']' in an array")
      }
    }
  }

  private mutating func number() throws(JSONError) -> JSONValue {
    let start = position
    if current == UInt8(ascii: "-") { position += 1 }
    let integerStart = position
    skipDigits()
    guard position > integerStart else { throw error("expected a digit") }
    if source[integerStart] == UInt8(ascii: "0"), position > integerStart + 1 {
      throw error("a number cannot start with 0")
    }
    var isInteger = true
    if current == UInt8(ascii: ".") {
      isInteger = false
      position += 1
      let fractionStart = position
      skipDigits()
      guard position > fractionStart else { throw error("expected a digit after the point") }
    }
    if current == UInt8(ascii: "e") || current == UInt8(ascii: "E") {
      isInteger = false
      position += 1
      if current == UInt8(ascii: "+") || current == UInt8(ascii: "-") { position += 1 }
      let exponentStart = position
      skipDigits()
      guard position > exponentStart else { throw error("expected a digit in the exponent") }
    }
    let text = String(
      decoding: UnsafeBufferPointer(rebasing: source[start..<position]),
      as: UTF8.self
    )
    if isInteger, let whole = Int64(text) { return .integer(whole) }
    guard let value = Double(text), value.isFinite else {
      throw error("the number \(text.prefix(32)) is out of range")
    }
    return Int64(exactly: value).map { .integer($0) } ?? .double(value)
  }

  private mutating func skipDigits() {
    while let byte = current, byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") { position += 1 }
  }

  private mutating func string() throws(JSONError) -> String {
    position += 1
    let start = position
    while let byte = current {
      if byte == UInt8(ascii: "\"") {
        let text = try decode(source[start..<position])
        position += 1
        return text
      }
      if byte == UInt8(ascii: "\\") { return try escapedString(from: start) }
      if byte < 0x20 { throw error("a control character in a string must be escaped") }
      position += 1
    }
    throw error("a string is not closed")
  }

  private func decode(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) throws(JSONError) -> String {
    guard let text = String(validating: UnsafeBufferPointer(rebasing: bytes), as: UTF8.self) else {
      throw error("a string is not valid UTF-8")
    }
    return text
  }

  private mutating func escapedString(from start: Int) throws(JSONError) -> String {
    var buffer = Array(source[start..<position])
    while let byte = current {
      position += 1
      switch byte {
      case UInt8(ascii: "\""):
        guard let text = String(validating: buffer, as: UTF8.self) else {
          throw error("a string is not valid UTF-8")
        }
        return text
      case UInt8(ascii: "\\"): try escape(into: &buffer)
      case 0..<0x20: throw error("a control character in a string must be escaped")
      default: buffer.append(byte)
      }
    }
    throw error("a string is not closed")
  }

  private mutating func escape(into buffer: inout [UInt8]) throws(JSONError) {
    guard let byte = current else { throw error("a string is not closed") }
    position += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): buffer.append(byte)
    case UInt8(ascii: "b"): buffer.append(0x08)
    case UInt8(ascii: "f"): buffer.append(0x0C)
    case UInt8(ascii: "n"): buffer.append(0x0A)
    case UInt8(ascii: "r"): buffer.append(0x0D)
    case UInt8(ascii: "t"): buffer.append(0x09)
    case UInt8(ascii: "u"): buffer.append(contentsOf: try unicodeEscape())
    default:
      position -= 1
      throw error("unknown escape \(describe(byte))")
    }
  }

  private mutating func unicodeEscape() throws(JSONError) -> [UInt8] {
    let high = try hexUnit()
    guard UTF16.isSurrogate(high) else { return encode(UInt32(high)) }
    guard UTF16.isLeadSurrogate(high), current == UInt8(ascii: "\\") else {
      throw error("half a surrogate pair")
    }
    position += 1
    guard current == UInt8(ascii: "u") else { throw error("half a surrogate pair") }
    position += 1
    let low = try hexUnit()
    guard UTF16.isTrailSurrogate(low) else { throw error("half a surrogate pair") }
    return encode(0x10000 + (UInt32(high - 0xD800) << 10) + UInt32(low - 0xDC00))
  }

  private func encode(_ codePoint: UInt32) -> [UInt8] {
    UnicodeScalar(codePoint).map { Array(String($0).utf8) } ?? []
  }

  private mutating func hexUnit() throws(JSONError) -> UInt16 {
    guard position + 4 <= source.count else { throw error("expected four hexadecimal digits") }
    var unit: UInt16 = 0
    for _ in 0..<4 {
      let digit: UInt8
      switch source[position] {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = source[position] - UInt8(ascii: "0")
      case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = source[position] - UInt8(ascii: "a") + 10
      case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = source[position] - UInt8(ascii: "A") + 10
      default: throw error("expected four hexadecimal digits")
      }
      unit = unit << 4 | UInt16(digit)
      position += 1
    }
    return unit
  }
}
