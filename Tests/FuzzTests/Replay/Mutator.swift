import TestSupport

/// Derives almost valid inputs from valid examples.
struct Mutator {
  /// Pieces that parsers treat specially.
  private static let tokens: [[UInt8]] =
    [
      "{", "}", "[", "]", "\"", ",", ":", "/", "//", ".", "..", "%", "%2F", "%00", "%zz", "?", "#",
      "&",
      "=", "+", "-", "0", "-0", "1e400", "1e-400", "9223372036854775807", "9223372036854775808",
      "00",
      "2147483648", "null", "true", ".priority", ".value", ".sv", ".key", "$key", "$k", "\\u0000",
      "\\uD800", "\\uDC35", "é", "e\u{301}", "\u{202E}", "\u{1B}[", "\u{FEFF}", "\r\n", "\n",
      "\u{0}",
      "\"t\":", "\"d\":", "\"b\":", "\"p\":", "\"q\":", "\"r\":", "*", "(", ")", "|", "^", "&&",
      "||",
      "Content-Length: 5\r\n", "Transfer-Encoding: chunked\r\n", "2 ", "=\n", "-\n", "[MIN_NAME]",
    ].map { Array($0.utf8) } + [[0xFF], [0xC3], [0xED, 0xA0, 0x80], [0x81, 0x80], [0x88, 0x82]]

  private static let lengthLimit = 4_096

  private var random: SplitMix64
  private let examples: [[UInt8]]

  init(_ examples: [[UInt8]], seed: UInt64) {
    random = SplitMix64(seed: seed)
    self.examples = examples
  }

  /// The next input.
  mutating func next() -> [UInt8] {
    var bytes = random.pick(examples)
    for _ in 0...random.below(4) { change(&bytes) }
    return Array(bytes.prefix(Self.lengthLimit))
  }

  private mutating func change(_ bytes: inout [UInt8]) {
    let start = random.below(bytes.count + 1)
    let end = min(bytes.count, start + random.below(1 + random.below(1 + bytes.count)))
    switch random.below(9) {
    case 0: bytes.removeSubrange(start..<end)
    case 1: bytes.insert(contentsOf: bytes[start..<end], at: random.below(bytes.count + 1))
    case 2: bytes.replaceSubrange(start..<end, with: random.pick(Self.tokens))
    case 3, 4: bytes.insert(contentsOf: random.pick(Self.tokens), at: start)
    case 5: bytes.insert(contentsOf: piece(), at: start)
    case 6: if start < bytes.count { bytes[start] ^= 1 << UInt8(random.below(8)) }
    case 7: if start < bytes.count { bytes[start] = UInt8(random.below(256)) }
    default:
      let piece = Array(bytes[start..<end])
      let room = max(0, Self.lengthLimit - bytes.count)
      let times = min(1 + random.below(64), room / max(1, piece.count))
      bytes.insert(contentsOf: (0..<times).flatMap { _ in piece }, at: start)
    }
  }

  /// A piece of a random example.
  private mutating func piece() -> ArraySlice<UInt8> {
    let other = random.pick(examples)
    let start = random.below(other.count + 1)
    return other[start..<min(other.count, start + random.below(64))]
  }
}
