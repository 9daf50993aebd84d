extension [UInt8] {
  /// Masks a payload, or takes the mask off.
  ///
  /// - Parameter key: The key as it comes over the wire, its first byte the highest.
  /// - Complexity: O(bytes), of which eight are done at a time
  mutating func applyMask(_ key: UInt32) {
    // In memory the key comes twice, its first byte first.
    let word = (UInt64(key) << 32 | UInt64(key)).bigEndian
    withUnsafeMutableBytes { bytes in
      var index = 0
      // Safety: the condition of the loop keeps all eight bytes within the buffer.
      while index + 8 <= bytes.count {
        let masked = bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self) ^ word
        bytes.storeBytes(of: masked, toByteOffset: index, as: UInt64.self)
        index += 8
      }
      while index < bytes.count {
        bytes[index] ^= UInt8(truncatingIfNeeded: key >> (24 - 8 * UInt32(index & 3)))
        index += 1
      }
    }
  }
}
