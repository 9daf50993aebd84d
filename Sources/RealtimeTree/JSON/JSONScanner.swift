/// A reason why a text is no JSON value, with the place.
package struct JSONError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What is wrong.
  package let reason: String
  /// The position of the first bad byte, counted from 0.
  package let offset: Int

  package var description: String { "invalid JSON at byte \(offset): \(reason)" }
}

/// Reads the tokens of JSON text in UTF-8, strictly; what becomes of them is the caller's business.
///
// Safety: `source` is only read below `end`, which every read checks first, and a scanner does not
// leave the closure that lends it the bytes.
struct JSONScanner {
  private let source: UnsafeBufferPointer<UInt8>
  private let end: Int
  private(set) var position: Int
  /// The deepest nesting that is followed.
  let depthLimit: Int

  /// Reads a part of some bytes, or all of them.
  init(_ source: UnsafeBufferPointer<UInt8>, _ part: Range<Int>? = nil, depthLimit: Int) {
    self.source = source
    position = part?.lowerBound ?? 0
    end = min(part?.upperBound ?? source.count, source.count)
    self.depthLimit = depthLimit
  }

  func error(_ reason: String) -> JSONError {
    JSONError(reason: reason, offset: position)
  }

  /// A number as it was read: whole ones within 64 bits are integers.
  enum Number {
    case integer(Int64)
    case double(Double)
  }

  // MARK: Structure

  /// What a value begins with.
  enum Start {
    case object, array, string, yes, no, null, number
  }

  private var current: UInt8? { position < end ? source[position] : nil }

  mutating func skipWhitespace() {
    while position < end {
      let byte = source[position]
      guard byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { return }
      position += 1
    }
  }

  /// Tells what comes next, and steps over the bracket or the word.
  mutating func start(depth: Int) throws(JSONError) -> Start {
    guard depth <= depthLimit else { throw error("nested deeper than \(depthLimit) levels") }
    skipWhitespace()
    guard let byte = current else { throw error("the text ends where a value should be") }
    switch byte {
    case UInt8(ascii: "{"):
      position += 1
      return .object
    case UInt8(ascii: "["):
      position += 1
      return .array
    case UInt8(ascii: "\""): return .string
    case UInt8(ascii: "t"): return try word("true", .yes)
    case UInt8(ascii: "f"): return try word("false", .no)
    case UInt8(ascii: "n"): return try word("null", .null)
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number
    default: throw error("a value cannot start with \(Self.describe(byte))")
    }
  }

  private mutating func word(_ text: StaticString, _ start: Start) throws(JSONError) -> Start {
    let length = text.utf8CodeUnitCount
    let matches =
      position + length <= end
      && text.withUTF8Buffer { expected in
        (0..<length).allSatisfy { source[position + $0] == expected[$0] }
      }
    guard matches else { throw error("expected \(text)") }
    position += length
    return start
  }

  private static func describe(_ byte: UInt8) -> String {
    (0x21...0x7E).contains(byte) ? "'\(Character(UnicodeScalar(byte)))'" : "byte \(byte)"
  }

  /// Whether a value that comes next is an object.
  var nextIsObject: Bool {
    var ahead = self
    ahead.skipWhitespace()
    return ahead.current == UInt8(ascii: "{")
  }

  /// Steps over a closing bracket if one comes next, as it may right after the opening one.
  mutating func endsAtOnce(_ bracket: UInt8) -> Bool {
    skipWhitespace()
    guard current == bracket else { return false }
    position += 1
    return true
  }

  /// Steps over a comma, which means that more follows, or over the closing bracket.
  mutating func continues(_ bracket: UInt8, in what: StaticString) throws(JSONError) -> Bool {
    skipWhitespace()
    switch current {
    case UInt8(ascii: ","):
      position += 1
      return true
    case bracket:
      position += 1
      return false
    default: throw error("expected ',' or '\(Character(UnicodeScalar(bracket)))' in \(what)")
    }
  }

  /// Reads the name of a member and the colon.
  mutating func name() throws(JSONError) -> String {
    skipWhitespace()
    guard current == UInt8(ascii: "\"") else { throw error("expected a member name in quotes") }
    let name = try string()
    skipWhitespace()
    guard current == UInt8(ascii: ":") else { throw error("expected ':' after a member name") }
    position += 1
    return name
  }

  /// Makes sure that nothing but white space is left.
  mutating func finish() throws(JSONError) {
    skipWhitespace()
    if position < end { throw error("text after the value") }
  }

  /// Steps over a value without looking into it closely, and tells where it is.
  ///
  /// Brackets are counted and strings are followed; whether the value is one shows when it is read.
  ///
  /// - Complexity: O(bytes)
  mutating func skipValue() throws(JSONError) -> Range<Int> {
    skipWhitespace()
    let start = position
    var depth = 0
    while position < end {
      switch source[position] {
      case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        if depth == 0 { return start..<position }
        depth -= 1
        if depth == 0 {
          position += 1
          return start..<position
        }
      case UInt8(ascii: ","):
        if depth == 0 { return start..<position }
      case UInt8(ascii: "\""): try skipString()
      default: break
      }
      position += 1
    }
    if depth > 0 || start == end { throw error("the text ends inside a value") }
    return start..<position
  }

  /// Goes from the quote that opens a string to the one that closes it.
  private mutating func skipString() throws(JSONError) {
    position += 1
    while position < end {
      position += plainBytes()
      guard position < end else { break }
      switch source[position] {
      case UInt8(ascii: "\""): return
      case UInt8(ascii: "\\"): position += 2
      default: position += 1
      }
    }
    throw error("a string is not closed")
  }

  // MARK: Strings

  /// How many of the next bytes, eight at a time, are printable ASCII without quote or backslash.
  ///
  /// Each test makes the top bit of a byte show what is looked for: a byte with a top bit of its own,
  /// one below 0x20, and one that becomes zero by exclusive-or with the quote or the backslash. See
  /// "Determine if a word has a byte less than n" in Anderson's "Bit Twiddling Hacks".
  private func plainBytes() -> Int {
    guard let base = source.baseAddress else { return 0 }
    let ones: UInt64 = 0x0101_0101_0101_0101
    let tops: UInt64 = 0x8080_8080_8080_8080
    var length = 0
    while position + length + 8 <= end {
      // Safety: the condition of the loop keeps all eight bytes within the buffer.
      let word = UInt64(
        littleEndian: UnsafeRawPointer(base)
          .loadUnaligned(fromByteOffset: position + length, as: UInt64.self)
      )
      let quote = word ^ (ones &* 0x22)
      let backslash = word ^ (ones &* 0x5C)
      let found = (word &- (ones &* 0x20)) | (quote &- ones) | (backslash &- ones) | word
      if found & tops != 0 { return length + (found & tops).trailingZeroBitCount / 8 }
      length += 8
    }
    return length
  }

  /// Reads a string, standing at its opening quote.
  mutating func string() throws(JSONError) -> String {
    position += 1
    let start = position
    var isASCII = true
    while position < end {
      position += plainBytes()
      guard position < end else { break }
      let byte = source[position]
      switch byte {
      case UInt8(ascii: "\""):
        let text = try text(start..<position, isASCII: isASCII)
        position += 1
        return text
      case UInt8(ascii: "\\"): return try escapedString(from: start)
      case 0..<0x20: throw error("a control character in a string must be escaped")
      case 0x80...: isASCII = false
      default: break
      }
      position += 1
    }
    throw error("a string is not closed")
  }

  private func text(_ range: Range<Int>, isASCII: Bool) throws(JSONError) -> String {
    let bytes = UnsafeBufferPointer(rebasing: source[range])
    if isASCII { return String(decoding: bytes, as: UTF8.self) }
    guard let text = String(validating: bytes, as: UTF8.self) else {
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
      throw error("unknown escape \(Self.describe(byte))")
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
    guard position + 4 <= end else { throw error("expected four hexadecimal digits") }
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

  // MARK: Numbers

  /// Reads a number, standing at its first byte.
  mutating func number() throws(JSONError) -> Number {
    let start = position
    let isNegative = current == UInt8(ascii: "-")
    if isNegative { position += 1 }
    let integerStart = position
    let magnitude = skipDigits()
    guard position > integerStart else { throw error("expected a digit") }
    if source[integerStart] == UInt8(ascii: "0"), position > integerStart + 1 {
      throw error("a number cannot start with 0")
    }
    var isInteger = true
    if current == UInt8(ascii: ".") {
      isInteger = false
      position += 1
      let fractionStart = position
      _ = skipDigits()
      guard position > fractionStart else { throw error("expected a digit after the point") }
    }
    if current == UInt8(ascii: "e") || current == UInt8(ascii: "E") {
      isInteger = false
      position += 1
      if current == UInt8(ascii: "+") || current == UInt8(ascii: "-") { position += 1 }
      let exponentStart = position
      _ = skipDigits()
      guard position > exponentStart else { throw error("expected a digit in the exponent") }
    }
    if isInteger, let magnitude { return .integer(isNegative ? -magnitude : magnitude) }
    let bytes = UnsafeBufferPointer(rebasing: source[start..<position])
    let text = String(decoding: bytes, as: UTF8.self)
    if isInteger, let whole = Int64(text) { return .integer(whole) }
    guard let value = Double(text), value.isFinite else {
      throw error("the number \(text.prefix(32)) is out of range")
    }
    return Int64(exactly: value).map { .integer($0) } ?? .double(value)
  }

  /// Steps over digits and gives their value, or nil when it may not fit.
  private mutating func skipDigits() -> Int64? {
    let start = position
    var value: Int64 = 0
    while position < end {
      let digit = source[position] &- UInt8(ascii: "0")
      guard digit <= 9 else { break }
      value = value &* 10 &+ Int64(digit)
      position += 1
    }
    return position - start <= 18 ? value : nil
  }
}
