/// Base64 with the standard alphabet and padding.
package enum Base64 {
  /// Encodes bytes as text.
  ///
  /// - Complexity: O(bytes)
  package static func encode(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count + 2) / 3 * 4)
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let group = bytes[start..<min(start + 3, bytes.count)]
      var word: UInt32 = 0
      for byte in group { word = word << 8 | UInt32(byte) }
      word <<= UInt32(8 * (3 - group.count))
      for position in 0..<4 {
        let isPadding = position > group.count
        let sextet = Int(word >> UInt32(18 - 6 * position)) & 63
        text.append(isPadding ? UInt8(ascii: "=") : alphabet[sextet])
      }
    }
    return String(decoding: text, as: UTF8.self)
  }

  private static let alphabet = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8
  )
}
