// Safety: that of `JSONScanner`.
extension JSONScanner {
  // MARK: Names

  /// Reads the name of a member and the colon.
  mutating func name() throws(JSONError) -> String {
    try startName()
    let name = try string()
    try endName()
    return name
  }

  /// Reads the name of a member and the colon if it is one letter; else nothing is read.
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

  /// Reads the name of a member and the colon if the name has no escapes; else nothing is read.
  @inline(__always)
  mutating func unescapedName() throws(JSONError) -> UnsafeBufferPointer<UInt8>? {
    guard let name = unescapedString() else { return nil }
    try endName()
    return name
  }

  /// Reads the name of a member and the colon as UTF-8, whatever the name is like.
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

  /// How many bytes from a place on, eight at a time, are printable ASCII without quote or backslash.
  ///
  /// Each test makes the top bit of a byte show what is looked for: a byte with a top bit of its own,
  /// one below 0x20, and one that becomes zero by exclusive-or with the quote or the backslash. See
  /// "Determine if a word has a byte less than n" in Anderson's "Bit Twiddling Hacks".
  @inline(__always)
  func plainBytes(at start: Int) -> Int {
    guard let base = source.baseAddress else { return 0 }
    let ones: UInt64 = 0x0101_0101_0101_0101
    let tops: UInt64 = 0x8080_8080_8080_8080
    var place = start
    while place + 8 <= end {
      // Safety: the condition of the loop keeps all eight bytes within the buffer.
      let word = UInt64(
        littleEndian: UnsafeRawPointer(base).loadUnaligned(fromByteOffset: place, as: UInt64.self)
      )
      let quote = word ^ (ones &* 0x22)
      let backslash = word ^ (ones &* 0x5C)
      let found = (word &- (ones &* 0x20)) | (quote &- ones) | (backslash &- ones) | word
      if found & tops != 0 { return place - start + (found & tops).trailingZeroBitCount / 8 }
      place += 8
    }
    return place - start
  }

  /// Reads a string if one comes next, and it lies in the text as it is; else nothing is read.
  mutating func unescapedString() -> UnsafeBufferPointer<UInt8>? {
    skipWhitespace()
    guard current == UInt8(ascii: "\"") else { return nil }
    let start = position + 1
    var place = start
    var isASCII = true
    while place < end {
      place += plainBytes(at: place)
      guard place < end else { return nil }
      let byte = source[place]
      if byte == UInt8(ascii: "\"") {
        let bytes = UnsafeBufferPointer(rebasing: source[start..<place])
        if !isASCII, !Self.isUTF8(bytes) { return nil }
        position = place + 1
        return bytes
      }
      if byte < 0x20 || byte == UInt8(ascii: "\\") { return nil }
      if byte >= 0x80 { isASCII = false }
      place += 1
    }
    return nil
  }

  /// Reads a string, standing at its opening quote.
  mutating func string() throws(JSONError) -> String {
    if let text = unescapedString() { return String(decoding: text, as: UTF8.self) }
    var buffer: [UInt8] = []
    try string(into: &buffer)
    return String(decoding: buffer, as: UTF8.self)
  }

  /// Reads a string, standing at its opening quote, and appends its UTF-8 to a buffer.
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
}
