/// The address of an account, in the one form in which addresses are compared.
///
/// Only ASCII is taken, in small letters: with more, two addresses could look alike and be two
/// accounts, or look different and be one (a dotless i, a Kelvin sign, letters composed or not).
/// International domains come in their ASCII form (`xn--…`).
package struct EmailAddress: Hashable, Sendable, CustomStringConvertible {
  /// The address.
  package let text: String

  /// Longest address and longest part before the sign, in bytes.
  private static let maximum = (address: 254, local: 64, label: 63)

  /// Checks and lowers an address; nil when it is none.
  ///
  /// - Complexity: O(length)
  package init?(_ text: String) {
    guard text.utf8.count <= Self.maximum.address else { return nil }
    let parts = text.utf8.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false)
    guard parts.count == 2, Self.isLocal(parts[0]), Self.isDomain(parts[1]) else { return nil }
    self.text = String(decoding: text.utf8.map(Self.lowercased), as: UTF8.self)
  }

  package var description: String { text }

  private static func isLocal(_ part: Substring.UTF8View) -> Bool {
    part.count <= maximum.local
      && part.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).allSatisfy {
        !$0.isEmpty && $0.allSatisfy { isAlphanumeric($0) || marks.contains($0) }
      }
  }

  private static func isDomain(_ part: Substring.UTF8View) -> Bool {
    let hyphen = UInt8(ascii: "-")
    return part.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).allSatisfy {
      !$0.isEmpty && $0.count <= maximum.label && $0.first != hyphen && $0.last != hyphen
        && $0.allSatisfy { isAlphanumeric($0) || $0 == hyphen }
    }
  }

  /// What may stand before the sign beside letters, digits and dots.
  private static let marks = Set("!#$%&'*+-/=?^_`{|}~".utf8)

  private static func isAlphanumeric(_ byte: UInt8) -> Bool {
    switch lowercased(byte) {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
    default: false
    }
  }

  private static func lowercased(_ byte: UInt8) -> UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
  }
}
