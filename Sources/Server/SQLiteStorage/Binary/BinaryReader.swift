/// Reads what a ``BinaryWriter`` wrote; bytes that no writer writes are an error, never a trap.
struct BinaryReader {
  /// A reason why bytes cannot be read.
  struct Failure: Error {
    let reason: String
  }

  private let bytes: ArraySlice<UInt8>
  private var position: Int
  private let end: Int

  init(_ bytes: ArraySlice<UInt8>) {
    self.bytes = bytes
    position = bytes.startIndex
    end = bytes.endIndex
  }

  init(_ bytes: [UInt8]) {
    self.init(bytes[...])
  }

  /// Reads bytes that end with the checksum of those before.
  init(sealed bytes: [UInt8]) throws(Failure) {
    guard bytes.count >= 8 else { throw Failure(reason: "it is too short") }
    self.init(bytes[..<(bytes.count - 8)])
    var tail = BinaryReader(bytes[end...])
    guard try tail.bits() == Checksum.of(bytes[..<end]) else {
      throw Failure(reason: "its checksum is wrong")
    }
  }

  var isAtEnd: Bool { position == end }

  mutating func byte() throws(Failure) -> UInt8 {
    guard position < end else { throw Failure(reason: "it ends too early") }
    defer { position += 1 }
    return bytes[position]
  }

  /// Reads a number of things, each of which takes at least one more byte.
  mutating func count() throws(Failure) -> Int {
    let value = try unsigned()
    guard value <= UInt64(end - position) else { throw Failure(reason: "a count is too large") }
    return Int(value)
  }

  mutating func integer() throws(Failure) -> Int64 {
    let value = try unsigned()
    return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
  }

  mutating func bits() throws(Failure) -> UInt64 {
    var value: UInt64 = 0
    for shift in stride(from: UInt64(0), to: 64, by: 8) { value |= UInt64(try byte()) << shift }
    return value
  }

  mutating func text() throws(Failure) -> String {
    let length = try count()
    guard let text = String(utf8: bytes[position..<(position + length)]) else {
      throw Failure(reason: "a text is not valid UTF-8")
    }
    position += length
    return text
  }

  private mutating func unsigned() throws(Failure) -> UInt64 {
    var value: UInt64 = 0
    for shift in stride(from: UInt64(0), to: 64, by: 7) {
      let byte = try byte()
      guard shift < 63 || byte <= 1 else { break }
      value |= UInt64(byte & 127) << shift
      if byte < 128 { return value }
    }
    throw Failure(reason: "a number is too large")
  }
}

extension String {
  /// Makes a string of bytes, or nil when they are not valid UTF-8.
  init?(utf8 bytes: ArraySlice<UInt8>) {
    // A span is checked without the generic code that `String(validating:as:)` goes through.
    guard let text = try? UTF8Span(validating: bytes.span) else { return nil }
    self.init(copying: text)
  }
}
