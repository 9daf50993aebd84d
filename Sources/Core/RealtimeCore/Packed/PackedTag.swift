/// What kind of value follows in packed children.
enum PackedTag: UInt8 {
  /// False; nothing follows.
  case no
  /// True; nothing follows.
  case yes
  /// A whole number within 8 bits.
  case small
  /// Any other whole number, 8 bytes.
  case integer
  /// A number that is not whole, 8 bytes.
  case double
  /// The length in 2 bytes, and text.
  case string
  /// The length in 2 bytes, and packed children.
  case children
}
