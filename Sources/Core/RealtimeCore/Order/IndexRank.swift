/// A number that is in the order of index values: of two values, the lesser never has the greater one.
///
/// The two bits at the top tell the kind; what is missing, deferred, false or true comes first, then
/// numbers, text and objects. Of a number, all but the last two bits of the double follow; of text,
/// its first bytes.
struct IndexRank: Hashable, Comparable, Sendable {
  private let bits: UInt64

  private static let number: UInt64 = 1 << 62
  private static let text: UInt64 = 2 << 62
  private static let object: UInt64 = 3 << 62
  /// What all negative doubles have, and no others.
  private static let sign: UInt64 = 1 << 63

  init(_ value: IndexValue) {
    switch value {
    case .missing: bits = 0
    case .leaf(.deferred): bits = 1
    case .leaf(.bool(let value)): bits = value ? 3 : 2
    case .leaf(.integer(let value)): bits = Self.bits(of: Double(value))
    case .leaf(.double(let value)): bits = Self.bits(of: value)
    case .leaf(.string(let text)): bits = Self.bits(of: text)
    case .object: bits = Self.object
    }
  }

  private static func bits(of value: Double) -> UInt64 {
    // The bits of doubles are in their order once those of negative ones are turned round.
    let pattern = value == 0 ? 0 : value.bitPattern
    let ordered = pattern & sign == 0 ? pattern | sign : ~pattern
    return number | (ordered >> 2)
  }

  private static func bits(of string: String) -> UInt64 {
    var string = string
    let start = string.withUTF8 { bytes in
      (0..<8).reduce(UInt64(0)) { start, index in
        let byte = index < bytes.count ? CodeUnits.position(of: bytes[index]) : 0
        return (start << 8) | UInt64(byte)
      }
    }
    return text | (start >> 2)
  }

  /// The value with this rank, where it may be told from the rank; others may have the same one.
  var value: IndexValue? {
    switch bits & Self.object {
    case Self.object: return .object
    case Self.text: return nil
    case Self.number:
      let ordered = bits << 2
      let isNegative = ordered & Self.sign == 0
      // Of a negative number, the bits that are missing were turned round as well.
      let pattern = isNegative ? ~ordered & ~3 : ordered & ~Self.sign
      return .leaf(LeafValue(number: Double(bitPattern: pattern)))
    default:
      switch bits {
      case 0: return .missing
      case 1: return nil
      default: return .leaf(.bool(bits == 3))
      }
    }
  }

  static func < (left: IndexRank, right: IndexRank) -> Bool { left.bits < right.bits }
}
