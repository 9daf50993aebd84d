/// One packed child within the bytes of all of them.
///
// Safety: only this module creates packed children, so all lengths in `source` are correct. An
// entry does not escape the closure that lends it the bytes.
struct PackedEntry {
  let source: UnsafeRawBufferPointer
  /// The offset of the entry, where the length of its key is stored.
  let start: Int
  /// The offset of the value, where its tag is stored.
  let valueStart: Int
  /// The offset of the next entry.
  let end: Int

  @inline(__always)
  init(_ source: UnsafeRawBufferPointer, at start: Int) {
    let valueStart = start + 1 + Int(source[start])
    self.init(
      source,
      start: start,
      valueStart: valueStart,
      end: PackedValue(source, at: valueStart).end
    )
  }

  @inline(__always)
  private init(_ source: UnsafeRawBufferPointer, start: Int, valueStart: Int, end: Int) {
    self.source = source
    self.start = start
    self.valueStart = valueStart
    self.end = end
  }

  var key: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: source[(start + 1)..<valueStart])
  }

  var childKey: ChildKey { key.withMemoryRebound(to: UInt8.self) { ChildKey(validUTF8: $0) } }

  var value: PackedValue { PackedValue(source, at: valueStart) }

  var node: Node { value.node }

  static func find(_ key: ChildKey, in source: UnsafeRawBufferPointer) -> PackedEntry? {
    key.withUTF8 { find(UnsafeRawBufferPointer($0), in: source) }
  }

  static func find(
    _ text: UnsafeRawBufferPointer,
    in source: UnsafeRawBufferPointer
  ) -> PackedEntry? {
    guard let base = source.baseAddress, let key = text.baseAddress else { return nil }
    let count = text.count
    let end = base + source.count
    var entry = base + 1
    while entry < end {
      let length = Int(entry.load(as: UInt8.self))
      let value = entry + 1 + length
      let next = value + PackedValue.length(at: value)
      if length == count, CodeUnits.areSame(entry + 1, key, count: count) {
        return PackedEntry(
          source,
          start: entry - base,
          valueStart: value - base,
          end: next - base
        )
      }
      entry = next
    }
    return nil
  }

  /// Finds the entry with the given key, trying an offset first.
  ///
  /// - Parameters:
  ///   - text: The key.
  ///   - source: Packed children.
  ///   - guess: The offset to try. If the key is found, it becomes the offset of the next entry,
  ///     which holds the next key if keys are looked up in ascending order.
  /// - Returns: The entry, or nil.
  static func find(
    _ text: UnsafeRawBufferPointer,
    in source: UnsafeRawBufferPointer,
    guess: inout Int
  ) -> PackedEntry? {
    let isThere = guess < source.count && hasKey(text, in: source, at: guess)
    let entry = isThere ? PackedEntry(source, at: guess) : find(text, in: source)
    if let entry { guess = entry.end }
    return entry
  }

  @inline(__always)
  private static func hasKey(
    _ text: UnsafeRawBufferPointer,
    in source: UnsafeRawBufferPointer,
    at start: Int
  ) -> Bool {
    let count = text.count
    guard Int(source[start]) == count else { return false }
    var index = 0
    while index < count, source[start + 1 + index] == text[index] { index += 1 }
    return index == count
  }

  static func insertionOffset(of key: ChildKey, in source: UnsafeRawBufferPointer) -> Int {
    var cursor = PackedCursor(source)
    while let entry = cursor.next() {
      if key < entry.childKey { return entry.start }
    }
    return source.count
  }
}

/// Iterates over packed children.
///
// Safety: as for `PackedEntry`.
struct PackedCursor {
  private let source: UnsafeRawBufferPointer
  private var position: Int
  private let end: Int

  init(_ source: UnsafeRawBufferPointer) {
    self.source = source
    position = 1
    end = source.count
  }

  mutating func next() -> PackedEntry? {
    guard position < end else { return nil }
    let entry = PackedEntry(source, at: position)
    position = entry.end
    return entry
  }
}

/// A value within packed children.
///
// Safety: as for `PackedEntry`.
struct PackedValue {
  let source: UnsafeRawBufferPointer
  let start: Int

  init(_ source: UnsafeRawBufferPointer, at start: Int) {
    self.source = source
    self.start = start
  }

  var tag: PackedTag { PackedTag(rawValue: source[start]) ?? .no }

  private var length: Int { Int(source[start + 1]) | Int(source[start + 2]) << 8 }

  /// The offset of the next entry.
  @inline(__always)
  var end: Int { source.baseAddress.map { start + Self.length(at: $0 + start) } ?? start }

  /// The length in bytes of the value at an address, including its tag.
  @inline(__always)
  static func length(at value: UnsafeRawPointer) -> Int {
    let tag = value.load(as: UInt8.self)
    if tag >= PackedTag.string.rawValue {
      return 3 + Int(UInt16(littleEndian: value.loadUnaligned(fromByteOffset: 1, as: UInt16.self)))
    }
    if tag >= PackedTag.integer.rawValue { return 9 }
    return tag == PackedTag.small.rawValue ? 2 : 1
  }

  /// The whole number, if the tag is `small` or `integer`.
  var integer: Int64 {
    tag == .small ? Int64(Int8(bitPattern: source[start + 1])) : Int64(bitPattern: word)
  }

  /// The number, if the tag is `double`.
  var double: Double { Double(bitPattern: word) }

  private var word: UInt64 {
    UInt64(littleEndian: source.loadUnaligned(fromByteOffset: start + 1, as: UInt64.self))
  }

  /// The bytes of the text or of the packed children, if the tag is `string` or `children`.
  var content: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: source[contentRange]) }

  private var contentRange: Range<Int> { (start + 3)..<(start + 3 + length) }

  var node: Node {
    switch tag {
    case .no: .bool(false)
    case .yes: .bool(true)
    case .small, .integer: .integer(integer)
    case .double: .leaf(.double(double))
    case .string: .string(String(decoding: content, as: UTF8.self))
    case .children: .children(NodeChildren(PackedChildren(bytes: Array(content))))
    }
  }
}

enum PackedTag: UInt8 {
  /// False; nothing follows.
  case no
  /// True; nothing follows.
  case yes
  /// A whole number that fits into 8 bits; 1 byte follows.
  case small
  /// Any other whole number; 8 bytes follow.
  case integer
  /// A number that is not whole; 8 bytes follow.
  case double
  /// Text; its length in 2 bytes follows, then its UTF-8.
  case string
  /// Packed children; their length in 2 bytes follows, then their bytes.
  case children
}
