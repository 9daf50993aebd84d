/// Comparison of strings by code units, as the wire protocol defines it.
package enum CodeUnits {
  /// Whether two strings have the same code units.
  package static func areEqual(_ left: String, _ right: String) -> Bool {
    guard left.utf8.count == right.utf8.count else { return false }
    let fast: Bool?? = left.utf8.withContiguousStorageIfAvailable { leftBytes in
      right.utf8.withContiguousStorageIfAvailable { areEqual(leftBytes, $0) }
    }
    return fast.flatMap(\.self) ?? left.utf8.elementsEqual(right.utf8)
  }

  /// Whether two texts in UTF-8 have the same code units.
  static func areEqual(
    _ left: UnsafeBufferPointer<UInt8>,
    _ right: UnsafeBufferPointer<UInt8>
  ) -> Bool {
    left.count == right.count && commonPrefix(left, right) == left.count
  }

  /// How many bytes at the start are the same, looked at eight at a time.
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
  /// UTF-8 order differs from UTF-16 order in one way only: code points beyond the basic plane (lead
  /// bytes from F0) come before U+E000–U+FFFF (lead bytes EE and EF). So bytes are compared with
  /// those two leads moved to the end.
  package static func precedes(_ left: String, _ right: String) -> Bool {
    let fast: Bool?? = left.utf8.withContiguousStorageIfAvailable { leftBytes in
      right.utf8.withContiguousStorageIfAvailable { precedes(leftBytes, $0) }
    }
    if let result = fast.flatMap(\.self) { return result }
    return Array(left.utf8).withUnsafeBufferPointer { leftBytes in
      Array(right.utf8).withUnsafeBufferPointer { precedes(leftBytes, $0) }
    }
  }

  /// Whether one text in UTF-8 comes before the other in UTF-16 order.
  static func precedes(
    _ left: UnsafeBufferPointer<UInt8>,
    _ right: UnsafeBufferPointer<UInt8>
  ) -> Bool {
    let index = commonPrefix(left, right)
    guard index < min(left.count, right.count) else { return left.count < right.count }
    return position(of: left[index]) < position(of: right[index])
  }

  /// Feeds the code units of a string to a hasher.
  package static func hash(_ text: String, into hasher: inout Hasher) {
    var text = text
    text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }

  static func position(of byte: UInt8) -> UInt8 {
    byte == 0xEE || byte == 0xEF ? byte + 0x10 : byte
  }
}
