internal import NIOWebSocket

extension [UInt8] {
  /// Masks a payload, or takes the mask off.
  ///
  /// - Complexity: O(bytes), of which eight are done at a time
  mutating func applyMask(_ key: WebSocketMaskingKey) {
    // In memory the key comes twice, its first byte first.
    let word = (0..<8).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64(key[$1 & 3]) }.littleEndian
    withUnsafeMutableBytes { bytes in
      var index = 0
      // Safety: the condition of the loop keeps all eight bytes within the buffer.
      while index + 8 <= bytes.count {
        let masked = bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self) ^ word
        bytes.storeBytes(of: masked, toByteOffset: index, as: UInt64.self)
        index += 8
      }
      while index < bytes.count {
        bytes[index] ^= key[index & 3]
        index += 1
      }
    }
  }
}
