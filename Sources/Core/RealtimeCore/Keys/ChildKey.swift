/// The name of a child, compared by code units rather than by Unicode equivalence.
///
/// Swift's `String` treats composed and decomposed characters as equal; the database does not. Keys
/// sort as they do in official clients: keys that read as 32-bit integers come first, by number,
/// and all others follow by UTF-16 code unit.
///
/// Keys of up to 21 bytes, which includes push IDs, are stored inline in a form that compares as a
/// few integers. A longer key is stored as a string, together with the same form of its first
/// bytes.
package struct ChildKey: Hashable, Comparable, Sendable {
  // Stored flat rather than as a `SortableText`, because these words decide nearly all comparisons.
  private let first: UInt64
  private let second: UInt64
  private let rest: Rest

  /// The remaining 8 bytes; the whole key takes 24 bytes.
  private enum Rest: Sendable {
    case short(SortableText.Tail)
    case long(LongKey)
  }

  /// A key that is too long to be stored inline.
  private final class LongKey: Sendable {
    let start: SortableText
    let text: String

    init(start: SortableText, text: String) {
      self.start = start
      self.text = text
    }
  }

  /// Makes a key from any text; ``Validation`` checks whether a database accepts it.
  package init(_ text: String) {
    var text = text
    self = text.withUTF8 { ChildKey(validUTF8: $0) }
  }

  /// Makes a key from bytes that are known to be UTF-8.
  init(validUTF8 bytes: UnsafeBufferPointer<UInt8>) {
    let start = SortableText(bytes)
    first = start.first
    second = start.second
    rest =
      start.isWhole
      ? .short(start.tail)
      : .long(LongKey(start: start, text: String(decoding: bytes, as: UTF8.self)))
  }

  package init(_ text: LeafText) {
    self.init(validUTF8: text.utf8)
  }

  /// The pseudo key under which a node's own priority is addressed.
  package static let priority = ChildKey(".priority")

  /// Whether this is that pseudo key.
  ///
  /// Each write checks this a dozen times; comparing with the constant took 70 instructions.
  @inline(__always)
  package var isPriority: Bool {
    first == 0x012E_7072_696F_7269 && second == 0x7479 << 48 && self == .priority
  }

  private var start: SortableText {
    switch rest {
    case .short(let tail): SortableText(first: first, second: second, tail: tail)
    case .long(let key): key.start
    }
  }

  /// The key as text.
  ///
  /// - Complexity: O(length)
  package var text: String {
    switch rest {
    case .short: start.withUTF8 { String(decoding: $0, as: UTF8.self) }
    case .long(let key): key.text
    }
  }

  /// Lends the UTF-8 of the key without creating a string.
  package func withUTF8<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
    switch rest {
    case .short: return start.withUTF8(body)
    case .long(let key):
      var text = key.text
      return text.withUTF8(body)
    }
  }

  /// The number of bytes of memory that ``write(to:)`` needs.
  package static let writtenBytes = 24

  /// Writes a key that is stored inline to memory; returns nil for a longer one.
  ///
  /// - Parameter memory: Memory of at least ``writtenBytes``.
  /// - Returns: The text, at some offset in that memory.
  package func write(to memory: UnsafeMutableRawPointer) -> LeafText? {
    guard case .short = rest else { return nil }
    return start.write(to: memory)
  }

  /// The length in bytes of UTF-8.
  package var byteCount: Int {
    switch rest {
    case .short: start.byteCount
    case .long(let key): key.text.utf8.count
    }
  }

  /// The value of this key as a 32-bit integer, or nil if it does not read as one.
  package var integer: Int64? { start.integer }

  @inline(__always)
  package static func == (left: ChildKey, right: ChildKey) -> Bool {
    left.first == right.first && left.second == right.second && left.endsLike(right)
  }

  @inline(__always)
  package static func < (left: ChildKey, right: ChildKey) -> Bool {
    if left.first != right.first { return left.first < right.first }
    if left.second != right.second { return left.second < right.second }
    return left.endsBefore(right)
  }

  @inline(__always)
  private func endsLike(_ other: ChildKey) -> Bool {
    // The two are matched one after the other, because matching a pair would first copy both.
    if case .short(let tail) = rest {
      if case .short(let otherTail) = other.rest { return tail == otherTail }
      return false
    }
    return longEndsLike(other)
  }

  // Not inlined, so that comparing short keys has no overhead for long ones.
  @inline(never)
  private func longEndsLike(_ other: ChildKey) -> Bool {
    guard case .long(let key) = rest, case .long(let otherKey) = other.rest else { return false }
    return key.start == otherKey.start && CodeUnits.areEqual(key.text, otherKey.text)
  }

  @inline(__always)
  private func endsBefore(_ other: ChildKey) -> Bool {
    if case .short(let tail) = rest, case .short(let otherTail) = other.rest {
      return tail < otherTail
    }
    return longEndsBefore(other)
  }

  @inline(never)
  private func longEndsBefore(_ other: ChildKey) -> Bool {
    let (start, otherStart) = (start, other.start)
    if start != otherStart { return start < otherStart }
    if integer != nil, byteCount != other.byteCount { return byteCount < other.byteCount }
    return CodeUnits.precedes(text, other.text)
  }

  /// Whether the key for one text comes before the key for another; both must be valid UTF-8.
  @inline(__always)
  package static func precedes(
    _ left: UnsafeBufferPointer<UInt8>,
    _ right: UnsafeBufferPointer<UInt8>
  ) -> Bool {
    // Fast path: most names begin with letters, which no integer does.
    if let first = left.first, let other = right.first,
      (0x3A..<0x80).contains(first), (0x3A..<0x80).contains(other)
    {
      return first == other ? CodeUnits.precedes(left, right) : first < other
    }
    return precedesAsKey(left, right)
  }

  @inline(never)
  private static func precedesAsKey(
    _ left: UnsafeBufferPointer<UInt8>,
    _ right: UnsafeBufferPointer<UInt8>
  ) -> Bool {
    if SortableText.integer(left) == nil, SortableText.integer(right) == nil {
      return CodeUnits.precedes(left, right)
    }
    return ChildKey(validUTF8: left) < ChildKey(validUTF8: right)
  }

  package func hash(into hasher: inout Hasher) {
    switch rest {
    case .short: hasher.combine(start)
    case .long(let key): CodeUnits.hash(key.text, into: &hasher)
    }
  }
}

extension ChildKey: CustomStringConvertible {
  package var description: String { text }
}

extension ChildKey: ExpressibleByStringLiteral {
  package init(stringLiteral value: String) {
    self.init(value)
  }
}

/// The text of a short key, or the start of a long one, as integers that sort in key order.
///
/// The first byte, at the top of `first`, distinguishes integers (0) from other text (1):
///
///     text      1 · 21 bytes · length
///     integer   0 · value, biased, 4 bytes · length · 2 bytes unused · 14 bytes of text · length
///
/// Missing bytes are zero and the length comes last, so that a prefix sorts before the longer text.
/// If the text does not fit, its start is stored with a length that no complete text has.
struct SortableText: Hashable, Comparable, Sendable {
  let first: UInt64
  let second: UInt64
  let tail: Tail

  /// The last seven bytes; their widths leave the eighth byte free for the tag of an enum.
  struct Tail: Hashable, Comparable, Sendable {
    fileprivate let third: UInt32
    fileprivate let fourth: UInt16
    fileprivate let last: UInt8

    fileprivate var word: UInt64 { UInt64(third) << 24 | UInt64(fourth) << 8 | UInt64(last) }

    static func == (left: Tail, right: Tail) -> Bool { left.word == right.word }
    static func < (left: Tail, right: Tail) -> Bool { left.word < right.word }

    func hash(into hasher: inout Hasher) {
      hasher.combine(word)
    }
  }

  /// Reassembles a text from its parts.
  init(first: UInt64, second: UInt64, tail: Tail) {
    self.first = first
    self.second = second
    self.tail = tail
  }

  private static let textBytes = 21
  private static let integerBytes = 14
  private static let tooLong: UInt8 = 0xFF

  /// Makes the sortable form of UTF-8 text.
  init(_ bytes: UnsafeBufferPointer<UInt8>) {
    if let value = Self.integer(bytes) {
      let length = UInt64(min(bytes.count, Int(Self.tooLong)))
      self.init(
        Self.start(of: bytes, limit: Self.integerBytes),
        isWhole: bytes.count <= Self.integerBytes,
        head: UInt64(value + 0x8000_0000) << 24 | length << 16,
        offset: 8
      )
    } else {
      self.init(
        Self.start(of: bytes, limit: Self.textBytes),
        isWhole: bytes.count <= Self.textBytes,
        head: 1 << 56,
        offset: 1
      )
    }
  }

  private static func start(
    of bytes: UnsafeBufferPointer<UInt8>,
    limit: Int
  ) -> UnsafeBufferPointer<UInt8> {
    bytes.count <= limit ? bytes : UnsafeBufferPointer(rebasing: bytes[..<limit])
  }

  private init(
    _ bytes: UnsafeBufferPointer<UInt8>,
    isWhole: Bool,
    head: UInt64,
    offset: Int
  ) {
    var words = (head.bigEndian, UInt64(0), UInt64(0))
    // Safety: 24 bytes have room for 21 from the second byte onward, and for 14 from the ninth.
    withUnsafeMutableBytes(of: &words) { target in
      UnsafeMutableRawBufferPointer(rebasing: target[offset..<(offset + bytes.count)])
        .copyMemory(from: UnsafeRawBufferPointer(bytes))
    }
    if (words.0 | words.1 | words.2) & 0x8080_8080_8080_8080 != 0 {
      withUnsafeMutableBytes(of: &words) { target in
        for index in offset..<(offset + bytes.count) {
          target[index] = CodeUnits.sortWeight(of: target[index])
        }
      }
    }
    let tail = UInt64(bigEndian: words.2)
    first = UInt64(bigEndian: words.0)
    second = UInt64(bigEndian: words.1)
    self.tail = Tail(
      third: UInt32(truncatingIfNeeded: tail >> 32),
      fourth: UInt16(truncatingIfNeeded: tail >> 16),
      last: isWhole ? UInt8(bytes.count) : Self.tooLong
    )
  }

  /// Whether the whole text fits.
  var isWhole: Bool { tail.last != Self.tooLong }

  /// The length of a complete text in bytes.
  var byteCount: Int { Int(tail.last) }

  private var isInteger: Bool { first >> 56 == 0 }

  /// The value as a 32-bit integer, or nil if the text does not read as one.
  var integer: Int64? {
    isInteger ? Int64(first >> 24) - 0x8000_0000 : nil
  }

  /// Lends the UTF-8 of a complete text.
  func withUTF8<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
    let tail = (self.tail.word >> 8) << 16
    var words = (first.bigEndian, second.bigEndian, tail.bigEndian)
    let offset = isInteger ? 8 : 1
    return withUnsafeMutableBytes(of: &words) { buffer in
      let bytes = buffer[offset..<(offset + byteCount)]
      if (first | second | tail) & 0x8080_8080_8080_8080 != 0 {
        for index in bytes.indices { buffer[index] = Self.restored(buffer[index]) }
      }
      // Safety: the bytes belong to a local variable, and any memory may be read as bytes.
      return UnsafeRawBufferPointer(rebasing: bytes).withMemoryRebound(to: UInt8.self, body)
    }
  }

  /// Writes a complete text to memory with room for three words.
  func write(to memory: UnsafeMutableRawPointer) -> LeafText {
    let tail = (self.tail.word >> 8) << 16
    memory.storeBytes(of: first.bigEndian, as: UInt64.self)
    memory.storeBytes(of: second.bigEndian, toByteOffset: 8, as: UInt64.self)
    memory.storeBytes(of: tail.bigEndian, toByteOffset: 16, as: UInt64.self)
    let text = UnsafeMutableRawBufferPointer(
      start: memory + (isInteger ? 8 : 1),
      count: byteCount
    )
    if (first | second | tail) & 0x8080_8080_8080_8080 != 0 {
      for index in text.indices { text[index] = Self.restored(text[index]) }
    }
    return LeafText(UnsafeRawBufferPointer(text))
  }

  // MARK: Order

  static func < (left: SortableText, right: SortableText) -> Bool {
    if left.first != right.first { return left.first < right.first }
    if left.second != right.second { return left.second < right.second }
    return left.tail < right.tail
  }

  /// The byte of UTF-8 with a ``CodeUnits/sortWeight(of:)``.
  private static func restored(_ byte: UInt8) -> UInt8 {
    byte >= 0xFE ? byte - 0x10 : byte
  }

  // MARK: Integers

  /// Reads `-?0*[0-9]{1,10}` within 32 bits, as official clients do.
  static func integer(_ bytes: UnsafeBufferPointer<UInt8>) -> Int64? {
    // For nearly every key, the first byte or two already rule out a number.
    guard let first = bytes.first else { return nil }
    let isNegative = first == UInt8(ascii: "-")
    var value: Int64 = 0
    var index = isNegative ? 1 : 0
    guard index < bytes.count else { return nil }
    while index < bytes.count {
      let digit = bytes[index] &- UInt8(ascii: "0")
      guard digit <= 9 else { return nil }
      value = value * 10 + Int64(digit)
      if value > 2_147_483_648 { return nil }
      index += 1
    }
    if isNegative { value = -value }
    return value <= 2_147_483_647 ? value : nil
  }
}
