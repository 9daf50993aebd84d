/// The name of a child: ordered integers first, then by UTF-16 code units, compared without Unicode equivalence.
///
/// Swift's `String` treats composed and decomposed characters as equal; a database does not. Two
/// keys are equal when their code units are, and order is the one that official clients use: keys
/// that read as 32-bit integers come first, by number, then all others by UTF-16 code unit.
package struct ChildKey: Hashable, Comparable, Sendable, CustomStringConvertible {
  /// The key as text.
  package let text: String
  /// What tells most keys apart at a glance: of two keys, the one with the lower rank comes first.
  private let rank: UInt64

  /// Makes a key of any text; whether the text is legal in a database is checked elsewhere.
  package init(_ text: String) {
    self.text = text
    rank = Self.rank(of: text)
  }

  /// The pseudo key under which a node's own priority is addressed.
  package static let priority = ChildKey(".priority")

  /// The value of this key as a 32-bit integer, or nil when it does not read as one.
  package var integer: Int64? {
    rank < Self.textRank ? Int64(rank) - Self.integerOffset : nil
  }

  package var description: String { text }

  package static func == (left: ChildKey, right: ChildKey) -> Bool {
    left.rank == right.rank && CodeUnits.areEqual(left.text, right.text)
  }

  package static func < (left: ChildKey, right: ChildKey) -> Bool {
    if left.rank != right.rank { return left.rank < right.rank }
    if left.rank < textRank {
      let leftLength = left.text.utf8.count
      let rightLength = right.text.utf8.count
      if leftLength != rightLength { return leftLength < rightLength }
    }
    return CodeUnits.precedes(left.text, right.text)
  }

  package func hash(into hasher: inout Hasher) {
    CodeUnits.hash(text, into: &hasher)
  }

  /// The lowest rank of keys that are no integers.
  private static let textRank: UInt64 = 1 << 63
  /// What makes the rank of the lowest integer zero.
  private static let integerOffset: Int64 = 2_147_483_648

  private static func rank(of text: String) -> UInt64 {
    if let integer = integer(text) { return UInt64(integer + integerOffset) }
    return CodeUnits.start(of: text) >> 8 | textRank
  }

  /// Reads `-?0*[0-9]{1,10}` within 32 bits, as official clients do.
  private static func integer(_ text: String) -> Int64? {
    // Nearly every key begins like no number, and is told by its first byte.
    guard let first = text.utf8.first, first == UInt8(ascii: "-") || first &- 0x30 <= 9 else {
      return nil
    }
    var value: Int64 = 0
    var digits = 0
    var isNegative = false
    for (position, byte) in text.utf8.enumerated() {
      if position == 0, byte == UInt8(ascii: "-") {
        isNegative = true
        continue
      }
      guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return nil }
      digits += 1
      value = value * 10 + Int64(byte - UInt8(ascii: "0"))
      if value > 2_147_483_648 { return nil }
    }
    if isNegative { value = -value }
    return digits > 0 && value <= 2_147_483_647 ? value : nil
  }
}

extension ChildKey: ExpressibleByStringLiteral {
  package init(stringLiteral value: String) {
    self.init(value)
  }
}
