/// The SHA-1 digest of FIPS 180-4, which the protocol's hashes are made of; not for secrets.
package enum SHA1 {
  /// The 20-byte digest of some bytes.
  ///
  /// - Complexity: O(bytes)
  package static func digest(of bytes: [UInt8]) -> [UInt8] {
    var state: (UInt32, UInt32, UInt32, UInt32, UInt32) = (
      0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0
    )
    var schedule = [UInt32](repeating: 0, count: 80)
    let padded = padding(of: bytes)
    let whole = bytes.count / 64 * 64
    bytes.withUnsafeBufferPointer { source in
      for start in stride(from: 0, to: whole, by: 64) {
        process(source, at: start, &schedule, &state)
      }
    }
    padded.withUnsafeBufferPointer { source in
      for start in stride(from: 0, to: source.count, by: 64) {
        process(source, at: start, &schedule, &state)
      }
    }
    return [state.0, state.1, state.2, state.3, state.4].flatMap { word in
      [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: word >> $0) }
    }
  }

  /// The last incomplete block with its padding: a one bit, zeros, and the length in bits.
  private static func padding(of bytes: [UInt8]) -> [UInt8] {
    var tail = Array(bytes[(bytes.count / 64 * 64)...])
    tail.append(0x80)
    while tail.count % 64 != 56 { tail.append(0) }
    let bits = UInt64(bytes.count) * 8
    for shift in stride(from: 56, through: 0, by: -8) {
      tail.append(UInt8(truncatingIfNeeded: bits >> UInt64(shift)))
    }
    return tail
  }

  private static func process(
    _ source: UnsafeBufferPointer<UInt8>,
    at start: Int,
    _ schedule: inout [UInt32],
    _ state: inout (UInt32, UInt32, UInt32, UInt32, UInt32)
  ) {
    for index in 0..<16 {
      let at = start + index * 4
      schedule[index] =
        UInt32(source[at]) << 24 | UInt32(source[at + 1]) << 16
        | UInt32(source[at + 2]) << 8 | UInt32(source[at + 3])
    }
    for index in 16..<80 {
      let word =
        schedule[index - 3] ^ schedule[index - 8] ^ schedule[index - 14] ^ schedule[index - 16]
      schedule[index] = rotate(word, 1)
    }
    var (a, b, c, d, e) = state
    for index in 0..<80 {
      let mixed: UInt32
      let constant: UInt32
      switch index {
      case 0..<20: (mixed, constant) = ((b & c) | (~b & d), 0x5A82_7999)
      case 20..<40: (mixed, constant) = (b ^ c ^ d, 0x6ED9_EBA1)
      case 40..<60: (mixed, constant) = ((b & c) | (b & d) | (c & d), 0x8F1B_BCDC)
      default: (mixed, constant) = (b ^ c ^ d, 0xCA62_C1D6)
      }
      let next = rotate(a, 5) &+ mixed &+ e &+ constant &+ schedule[index]
      (a, b, c, d, e) = (next, a, rotate(b, 30), c, d)
    }
    state.0 &+= a
    state.1 &+= b
    state.2 &+= c
    state.3 &+= d
    state.4 &+= e
  }

  private static func rotate(_ word: UInt32, _ count: UInt32) -> UInt32 {
    word << count | word >> (32 - count)
  }
}
