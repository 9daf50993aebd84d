internal import RealtimeCore

/// A JSON Web Token, read without a look at its signature.
struct UnverifiedToken {
  /// The algorithm of the signature, "none" for a token without one.
  let algorithm: String
  /// What the token says.
  let claims: JSONValue

  /// Reads a token; nil when it is none.
  ///
  /// - Complexity: O(length)
  init?(_ text: String) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, let header = Self.json(parts[0]), let claims = Self.json(parts[1]),
      let algorithm = header["alg"]?.string, claims.members != nil
    else { return nil }
    self.algorithm = algorithm
    self.claims = claims
  }

  private static func json(_ part: Substring) -> JSONValue? {
    decode(part).flatMap { try? JSONParser.parse($0) }
  }

  /// The bytes of base64 text with the alphabet of URLs, with or without padding.
  private static func decode(_ text: Substring) -> [UInt8]? {
    var bytes: [UInt8] = []
    var word: UInt32 = 0
    var bits = 0
    for letter in text.utf8.reversed().drop(while: { $0 == UInt8(ascii: "=") }).reversed() {
      guard let value = value(of: letter) else { return nil }
      word = word << 6 | value
      bits += 6
      if bits >= 8 {
        bits -= 8
        bytes.append(UInt8(truncatingIfNeeded: word >> UInt32(bits)))
      }
    }
    return bits < 6 ? bytes : nil
  }

  private static func value(of letter: UInt8) -> UInt32? {
    switch letter {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(letter - UInt8(ascii: "A"))
    case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(letter - UInt8(ascii: "a")) + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(letter - UInt8(ascii: "0")) + 52
    case UInt8(ascii: "-"), UInt8(ascii: "+"): 62
    case UInt8(ascii: "_"), UInt8(ascii: "/"): 63
    default: nil
    }
  }
}
