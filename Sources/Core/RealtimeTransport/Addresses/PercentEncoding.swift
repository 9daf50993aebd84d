/// The escapes of URLs.
enum PercentEncoding {
  /// Reads escapes; nil when one is malformed or the result is no UTF-8.
  static func decode(_ text: some StringProtocol, plusIsSpace: Bool = false) -> String? {
    var bytes: [UInt8] = []
    var rest = text.utf8[...]
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "%"):
        guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit)
        else { return nil }
        bytes.append(high << 4 | low)
      case UInt8(ascii: "+") where plusIsSpace: bytes.append(UInt8(ascii: " "))
      default: bytes.append(byte)
      }
    }
    return String(validating: bytes, as: UTF8.self)
  }

  /// Escapes everything but letters, digits and the marks that the original keeps in a URL.
  static func encode(_ text: String) -> String {
    var bytes: [UInt8] = []
    for byte in text.utf8 {
      if isKept(byte) {
        bytes.append(byte)
      } else {
        bytes.append(UInt8(ascii: "%"))
        bytes.append(digits[Int(byte >> 4)])
        bytes.append(digits[Int(byte & 15)])
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Escapes the bytes of a socket's path that would end it in a URL.
  static func encodeSocket(_ path: String) -> String {
    guard path.utf8.contains(where: { "?#%".utf8.contains($0) }) else { return path }
    // By scalars: a mark that follows one of these would hide it in a character.
    return path.unicodeScalars
      .map { "?#%".unicodeScalars.contains($0) ? encode(String($0)) : String($0) }.joined()
  }

  private static let digits = Array("0123456789ABCDEF".utf8)
  private static let marks = Set("-_~".utf8)

  private static func isKept(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: marks.contains(byte)
    }
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}
