/// Base64 with the alphabet of URLs and without padding, as tokens are written.
package enum Base64URL {
  private static let alphabet = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8
  )

  /// Writes bytes as text.
  ///
  /// - Complexity: O(bytes)
  package static func encode(_ bytes: some Sequence<UInt8>) -> String {
    var text: [UInt8] = []
    var word: UInt32 = 0
    var bits = 0
    for byte in bytes {
      word = word << 8 | UInt32(byte)
      bits += 8
      while bits >= 6 {
        bits -= 6
        text.append(alphabet[Int(word >> UInt32(bits) & 63)])
      }
    }
    if bits > 0 { text.append(alphabet[Int(word << UInt32(6 - bits) & 63)]) }
    return String(decoding: text, as: UTF8.self)
  }

  /// The bytes of a text, or nil when it is not what ``encode(_:)`` writes for any bytes.
  ///
  /// There is one text for some bytes and no other, so that nobody can change a token and keep it
  /// valid.
  ///
  /// - Complexity: O(length)
  package static func decode(_ text: some StringProtocol) -> [UInt8]? {
    var bytes: [UInt8] = []
    var word: UInt32 = 0
    var bits = 0
    for letter in text.utf8 {
      guard let value = value(of: letter) else { return nil }
      word = word << 6 | value
      bits += 6
      if bits >= 8 {
        bits -= 8
        bytes.append(UInt8(truncatingIfNeeded: word >> UInt32(bits)))
      }
    }
    guard bits < 6, word & (1 << UInt32(bits) - 1) == 0 else { return nil }
    return bytes
  }

  private static func value(of letter: UInt8) -> UInt32? {
    switch letter {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(letter - UInt8(ascii: "A"))
    case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(letter - UInt8(ascii: "a")) + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(letter - UInt8(ascii: "0")) + 52
    case UInt8(ascii: "-"): 62
    case UInt8(ascii: "_"): 63
    default: nil
    }
  }
}
