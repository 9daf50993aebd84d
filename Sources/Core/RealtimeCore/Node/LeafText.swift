/// Text that is read where it lies: in a tree, in a key or wherever else somebody keeps it.
///
/// Who only compares it, or asks for its length, needs no string of its own, and counts no references.
///
// Safety: a text is used only as long as whoever lends it says, which is while a closure runs as a
// rule; until then the bytes belong to something that is held and not changed.
package struct LeafText {
  /// The text in UTF-8.
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

  /// The length in code units of UTF-16.
  ///
  /// - Complexity: O(length)
  package var utf16Count: Int {
    // Of a character, the first byte counts one; that of four bytes becomes a pair.
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

  /// The text as a string of its own.
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
  /// Orders by code units of UTF-16.
  ///
  /// - Complexity: O(length)
  package static func < (left: LeafText, right: LeafText) -> Bool {
    CodeUnits.precedes(left.utf8, right.utf8)
  }
}
