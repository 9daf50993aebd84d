extension Node {
  /// The "V1" hash of the protocol, equal for equal data on both ends; an empty node has an empty hash.
  ///
  /// - Complexity: O(size)
  package var hash: String {
    if isEmpty { return "" }
    var text: [UInt8] = []
    appendHashText(to: &text)
    return Base64.encode(SHA1.digest(of: text))
  }

  private func appendHashText(to text: inout [UInt8]) {
    if let priority {
      text.append(contentsOf: "priority:".utf8)
      priority.appendHashText(to: &text)
      text.append(UInt8(ascii: ":"))
    }
    switch self {
    case .empty: return
    case .leaf(let value, _): value.appendHashText(to: &text)
    case .children(let children):
      if children.prioritizedCount == 0 {
        for (key, child) in children.map { Self.append(key, child: child, to: &text) }
      } else {
        for (key, child) in IndexedNode(self, by: .priority).ascending {
          Self.append(key, child: child, to: &text)
        }
      }
    }
  }

  private static func append(_ key: ChildKey, child: Node, to text: inout [UInt8]) {
    text.append(UInt8(ascii: ":"))
    key.withUTF8 { text.append(contentsOf: $0) }
    text.append(UInt8(ascii: ":"))
    text.append(contentsOf: child.hash.utf8)
  }
}

extension LeafValue {
  fileprivate func appendHashText(to text: inout [UInt8]) {
    switch self {
    case .bool(let value): text.append(contentsOf: (value ? "boolean:true" : "boolean:false").utf8)
    case .integer(let value): Self.appendNumber(Double(value), to: &text)
    case .double(let value): Self.appendNumber(value, to: &text)
    case .string(let value):
      text.append(contentsOf: "string:".utf8)
      text.append(contentsOf: value.utf8)
    case .deferred(let value):
      text.append(contentsOf: "deferred:".utf8)
      text.append(contentsOf: value.json.text.utf8)
    }
  }

  private static func appendNumber(_ value: Double, to text: inout [UInt8]) {
    let digits = String(value.bitPattern, radix: 16)
    text.append(contentsOf: "number:".utf8)
    text.append(contentsOf: repeatElement(UInt8(ascii: "0"), count: 16 - digits.utf8.count))
    text.append(contentsOf: digits.utf8)
  }
}

/// The SHA-1 digest of FIPS 180-4, on which the protocol's hashes are based; not for security.
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
        process(source, at: start, schedule: &schedule, state: &state)
      }
    }
    padded.withUnsafeBufferPointer { source in
      for start in stride(from: 0, to: source.count, by: 64) {
        process(source, at: start, schedule: &schedule, state: &state)
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
    schedule: inout [UInt32],
    state: inout (UInt32, UInt32, UInt32, UInt32, UInt32)
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
      schedule[index] = rotate(word, by: 1)
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
      let next = rotate(a, by: 5) &+ mixed &+ e &+ constant &+ schedule[index]
      (a, b, c, d, e) = (next, a, rotate(b, by: 30), c, d)
    }
    state.0 &+= a
    state.1 &+= b
    state.2 &+= c
    state.3 &+= d
    state.4 &+= e
  }

  private static func rotate(_ word: UInt32, by count: UInt32) -> UInt32 {
    word << count | word >> (32 - count)
  }
}

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
