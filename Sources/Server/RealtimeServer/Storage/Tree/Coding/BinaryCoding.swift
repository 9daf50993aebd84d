internal import RealtimeCore

/// Writes values as bytes: small numbers take few bytes, and text is preceded by its length.
///
/// The bytes are in a buffer with a single owner. An array would check before each byte whether it
/// is shared, which took a sixth of the time of writing a post.
///
// Safety: `count` never exceeds `capacity`, and the bytes before it have been written.
package struct BinaryWriter: ~Copyable {
  private var base: UnsafeMutablePointer<UInt8>
  private var capacity: Int
  private var count = 0

  /// Makes an empty writer that has reserved space for so many bytes.
  init(capacity: Int = 64) {
    self.capacity = max(capacity, 16)
    base = .allocate(capacity: self.capacity)
  }

  deinit {
    base.deallocate()
  }

  /// The bytes written so far.
  ///
  /// - Complexity: O(bytes)
  package var bytes: [UInt8] { Array(UnsafeBufferPointer(start: base, count: count)) }

  @inline(__always)
  private mutating func reserve(_ more: Int) {
    if count + more > capacity { grow(by: more) }
  }

  @inline(never)
  private mutating func grow(by more: Int) {
    capacity = max(2 * capacity, count + more)
    let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
    larger.update(from: base, count: count)
    base.deallocate()
    base = larger
  }

  @inline(__always)
  package mutating func write(byte: UInt8) {
    reserve(1)
    base[count] = byte
    count += 1
  }

  /// Writes a non-negative number, seven bits in each byte, lowest first; a set top bit means that
  /// more bytes follow.
  package mutating func write(count: Int) {
    write(unsigned: UInt64(count))
  }

  /// Writes an integer so that those near zero are short, whatever their sign.
  package mutating func write(integer: Int64) {
    write(unsigned: UInt64(bitPattern: (integer << 1) ^ (integer >> 63)))
  }

  /// Writes 64 bits, lowest byte first.
  package mutating func write(bits: UInt64) {
    for shift in stride(from: UInt64(0), to: 64, by: 8) {
      write(byte: UInt8(truncatingIfNeeded: bits >> shift))
    }
  }

  /// Writes text as UTF-8, preceded by its length.
  package mutating func write(text: String) {
    var text = text
    text.withUTF8 { write(text: $0) }
  }

  /// Writes text that is already UTF-8.
  @inline(__always)
  package mutating func write(text: UnsafeBufferPointer<UInt8>) {
    write(unsigned: UInt64(text.count))
    guard let source = text.baseAddress else { return }
    reserve(text.count)
    (base + count).update(from: source, count: text.count)
    count += text.count
  }

  /// The checksum of everything written so far.
  func checksum(seed: UInt64 = 0) -> UInt64 {
    Checksum.of(UnsafeBufferPointer(start: base, count: count), seed: seed)
  }

  /// Appends the checksum of everything written so far.
  mutating func seal() {
    write(bits: checksum())
  }

  @inline(__always)
  private mutating func write(unsigned: UInt64) {
    var rest = unsigned
    while rest > 127 {
      write(byte: UInt8(rest & 127) | 128)
      rest >>= 7
    }
    write(byte: UInt8(rest))
  }
}

/// Reads what a ``BinaryWriter`` has written; any other bytes cause an error, never a trap.
package struct BinaryReader {
  package struct Failure: Error {
    /// What is wrong with the bytes, as the end of a sentence.
    package let reason: String

    package init(reason: String) { self.reason = reason }
  }

  private let bytes: ArraySlice<UInt8>
  var position: Int
  private let end: Int

  init(_ bytes: ArraySlice<UInt8>) {
    self.bytes = bytes
    position = bytes.startIndex
    end = bytes.endIndex
  }

  /// Reads bytes that end with a checksum of those before it.
  init(sealed bytes: [UInt8]) throws(Failure) {
    guard bytes.count >= 8 else { throw Failure(reason: "it is too short") }
    self.init(bytes[..<(bytes.count - 8)])
    var tail = BinaryReader(bytes[end...])
    guard try tail.bits() == Checksum.of(bytes[..<end]) else {
      throw Failure(reason: "its checksum is wrong")
    }
  }

  var isAtEnd: Bool { position == end }

  package mutating func byte() throws(Failure) -> UInt8 {
    guard position < end else { throw Failure(reason: "it ends too early") }
    defer { position += 1 }
    return bytes[position]
  }

  /// Reads a number of elements, each of which takes at least one more byte.
  package mutating func count() throws(Failure) -> Int {
    let value = try unsigned()
    guard value <= UInt64(end - position) else { throw Failure(reason: "a count is too large") }
    return Int(value)
  }

  package mutating func integer() throws(Failure) -> Int64 {
    let value = try unsigned()
    return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
  }

  package mutating func bits() throws(Failure) -> UInt64 {
    var value: UInt64 = 0
    for shift in stride(from: UInt64(0), to: 64, by: 8) { value |= UInt64(try byte()) << shift }
    return value
  }

  package mutating func text() throws(Failure) -> String {
    let range = try textRange()
    return withText(range) { String(decoding: $0, as: UTF8.self) }
  }

  mutating func textRange() throws(Failure) -> Range<Int> {
    let length = try count()
    let range = position..<(position + length)
    guard bytes[range].isUTF8 else { throw Failure(reason: "a text is not valid UTF-8") }
    position += length
    return range
  }

  /// Lends the bytes of text that has been read.
  func withText<Result>(
    _ range: Range<Int>,
    _ body: (UnsafeBufferPointer<UInt8>) -> Result
  ) -> Result {
    bytes[range].withUnsafeBufferPointer(body)
  }

  /// Whether the key in one range of text comes before that in another.
  func precedes(_ left: Range<Int>, _ right: Range<Int>) -> Bool {
    withText(left) { left in withText(right) { ChildKey.precedes(left, $0) } }
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

/// Stored data that differs from what was written.
///
/// It does not name the storage; whoever has opened that makes a ``StoreError`` of it.
package struct DamagedData: Error, CustomStringConvertible {
  /// What is wrong, and where in the storage.
  package let description: String

  package init(_ description: String) { self.description = description }

  /// Describes a failure to read the row at a path.
  package init(key: ArraySlice<UInt8>, by failure: any Error) {
    let rowPath = String(decoding: key, as: UTF8.self)
    let reason = (failure as? BinaryReader.Failure)?.reason ?? "\(failure)"
    description = "the data at /\(rowPath) is damaged: \(reason)"
  }
}

extension ArraySlice<UInt8> {
  /// Whether the bytes are valid UTF-8.
  ///
  /// Checking a span avoids the generic code that `String(validating:as:)` goes through.
  var isUTF8: Bool { (try? UTF8Span(validating: span)) != nil }
}

extension String {
  /// Makes a string from bytes, or nil when they are not valid UTF-8.
  init?(utf8 bytes: ArraySlice<UInt8>) {
    guard let text = try? UTF8Span(validating: bytes.span) else { return nil }
    self.init(copying: text)
  }
}

/// Detects bytes that were damaged on the disk; it does not protect against deliberate changes.
package enum Checksum {
  /// Computes a sum that any change of a single 64-bit word changes.
  ///
  /// Each step multiplies by an odd number and rotates. Both are reversible, so two inputs that
  /// differ in only one word never have the same sum.
  ///
  /// - Complexity: O(bytes)
  package static func of(_ bytes: some Collection<UInt8>, seed: UInt64 = 0) -> UInt64 {
    let sum = bytes.withContiguousStorageIfAvailable { of(UnsafeRawBufferPointer($0), seed: seed) }
    return sum ?? of(Array(bytes), seed: seed)
  }

  private static func of(_ bytes: UnsafeRawBufferPointer, seed: UInt64) -> UInt64 {
    var sum = mix(seed, with: UInt64(bytes.count))
    var position = 0
    while position + 8 <= bytes.count {
      // Safety: the condition of the loop keeps all eight bytes within the buffer.
      let word = bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self)
      sum = mix(sum, with: UInt64(littleEndian: word))
      position += 8
    }
    var last: UInt64 = 0
    while position < bytes.count {
      last = last << 8 | UInt64(bytes[position])
      position += 1
    }
    sum = mix(sum, with: last)
    return mix(sum, with: sum >> 32)
  }

  private static func mix(_ sum: UInt64, with word: UInt64) -> UInt64 {
    let product = (sum ^ word ^ 0x9E37_79B9_7F4A_7C15) &* 0xD6E8_FEB8_6659_FD93
    return product << 29 | product >> 35
  }
}
