/// Compares strings by code units, as the wire protocol requires.
package enum CodeUnits {
  package static func areEqual(_ left: String, _ right: String) -> Bool {
    guard left.utf8.count == right.utf8.count else { return false }
    let fast: Bool?? = left.utf8.withContiguousStorageIfAvailable { leftBytes in
      right.utf8.withContiguousStorageIfAvailable { areEqual(leftBytes, $0) }
    }
    return fast.flatMap(\.self) ?? left.utf8.elementsEqual(right.utf8)
  }

  static func areEqual(
    _ left: UnsafeBufferPointer<UInt8>,
    _ right: UnsafeBufferPointer<UInt8>
  ) -> Bool {
    left.count == right.count && commonPrefix(left, right) == left.count
  }

  /// Whether `count` bytes are equal at two addresses; fast for texts that are short, as most are.
  ///
  // Safety: the caller owns `count` bytes at both addresses, and no load goes beyond them.
  @inline(__always)
  static func areSame(_ left: UnsafeRawPointer, _ right: UnsafeRawPointer, count: Int) -> Bool {
    if count < 4 {
      var index = 0
      while index < count,
        left.load(fromByteOffset: index, as: UInt8.self)
          == right.load(fromByteOffset: index, as: UInt8.self)
      {
        index += 1
      }
      return index == count
    }
    // The last word overlaps the one before it.
    if count < 8 {
      return areSame(left, right, at: 0, as: UInt32.self)
        && areSame(left, right, at: count - 4, as: UInt32.self)
    }
    var index = 0
    while index + 8 < count {
      if !areSame(left, right, at: index, as: UInt64.self) { return false }
      index += 8
    }
    return areSame(left, right, at: count - 8, as: UInt64.self)
  }

  @inline(__always)
  private static func areSame<Word: FixedWidthInteger & BitwiseCopyable>(
    _ left: UnsafeRawPointer,
    _ right: UnsafeRawPointer,
    at offset: Int,
    as word: Word.Type
  ) -> Bool {
    left.loadUnaligned(fromByteOffset: offset, as: word)
      == right.loadUnaligned(fromByteOffset: offset, as: word)
  }

  /// The index of a byte, from an index onward; the number of bytes if there is none.
  ///
  /// Eight bytes at a time: see "Determine if a word has a zero byte" in Anderson's "Bit Twiddling
  /// Hacks".
  @inline(__always)
  static func index(
    of byte: UInt8,
    in bytes: UnsafeBufferPointer<UInt8>,
    from start: Int
  ) -> Int {
    let ones: UInt64 = 0x0101_0101_0101_0101
    var index = start
    // Safety: the condition of the loop keeps all eight bytes within the buffer.
    while index + 8 <= bytes.count {
      let word = UnsafeRawBufferPointer(bytes).loadUnaligned(
        fromByteOffset: index,
        as: UInt64.self
      )
      let rest = UInt64(littleEndian: word) ^ (ones &* UInt64(byte))
      let found = (rest &- ones) & ~rest & (ones << 7)
      if found != 0 { return index + found.trailingZeroBitCount / 8 }
      index += 8
    }
    while index < bytes.count, bytes[index] != byte { index += 1 }
    return index
  }

  /// The length of the common prefix in bytes, compared eight at a time.
  private static func commonPrefix(
    _ left: UnsafeBufferPointer<UInt8>,
    _ right: UnsafeBufferPointer<UInt8>
  ) -> Int {
    let shorter = min(left.count, right.count)
    let leftBytes = UnsafeRawBufferPointer(left)
    let rightBytes = UnsafeRawBufferPointer(right)
    var index = 0
    // Safety: the condition of the loop keeps all eight bytes within both buffers.
    while index + 8 <= shorter {
      let leftWord = leftBytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
      let rightWord = rightBytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
      let difference = UInt64(littleEndian: leftWord ^ rightWord)
      if difference != 0 { return index + difference.trailingZeroBitCount / 8 }
      index += 8
    }
    while index < shorter, left[index] == right[index] { index += 1 }
    return index
  }

  /// Whether one string comes before the other in UTF-16 order.
  ///
  /// UTF-8 order differs from UTF-16 order in only one way: in UTF-16, code points beyond the basic
  /// plane (lead bytes from F0) come before U+E000–U+FFFF (lead bytes EE and EF). Comparing bytes
  /// with those two lead bytes moved to the end therefore gives UTF-16 order.
  package static func precedes(_ left: String, _ right: String) -> Bool {
    let fast: Bool?? = left.utf8.withContiguousStorageIfAvailable { leftBytes in
      right.utf8.withContiguousStorageIfAvailable { precedes(leftBytes, $0) }
    }
    if let result = fast.flatMap(\.self) { return result }
    return Array(left.utf8).withUnsafeBufferPointer { leftBytes in
      Array(right.utf8).withUnsafeBufferPointer { precedes(leftBytes, $0) }
    }
  }

  /// Whether one UTF-8 text comes before the other in UTF-16 order.
  static func precedes(
    _ left: UnsafeBufferPointer<UInt8>,
    _ right: UnsafeBufferPointer<UInt8>
  ) -> Bool {
    let index = commonPrefix(left, right)
    guard index < min(left.count, right.count) else { return left.count < right.count }
    return sortWeight(of: left[index]) < sortWeight(of: right[index])
  }

  package static func hash(_ text: String, into hasher: inout Hasher) {
    var text = text
    text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }

  /// A byte of UTF-8 remapped so that bytes compare in UTF-16 order.
  static func sortWeight(of byte: UInt8) -> UInt8 {
    byte == 0xEE || byte == 0xEF ? byte + 0x10 : byte
  }
}

extension UInt8 {
  /// Whether the byte is an ASCII letter or digit.
  package var isAlphanumeric: Bool {
    switch self {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: false
    }
  }

  /// The value of an ASCII hexadecimal digit; nil for any other byte.
  package var hexDigit: UInt8? {
    switch self {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}

/// Borrowed text: bytes that belong to a tree, a key or another owner.
///
/// Comparing or measuring it creates no string and counts no references.
///
// Safety: it is valid only for as long as the lender states, usually while a closure runs. Until
// then the owner of the bytes is retained and not changed.
package struct LeafText {
  package let utf8: UnsafeBufferPointer<UInt8>

  /// Lends text that is known to be UTF-8.
  package init(_ utf8: UnsafeBufferPointer<UInt8>) {
    self.utf8 = utf8
  }

  init(_ utf8: UnsafeRawBufferPointer) {
    self.utf8 = utf8.assumingMemoryBound(to: UInt8.self)
  }

  /// The length in bytes of UTF-8.
  package var byteCount: Int { utf8.count }

  /// Whether these are as many bytes as there are at an address, and the same.
  ///
  // Safety: the caller owns that many bytes at the address.
  @inline(__always)
  func has(_ count: Int, bytesAt address: UnsafeRawPointer) -> Bool {
    guard utf8.count == count, let base = utf8.baseAddress else { return false }
    return CodeUnits.areSame(UnsafeRawPointer(base), address, count: count)
  }

  /// The length in UTF-16 code units.
  ///
  /// - Complexity: O(length)
  package var utf16Count: Int {
    // Each lead byte counts as one. That of a four-byte character counts as two, a surrogate pair.
    let ones: UInt64 = 0x0101_0101_0101_0101
    let bytes = UnsafeRawBufferPointer(utf8)
    var count = bytes.count
    var index = 0
    // Safety: the condition of the loop keeps all eight bytes within the buffer.
    while index + 8 <= bytes.count {
      let word = bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
      index += 8
      if word & (ones << 7) == 0 { continue }
      let following = word >> 7 & ~(word >> 6) & ones
      let pairs = word >> 7 & word >> 6 & word >> 5 & word >> 4 & ones
      count += pairs.nonzeroBitCount - following.nonzeroBitCount
    }
    while index < bytes.count {
      let byte = bytes[index]
      index += 1
      if byte & 0xC0 == 0x80 { count -= 1 } else if byte >= 0xF0 { count += 1 }
    }
    return count
  }

  /// An owned copy of the text.
  ///
  /// - Complexity: O(length)
  package var string: String { String(decoding: utf8, as: UTF8.self) }
}

extension LeafText: Equatable {
  /// Compares code units.
  ///
  /// - Complexity: O(length)
  package static func == (left: LeafText, right: LeafText) -> Bool {
    CodeUnits.areEqual(left.utf8, right.utf8)
  }
}

extension LeafText: Comparable {
  /// Orders by UTF-16 code units.
  ///
  /// - Complexity: O(length)
  package static func < (left: LeafText, right: LeafText) -> Bool {
    CodeUnits.precedes(left.utf8, right.utf8)
  }
}
