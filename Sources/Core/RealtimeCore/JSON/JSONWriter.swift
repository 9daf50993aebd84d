package struct JSONWriter: Sendable {
  /// The UTF-8 written so far.
  package private(set) var bytes: [UInt8] = []

  /// Makes a writer with an empty buffer.
  ///
  /// - Parameter capacity: The number of bytes that will probably be written.
  package init(capacity: Int = 0) {
    if capacity > 0 { bytes.reserveCapacity(capacity) }
  }

  package var text: String { String(decoding: bytes, as: UTF8.self) }

  /// Writes text that is already JSON, such as brackets and commas.
  package mutating func raw(_ text: StaticString) {
    text.withUTF8Buffer { bytes.append(contentsOf: $0) }
  }

  package mutating func write(_ value: Int64) {
    guard value >= 10 || value < 0 else { return bytes.append(UInt8(ascii: "0") + UInt8(value)) }
    bytes.append(contentsOf: String(value).utf8)
  }

  /// Writes a finite number as the shortest text that reads back the same.
  ///
  /// Whole numbers within 64 bits have neither a point nor an exponent. Larger ones have an
  /// exponent, because some clients reject longer integers.
  package mutating func write(_ value: Double) {
    if let whole = Int64(exactly: value) {
      write(whole)
    } else if !value.isFinite {
      raw("null")
    } else {
      bytes.append(contentsOf: value.description.utf8)
    }
  }

  /// Writes a string in quotes, escaped as JSON requires.
  package mutating func write(_ text: String) {
    var text = text
    text.withUTF8 { write(text: $0) }
  }

  /// Writes a key as the name of a member, in quotes.
  package mutating func write(_ key: ChildKey) {
    key.withUTF8 { write(text: $0) }
  }

  /// Writes UTF-8 in quotes, escaped as JSON requires.
  mutating func write(text source: UnsafeBufferPointer<UInt8>) {
    bytes.append(UInt8(ascii: "\""))
    var start = 0
    while true {
      let plain = source.plainLength(from: start)
      bytes.append(contentsOf: UnsafeBufferPointer(rebasing: source[start..<(start + plain)]))
      start += plain
      guard start < source.count else { break }
      escape(source[start])
      start += 1
    }
    bytes.append(UInt8(ascii: "\""))
  }

  /// Writes a JSON value with everything in it.
  ///
  /// - Complexity: O(size)
  package mutating func write(_ value: JSONValue) {
    switch value {
    case .null: raw("null")
    case .bool(let value): value ? raw("true") : raw("false")
    case .integer(let value): write(value)
    case .double(let value): write(value)
    case .string(let text): write(text)
    case .array(let elements):
      raw("[")
      for (index, element) in elements.enumerated() {
        if index > 0 { raw(",") }
        write(element)
      }
      raw("]")
    case .object(let members):
      raw("{")
      for (index, member) in members.enumerated() {
        if index > 0 { raw(",") }
        write(member.name)
        raw(":")
        write(member.value)
      }
      raw("}")
    }
  }

  private mutating func escape(_ byte: UInt8) {
    switch byte {
    case 0x22: raw("\\\"")
    case 0x5C: raw("\\\\")
    case 0x0A: raw("\\n")
    case 0x0D: raw("\\r")
    case 0x09: raw("\\t")
    default:
      raw("\\u00")
      bytes.append(Self.hexDigits[Int(byte >> 4)])
      bytes.append(Self.hexDigits[Int(byte & 15)])
    }
  }

  private static let hexDigits = Array("0123456789abcdef".utf8)
}

extension UnsafeBufferPointer<UInt8> {
  /// Counts the bytes that JSON need not escape, from an offset onward, eight at a time.
  ///
  /// The tests are those in ``JSONScanner``, but bytes with their own top bit set are counted.
  fileprivate func plainLength(from start: Int) -> Int {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let tops: UInt64 = 0x8080_8080_8080_8080
    let raw = UnsafeRawBufferPointer(self)
    var index = start
    while index + 8 <= count {
      // Safety: the condition of the loop keeps all eight bytes within the buffer.
      let word = UInt64(littleEndian: raw.loadUnaligned(fromByteOffset: index, as: UInt64.self))
      let quote = word ^ (ones &* 0x22)
      let backslash = word ^ (ones &* 0x5C)
      let found = (word &- (ones &* 0x20)) | (quote &- ones) | (backslash &- ones)
      if found & ~word & tops != 0 { break }
      index += 8
    }
    while index < count {
      let byte = self[index]
      if byte < 0x20 || byte == 0x22 || byte == 0x5C { break }
      index += 1
    }
    return index - start
  }
}
