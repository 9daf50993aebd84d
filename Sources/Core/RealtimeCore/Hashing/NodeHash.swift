extension Node {
  /// The protocol's "V1" hash: equal data has equal hashes on both ends, and no data an empty one.
  ///
  /// Some data has the hash of other data: see ``exactHash``.
  ///
  /// - Complexity: O(size)
  package var hash: String { hash(exactly: false) }

  /// A hash that no other data has: the protocol's, except where that one is ambiguous.
  ///
  /// The protocol rounds integers beyond 53 bits, and separates by colons what may contain colons:
  /// keys, and the strings of priorities.
  ///
  /// - Complexity: O(size)
  package var exactHash: String { hash(exactly: true) }

  private func hash(exactly isExact: Bool) -> String {
    if isEmpty { return "" }
    var text: [UInt8] = []
    appendHash(to: &text, exactly: isExact)
    return String(decoding: text, as: UTF8.self)
  }

  /// Appends the hash to a text; the bytes to hash are first collected at the end of the text.
  private func appendHash(to text: inout [UInt8], exactly isExact: Bool) {
    let start = text.count
    appendHashText(to: &text, exactly: isExact)
    let digest = text.withUnsafeBufferPointer {
      SHA1.words(of: UnsafeBufferPointer(rebasing: $0[start...]))
    }
    text.removeLast(text.count - start)
    SHA1.appendBase64(digest, to: &text)
  }

  private func appendHashText(to text: inout [UInt8], exactly isExact: Bool) {
    if let priority {
      text.append(contentsOf: "priority:".utf8)
      if isExact, case .string(let value) = priority, value.utf8.contains(UInt8(ascii: ":")) {
        text.append(contentsOf: "\(value.utf8.count):".utf8)
      }
      priority.appendHashText(to: &text, exactly: isExact)
      text.append(UInt8(ascii: ":"))
    }
    switch self {
    case .empty: return
    case .leaf(let value, _): value.appendHashText(to: &text, exactly: isExact)
    case .children(let children):
      if children.prioritizedCount == 0 {
        for (key, child) in children.map {
          Self.append(key, child: child, to: &text, exactly: isExact)
        }
      } else {
        for (key, child) in IndexedNode(self, by: .priority).ascending {
          Self.append(key, child: child, to: &text, exactly: isExact)
        }
      }
    }
  }

  private static func append(
    _ key: ChildKey,
    child: Node,
    to text: inout [UInt8],
    exactly isExact: Bool
  ) {
    key.withUTF8 { key in
      // No key contains a slash.
      let isAmbiguous = isExact && key.contains(UInt8(ascii: ":"))
      let separator = isAmbiguous ? UInt8(ascii: "/") : UInt8(ascii: ":")
      text.append(separator)
      text.append(contentsOf: key)
      text.append(separator)
    }
    child.appendHash(to: &text, exactly: isExact)
  }
}

extension LeafValue {
  /// Appends the text from which the hash of a node is computed.
  ///
  /// In an exact one, integers that a double rounds have a text of their own.
  func appendHashText(to text: inout [UInt8], exactly isExact: Bool) {
    switch self {
    case .bool(let value): text.append(contentsOf: (value ? "boolean:true" : "boolean:false").utf8)
    case .integer(let value) where isExact && !value.isExactAsDouble:
      text.append(contentsOf: "integer:\(value)".utf8)
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

  /// Appends a number in the form that the protocol hashes: its bits in hexadecimal.
  private static func appendNumber(_ value: Double, to text: inout [UInt8]) {
    text.append(contentsOf: "number:".utf8)
    for shift in stride(from: 60, through: 0, by: -4) {
      let digit = UInt8(truncatingIfNeeded: value.bitPattern >> UInt64(shift)) & 15
      text.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
    }
  }
}

extension Int64 {
  /// Whether a double is the same number.
  fileprivate var isExactAsDouble: Bool { Int64(exactly: Double(self)) == self }
}

/// The SHA-1 digest of FIPS 180-4, on which the protocol's hashes are based; not used for security.
package enum SHA1 {
  /// The digest as five numbers, in which the highest byte comes first.
  typealias Words = (UInt32, UInt32, UInt32, UInt32, UInt32)

  private static let blockSize = 64

  /// The 20-byte digest of some bytes.
  ///
  /// - Complexity: O(bytes)
  package static func digest(of bytes: [UInt8]) -> [UInt8] {
    let words = bytes.withUnsafeBufferPointer { Self.words(of: $0) }
    return [words.0, words.1, words.2, words.3, words.4].flatMap { word in
      [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: word >> $0) }
    }
  }

  /// A short name for a text, such as a path: so many bytes of its digest, in hexadecimal digits.
  package static func name(of text: String, byteCount: Int = 6) -> String {
    digest(of: Array(text.utf8)).prefix(byteCount).map { byte in
      String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
    }.joined()
  }

  /// The digest of some bytes, as numbers.
  ///
  /// - Complexity: O(bytes)
  static func words(of bytes: UnsafeBufferPointer<UInt8>) -> Words {
    var state: Words = (0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0)
    let whole = bytes.count / blockSize * blockSize
    if let base = bytes.baseAddress {
      for start in stride(from: 0, to: whole, by: blockSize) {
        process(UnsafeRawPointer(base + start), state: &state)
      }
    }
    // The last incomplete block with its padding: a one bit, zeros, and the length in bits.
    withUnsafeTemporaryAllocation(byteCount: 2 * blockSize, alignment: 8) { tail in
      let rest = UnsafeBufferPointer(rebasing: bytes[whole...])
      let size = rest.count < blockSize - 8 ? blockSize : 2 * blockSize
      tail.initializeMemory(as: UInt8.self, repeating: 0)
      tail.copyMemory(from: UnsafeRawBufferPointer(rest))
      tail[rest.count] = 0x80
      let bits = UInt64(bytes.count) * 8
      tail.storeBytes(of: bits.bigEndian, toByteOffset: size - 8, as: UInt64.self)
      guard let base = tail.baseAddress else { return }
      for start in stride(from: 0, to: size, by: blockSize) {
        process(UnsafeRawPointer(base + start), state: &state)
      }
    }
    return state
  }

  static func appendBase64(_ digest: Words, to text: inout [UInt8]) {
    var bits: UInt64 = 0
    var count = 0
    for word in [digest.0, digest.1, digest.2, digest.3, digest.4] {
      bits = bits << 32 | UInt64(word)
      count += 32
      while count >= 6 {
        count -= 6
        text.append(Base64.digit(UInt8(truncatingIfNeeded: bits >> UInt64(count)) & 63))
      }
    }
    // 160 bits make 26 digits, and four bits are left.
    text.append(Base64.digit(UInt8(truncatingIfNeeded: bits << 2) & 63))
    text.append(UInt8(ascii: "="))
  }

  private static func process(_ block: UnsafeRawPointer, state: inout Words) {
    withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 80) { buffer in
      guard let schedule = buffer.baseAddress else { return }
      for index in 0..<16 {
        let word = block.loadUnaligned(fromByteOffset: 4 &* index, as: UInt32.self)
        schedule[index] = UInt32(bigEndian: word)
      }
      for index in 16..<80 {
        let word =
          schedule[index &- 3] ^ schedule[index &- 8] ^ schedule[index &- 14]
          ^ schedule[index &- 16]
        schedule[index] = rotate(word, by: 1)
      }
      var now = state
      for index in 0..<20 {
        round(
          (now.1 & now.2) | (~now.1 & now.3),
          constant: 0x5A82_7999,
          word: schedule[index],
          now: &now
        )
      }
      for index in 20..<40 {
        round(now.1 ^ now.2 ^ now.3, constant: 0x6ED9_EBA1, word: schedule[index], now: &now)
      }
      for index in 40..<60 {
        let majority = (now.1 & now.2) | (now.1 & now.3) | (now.2 & now.3)
        round(majority, constant: 0x8F1B_BCDC, word: schedule[index], now: &now)
      }
      for index in 60..<80 {
        round(now.1 ^ now.2 ^ now.3, constant: 0xCA62_C1D6, word: schedule[index], now: &now)
      }
      state.0 &+= now.0
      state.1 &+= now.1
      state.2 &+= now.2
      state.3 &+= now.3
      state.4 &+= now.4
    }
  }

  @inline(__always)
  private static func round(_ mixed: UInt32, constant: UInt32, word: UInt32, now: inout Words) {
    let next = rotate(now.0, by: 5) &+ mixed &+ now.4 &+ constant &+ word
    now = (next, now.0, rotate(now.1, by: 30), now.2, now.3)
  }

  @inline(__always)
  private static func rotate(_ word: UInt32, by count: UInt32) -> UInt32 {
    word &<< count | word &>> (32 &- count)
  }
}

/// Base64 with the standard alphabet and padding.
package enum Base64 {
  /// Encodes bytes as text.
  ///
  /// - Complexity: O(bytes)
  package static func encode(_ bytes: [UInt8]) -> String {
    let digits = digits(of: bytes)
    let padding = repeatElement(UInt8(ascii: "="), count: -digits.count & 3)
    return String(decoding: digits + padding, as: UTF8.self)
  }

  /// The digits of bytes in ASCII, without padding.
  ///
  /// - Complexity: O(bytes)
  package static func digits(of bytes: some Sequence<UInt8>) -> [UInt8] {
    var digits: [UInt8] = []
    var (word, bits): (UInt32, UInt32) = (0, 0)
    for byte in bytes {
      word = word << 8 | UInt32(byte)
      bits += 8
      while bits >= 6 {
        bits -= 6
        digits.append(digit(UInt8(truncatingIfNeeded: word >> bits) & 63))
      }
    }
    if bits > 0 { digits.append(digit(UInt8(truncatingIfNeeded: word << (6 - bits)) & 63)) }
    return digits
  }

  @inline(__always)
  static func digit(_ number: UInt8) -> UInt8 {
    switch number {
    case 0..<26: UInt8(ascii: "A") &+ number
    case 26..<52: UInt8(ascii: "a") &+ number &- 26
    case 52..<62: UInt8(ascii: "0") &+ number &- 52
    case 62: UInt8(ascii: "+")
    default: UInt8(ascii: "/")
    }
  }
}

/// Decodes base64 in pieces, with `-` and `_` for `+` and `/`, and `.` or `=` as padding.
package struct Base64Decoder: Sendable {
  private var bits: UInt32 = 0
  private var count = 0
  private var hasEnded = false

  package init() {}

  /// What is left behind the last byte; nil if that is a digit or more.
  package var rest: UInt32? { count < 6 ? bits & (1 << UInt32(count) - 1) : nil }

  /// Decodes a piece and appends what it says to bytes; returns whether it is base64.
  package mutating func decode(_ text: String, into bytes: inout [UInt8]) -> Bool {
    for byte in text.utf8 {
      if byte == UInt8(ascii: ".") || byte == UInt8(ascii: "=") {
        hasEnded = true
        continue
      }
      guard !hasEnded, let value = Self.value(of: byte) else { return false }
      bits = bits << 6 | UInt32(value)
      count += 6
      if count >= 8 {
        count -= 8
        bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
      }
    }
    return true
  }

  private static func value(of byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte - UInt8(ascii: "A")
    case UInt8(ascii: "a")...UInt8(ascii: "z"): byte - UInt8(ascii: "a") + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0") + 52
    case UInt8(ascii: "-"), UInt8(ascii: "+"): 62
    case UInt8(ascii: "_"), UInt8(ascii: "/"): 63
    default: nil
    }
  }
}
