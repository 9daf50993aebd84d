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
  let source: UnsafeBufferPointer<UInt8>
  let end: Int
  var position: Int
  /// The deepest nesting that is followed.
  let depthLimit: Int

  /// Reads a part of some bytes, or all of them.
  init(_ source: UnsafeBufferPointer<UInt8>, _ part: Range<Int>? = nil, depthLimit: Int) {
    self.source = source
    position = part?.lowerBound ?? 0
    end = min(part?.upperBound ?? source.count, source.count)
    self.depthLimit = depthLimit
  }

  @inline(never)
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

  /// The byte that comes next, or nil at the end.
  @inline(__always)
  var current: UInt8? { position < end ? source[position] : nil }

  @inline(__always)
  mutating func skipWhitespace() {
    while position < end {
      let byte = source[position]
      guard byte <= 0x20, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else {
        return
      }
      position += 1
    }
  }

  /// Tells what comes next, and steps over the bracket or the word.
  @inline(__always)
  mutating func start(depth: Int) throws(JSONError) -> Start {
    guard depth <= depthLimit else { throw tooDeep }
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
    default: throw noStart(byte)
    }
  }

  @inline(never)
  private var tooDeep: JSONError { error("nested deeper than \(depthLimit) levels") }

  @inline(never)
  private func noStart(_ byte: UInt8) -> JSONError {
    error("a value cannot start with \(Self.describe(byte))")
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

  static func describe(_ byte: UInt8) -> String {
    (0x21...0x7E).contains(byte) ? "'\(Character(UnicodeScalar(byte)))'" : "byte \(byte)"
  }

  /// Whether a value that comes next is an object.
  var nextIsObject: Bool {
    var ahead = self
    ahead.skipWhitespace()
    return ahead.current == UInt8(ascii: "{")
  }

  /// Steps over a closing bracket if one comes next, as it may right after the opening one.
  @inline(__always)
  mutating func endsAtOnce(_ bracket: UInt8) -> Bool {
    skipWhitespace()
    guard current == bracket else { return false }
    position += 1
    return true
  }

  /// Steps over a comma, which means that more follows, or over the closing bracket.
  @inline(__always)
  mutating func continues(_ bracket: UInt8, in what: StaticString) throws(JSONError) -> Bool {
    skipWhitespace()
    switch current {
    case UInt8(ascii: ","):
      position += 1
      return true
    case bracket:
      position += 1
      return false
    default: throw noEnd(bracket, what)
    }
  }

  @inline(never)
  private func noEnd(_ bracket: UInt8, _ what: StaticString) -> JSONError {
    error("expected ',' or '\(Character(UnicodeScalar(bracket)))' in \(what)")
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
      position += plainBytes(at: position)
      guard position < end else { break }
      switch source[position] {
      case UInt8(ascii: "\""): return
      case UInt8(ascii: "\\"): position += 2
      default: position += 1
      }
    }
    throw error("a string is not closed")
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
