/// Why a text is not valid JSON, and where the error is.
package struct JSONError: Error, Hashable, Sendable, CustomStringConvertible {
  package let reason: String
  /// The offset of the first bad byte, counted from 0.
  package let offset: Int

  package var description: String { "invalid JSON at byte \(offset): \(reason)" }
}

/// Scans the tokens of UTF-8 JSON text strictly; its callers build values from them.
///
// Safety: every read of `source` first checks that its offset is below `end`, and a scanner does
// not escape the closure that lends it the bytes.
struct JSONScanner {
  let source: UnsafeBufferPointer<UInt8>
  let end: Int
  var position: Int
  /// The deepest nesting that is accepted.
  let depthLimit: Int

  /// Scans all bytes, or a range of them.
  init(_ source: UnsafeBufferPointer<UInt8>, range: Range<Int>? = nil, depthLimit: Int) {
    self.source = source
    position = range?.lowerBound ?? 0
    end = min(range?.upperBound ?? source.count, source.count)
    self.depthLimit = depthLimit
  }

  @inline(never)
  func error(_ reason: String) -> JSONError {
    JSONError(reason: reason, offset: position)
  }

  /// A number; whole numbers within 64 bits are integers.
  enum Number {
    case integer(Int64)
    case double(Double)
  }

  // MARK: Structure

  /// The kind of a value, which its first byte determines.
  enum Start {
    case object, array, string, yes, no, null, number
  }

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

  /// Determines the kind of the next value and consumes its opening bracket or literal.
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
    case UInt8(ascii: "t"): return try literal("true", as: .yes)
    case UInt8(ascii: "f"): return try literal("false", as: .no)
    case UInt8(ascii: "n"): return try literal("null", as: .null)
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number
    default: throw invalidStart(byte)
    }
  }

  @inline(never)
  private var tooDeep: JSONError { error("nested deeper than \(depthLimit) levels") }

  @inline(never)
  private func invalidStart(_ byte: UInt8) -> JSONError {
    error("a value cannot start with \(Self.describe(byte))")
  }

  @inline(__always)
  private mutating func literal(_ text: StaticString, as start: Start) throws(JSONError) -> Start {
    guard skips(text) else { throw error("expected \(text)") }
    return start
  }

  static func describe(_ byte: UInt8) -> String {
    (0x21...0x7E).contains(byte) ? "'\(Character(UnicodeScalar(byte)))'" : "byte \(byte)"
  }

  var nextIsObject: Bool {
    var ahead = self
    ahead.skipWhitespace()
    return ahead.current == UInt8(ascii: "{")
  }

  /// Consumes a closing bracket if it directly follows the opening one.
  @inline(__always)
  mutating func endsAtOnce(_ bracket: UInt8) -> Bool {
    skipWhitespace()
    guard current == bracket else { return false }
    position += 1
    return true
  }

  /// Consumes a comma and returns true, or consumes the closing bracket and returns false.
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
    default: throw missingEnd(of: what, bracket: bracket)
    }
  }

  @inline(never)
  private func missingEnd(of what: StaticString, bracket: UInt8) -> JSONError {
    error("expected ',' or '\(Character(UnicodeScalar(bracket)))' in \(what)")
  }

  /// Consumes exactly this text if it comes next.
  @inline(__always)
  mutating func skips(_ text: StaticString) -> Bool {
    let length = text.utf8CodeUnitCount
    guard end - position >= length, let base = source.baseAddress,
      CodeUnits.areSame(base + position, text.utf8Start, count: length)
    else { return false }
    position += length
    return true
  }

  /// Consumes a whole number of up to 18 digits without leading zeros; otherwise consumes nothing.
  mutating func digits() -> Int64? {
    let start = position
    guard let value = skipDigits(), position > start,
      position == start + 1 || source[start] != UInt8(ascii: "0")
    else {
      position = start
      return nil
    }
    return value
  }

  /// Checks that only white space is left.
  mutating func finish() throws(JSONError) {
    skipWhitespace()
    if position < end { throw error("text after the value") }
  }

  /// Skips a value without validating it and returns its range.
  ///
  /// Only brackets and strings are tracked; the value is validated when it is parsed.
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

  /// Advances from the opening quote of a string to the closing one.
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

  @inline(__always)
  mutating func number() throws(JSONError) -> Number {
    // Fast path: one digit.
    if position + 1 < end {
      let (digit, next) = (source[position] &- UInt8(ascii: "0"), source[position + 1])
      if digit <= 9, next == UInt8(ascii: ",") || next == UInt8(ascii: "}") {
        position += 1
        return .integer(Int64(digit))
      }
    }
    return try longNumber()
  }

  private mutating func longNumber() throws(JSONError) -> Number {
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

  /// Skips digits and returns their value, or nil if it may not fit into 64 bits.
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

// Safety: as for `JSONScanner`.
extension JSONScanner {
  // MARK: Names

  /// Scans the name of a member and the colon.
  mutating func name() throws(JSONError) -> String {
    try startName()
    let name = try string()
    try endName()
    return name
  }

  /// Scans the name of a member and the colon if the name is one letter; else consumes nothing.
  mutating func letterName() throws(JSONError) -> Unicode.Scalar? {
    skipWhitespace()
    guard position + 3 < end, source[position] == UInt8(ascii: "\""),
      source[position + 2] == UInt8(ascii: "\""), (0x61...0x7A).contains(source[position + 1])
    else { return nil }
    let letter = Unicode.Scalar(source[position + 1])
    position += 3
    try endName()
    return letter
  }

  /// Scans the name of a member and the colon if the name has no escapes; else consumes nothing.
  @inline(__always)
  mutating func unescapedName() throws(JSONError) -> UnsafeBufferPointer<UInt8>? {
    guard let name = plainString() else { return nil }
    try endName()
    return name
  }

  /// Scans the name of a member, which may have escapes, and the colon.
  mutating func nameBytes() throws(JSONError) -> [UInt8] {
    var name: [UInt8] = []
    try startName()
    try string(into: &name)
    try endName()
    return name
  }

  @inline(__always)
  private mutating func startName() throws(JSONError) {
    skipWhitespace()
    guard current == UInt8(ascii: "\"") else { throw error("expected a member name in quotes") }
  }

  @inline(__always)
  private mutating func endName() throws(JSONError) {
    skipWhitespace()
    guard current == UInt8(ascii: ":") else { throw error("expected ':' after a member name") }
    position += 1
  }

  // MARK: Strings

  /// Counts the ASCII bytes that need no escape in a string, from an offset onward, eight at a
  /// time.
  ///
  /// Each test sets the top bit of the bytes that end the count: those with their own top bit set,
  /// those below 0x20, and those that become zero when XORed with the quote or the backslash. See
  /// "Determine if a word has a byte less than n" in Anderson's "Bit Twiddling Hacks".
  @inline(__always)
  func plainBytes(at start: Int) -> Int {
    guard let base = source.baseAddress else { return 0 }
    let ones: UInt64 = 0x0101_0101_0101_0101
    let tops: UInt64 = 0x8080_8080_8080_8080
    var index = start
    while index + 8 <= end {
      // Safety: the condition of the loop keeps all eight bytes within the buffer.
      let word = UInt64(
        littleEndian: UnsafeRawPointer(base).loadUnaligned(fromByteOffset: index, as: UInt64.self)
      )
      let quote = word ^ (ones &* 0x22)
      let backslash = word ^ (ones &* 0x5C)
      let found = (word &- (ones &* 0x20)) | (quote &- ones) | (backslash &- ones) | word
      if found & tops != 0 { return index - start + (found & tops).trailingZeroBitCount / 8 }
      index += 8
    }
    return index - start
  }

  /// Scans a string as ``unescapedString()`` does, but faster if it is ASCII, as most strings are.
  @inline(__always)
  mutating func plainString() -> UnsafeBufferPointer<UInt8>? {
    let start = position + 1
    guard current == UInt8(ascii: "\""), let base = source.baseAddress,
      case let stop = start + plainBytes(at: start), stop < end,
      source[stop] == UInt8(ascii: "\"")
    else { return unescapedString() }
    position = stop + 1
    return UnsafeBufferPointer(start: base + start, count: stop - start)
  }

  /// Scans a string without escapes and returns its bytes in the text; otherwise consumes nothing.
  mutating func unescapedString() -> UnsafeBufferPointer<UInt8>? {
    skipWhitespace()
    guard current == UInt8(ascii: "\""), let base = source.baseAddress else { return nil }
    let start = position + 1
    var index = start
    var isASCII = true
    while index < end {
      index += plainBytes(at: index)
      guard index < end else { return nil }
      let byte = source[index]
      if byte == UInt8(ascii: "\"") {
        let bytes = UnsafeBufferPointer(start: base + start, count: index - start)
        if !isASCII, !Self.isUTF8(bytes) { return nil }
        position = index + 1
        return bytes
      }
      if byte < 0x20 || byte == UInt8(ascii: "\\") { return nil }
      if byte >= 0x80 { isASCII = false }
      index += 1
    }
    return nil
  }

  mutating func string() throws(JSONError) -> String {
    if let text = unescapedString() { return String(decoding: text, as: UTF8.self) }
    var buffer: [UInt8] = []
    try string(into: &buffer)
    return String(decoding: buffer, as: UTF8.self)
  }

  /// Scans a string that starts here and appends its UTF-8 to a buffer.
  mutating func string(into buffer: inout [UInt8]) throws(JSONError) {
    position += 1
    let start = position
    var isASCII = true
    while position < end {
      position += plainBytes(at: position)
      guard position < end else { break }
      switch source[position] {
      case UInt8(ascii: "\""):
        let bytes = UnsafeBufferPointer(rebasing: source[start..<position])
        if !isASCII, !Self.isUTF8(bytes) { throw invalidText }
        buffer.append(contentsOf: bytes)
        position += 1
        return
      case UInt8(ascii: "\\"): return try escapedString(from: start, into: &buffer)
      case 0..<0x20: throw error("a control character in a string must be escaped")
      case 0x80...: isASCII = false
      default: break
      }
      position += 1
    }
    throw error("a string is not closed")
  }

  private var invalidText: JSONError { error("a string is not valid UTF-8") }

  private static func isUTF8(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    do {
      _ = try UTF8Span(validating: bytes.span)
      return true
    } catch {
      return false
    }
  }

  private mutating func escapedString(
    from start: Int,
    into buffer: inout [UInt8]
  ) throws(JSONError) {
    let offset = buffer.count
    buffer.append(contentsOf: source[start..<position])
    while let byte = current {
      position += 1
      switch byte {
      case UInt8(ascii: "\""):
        let isValid = buffer.withUnsafeBufferPointer {
          Self.isUTF8(UnsafeBufferPointer(rebasing: $0[offset...]))
        }
        if !isValid { throw invalidText }
        return
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
      throw error("a lone surrogate")
    }
    position += 1
    guard current == UInt8(ascii: "u") else { throw error("a lone surrogate") }
    position += 1
    let low = try hexUnit()
    guard UTF16.isTrailSurrogate(low) else { throw error("a lone surrogate") }
    return encode(0x10000 + (UInt32(high - 0xD800) << 10) + UInt32(low - 0xDC00))
  }

  private func encode(_ codePoint: UInt32) -> [UInt8] {
    UnicodeScalar(codePoint).map { Array(String($0).utf8) } ?? []
  }

  private mutating func hexUnit() throws(JSONError) -> UInt16 {
    guard position + 4 <= end else { throw error("expected four hexadecimal digits") }
    var unit: UInt16 = 0
    for _ in 0..<4 {
      guard let digit = source[position].hexDigit else {
        throw error("expected four hexadecimal digits")
      }
      unit = unit << 4 | UInt16(digit)
      position += 1
    }
    return unit
  }
}
