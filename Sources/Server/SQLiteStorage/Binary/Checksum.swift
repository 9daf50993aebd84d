/// Tells bytes that were damaged on the disk; no protection against intent.
enum Checksum {
  /// A sum in which every change of one 64-bit word shows for certain.
  ///
  /// Each step multiplies by an odd number and rotates, both of which can be undone: two inputs that
  /// differ in one word only never have the same sum.
  ///
  /// - Complexity: O(bytes)
  static func of(_ bytes: some Collection<UInt8>, seed: UInt64 = 0) -> UInt64 {
    let sum = bytes.withContiguousStorageIfAvailable { of(UnsafeRawBufferPointer($0), seed: seed) }
    return sum ?? of(Array(bytes), seed: seed)
  }

  private static func of(_ bytes: UnsafeRawBufferPointer, seed: UInt64) -> UInt64 {
    var sum = mix(seed, UInt64(bytes.count))
    var position = 0
    while position + 8 <= bytes.count {
      // Safety: the condition of the loop keeps all eight bytes within the buffer.
      let word = bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self)
      sum = mix(sum, UInt64(littleEndian: word))
      position += 8
    }
    var last: UInt64 = 0
    while position < bytes.count {
      last = last << 8 | UInt64(bytes[position])
      position += 1
    }
    sum = mix(sum, last)
    return mix(sum, sum >> 32)
  }

  private static func mix(_ sum: UInt64, _ word: UInt64) -> UInt64 {
    let product = (sum ^ word ^ 0x9E37_79B9_7F4A_7C15) &* 0xD6E8_FEB8_6659_FD93
    return product << 29 | product >> 35
  }
}
