/// Comparison of strings by code units, as the wire protocol defines it.
package enum CodeUnits {
  /// Whether two strings have the same code units.
  package static func areEqual(_ left: String, _ right: String) -> Bool {
    let leftBytes = left.utf8
    let rightBytes = right.utf8
    return leftBytes.count == rightBytes.count && leftBytes.elementsEqual(rightBytes)
  }

  /// Whether one string comes before the other in UTF-16 order.
  ///
  /// UTF-8 order differs from UTF-16 order in one way only: code points beyond the basic plane (lead
  /// bytes from F0) come before U+E000–U+FFFF (lead bytes EE and EF). So bytes are compared with
  /// those two leads moved to the end.
  package static func precedes(_ left: String, _ right: String) -> Bool {
    var leftBytes = left.utf8.makeIterator()
    var rightBytes = right.utf8.makeIterator()
    while true {
      guard let rightByte = rightBytes.next() else { return false }
      guard let leftByte = leftBytes.next() else { return true }
      if leftByte != rightByte { return position(of: leftByte) < position(of: rightByte) }
    }
  }

  /// Feeds the code units of a string to a hasher.
  package static func hash(_ text: String, into hasher: inout Hasher) {
    var text = text
    text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }

  private static func position(of byte: UInt8) -> UInt8 {
    byte == 0xEE || byte == 0xEF ? byte + 0x10 : byte
  }
}
