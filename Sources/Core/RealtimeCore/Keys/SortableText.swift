/// The text of a short key, or the start of a long one, as integers that are in the order of keys.
///
/// The first byte, and with it the top of `first`, tells integers (0) from other text (1):
///
///     text      1 · 21 bytes · length
///     integer   0 · value, biased, 4 bytes · length · 2 bytes unused · 14 bytes of text · length
///
/// Missing bytes are zero, and the length comes last, so that of two texts where one begins with the
/// other the shorter one comes first. Of what does not fit, the start is kept, with a length that no
/// whole text has.
struct SortableText: Hashable, Comparable, Sendable {
  let first: UInt64
  let second: UInt64
  let tail: Tail

  /// The end: of different widths, so that an enumeration has its tag in the eighth byte.
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

  /// Puts the parts of a text together again.
  init(first: UInt64, second: UInt64, tail: Tail) {
    self.first = first
    self.second = second
    self.tail = tail
  }

  private static let textBytes = 21
  private static let integerBytes = 14
  private static let tooLong: UInt8 = 0xFF

  /// Makes a sortable form of UTF-8.
  init(_ bytes: UnsafeBufferPointer<UInt8>) {
    if let value = Self.integer(bytes) {
      let length = UInt64(min(bytes.count, Int(Self.tooLong)))
      self.init(
        Self.start(of: bytes, Self.integerBytes),
        isWhole: bytes.count <= Self.integerBytes,
        head: UInt64(value + 0x8000_0000) << 24 | length << 16,
        offset: 8
      )
    } else {
      self.init(
        Self.start(of: bytes, Self.textBytes),
        isWhole: bytes.count <= Self.textBytes,
        head: 1 << 56,
        offset: 1
      )
    }
  }

  private static func start(
    of bytes: UnsafeBufferPointer<UInt8>,
    _ most: Int
  ) -> UnsafeBufferPointer<UInt8> {
    bytes.count <= most ? bytes : UnsafeBufferPointer(rebasing: bytes[..<most])
  }

  private init(
    _ bytes: UnsafeBufferPointer<UInt8>,
    isWhole: Bool,
    head: UInt64,
    offset: Int
  ) {
    var words = (head.bigEndian, UInt64(0), UInt64(0))
    // Safety: 21 bytes at most from the second byte on, or 14 from the ninth, fit into 24.
    withUnsafeMutableBytes(of: &words) { target in
      UnsafeMutableRawBufferPointer(rebasing: target[offset..<(offset + bytes.count)])
        .copyMemory(from: UnsafeRawBufferPointer(bytes))
    }
    if (words.0 | words.1 | words.2) & 0x8080_8080_8080_8080 != 0 {
      withUnsafeMutableBytes(of: &words) { target in
        for index in offset..<(offset + bytes.count) { target[index] = Self.moved(target[index]) }
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

  /// Whether this is all of the text.
  var isWhole: Bool { tail.last != Self.tooLong }

  /// The length of a whole text in bytes.
  var byteCount: Int { Int(tail.last) }

  private var isInteger: Bool { first >> 56 == 0 }

  /// The value as a 32-bit integer, or nil when the text does not read as one.
  var integer: Int64? {
    isInteger ? Int64(first >> 24) - 0x8000_0000 : nil
  }

  /// Hands out the UTF-8 of a whole text.
  func withUTF8<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
    let tail = (self.tail.word >> 8) << 16
    var words = (first.bigEndian, second.bigEndian, tail.bigEndian)
    let offset = isInteger ? 8 : 1
    return withUnsafeMutableBytes(of: &words) { buffer in
      let bytes = buffer[offset..<(offset + byteCount)]
      if (first | second | tail) & 0x8080_8080_8080_8080 != 0 {
        for index in bytes.indices { buffer[index] = Self.movedBack(buffer[index]) }
      }
      // Safety: the bytes belong to a variable of this function, and bytes are any type's memory.
      return UnsafeRawBufferPointer(rebasing: bytes).withMemoryRebound(to: UInt8.self, body)
    }
  }

  // MARK: Order

  static func < (left: SortableText, right: SortableText) -> Bool {
    if left.first != right.first { return left.first < right.first }
    if left.second != right.second { return left.second < right.second }
    return left.tail < right.tail
  }

  /// A byte of UTF-8 moved so that bytes compare as UTF-16 does.
  ///
  /// See ``CodeUnits/precedes(_:_:)``.
  private static func moved(_ byte: UInt8) -> UInt8 {
    byte == 0xEE || byte == 0xEF ? byte + 0x10 : byte
  }

  private static func movedBack(_ byte: UInt8) -> UInt8 {
    byte >= 0xFE ? byte - 0x10 : byte
  }

  // MARK: Integers

  /// Reads `-?0*[0-9]{1,10}` within 32 bits, as official clients do.
  static func integer(_ bytes: UnsafeBufferPointer<UInt8>) -> Int64? {
    // Nearly every key begins like no number, and is told by its first byte or two.
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
