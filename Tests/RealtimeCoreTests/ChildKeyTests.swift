import RealtimeCore
import TestSupport
import Testing

@Suite("ChildKey")
struct ChildKeyTests {
  static let sorted = [
    "-2147483648", "-1", "0", "00", "000", "1", "01", "9", "10", "2147483647", " 1", "!", "+1", "-",
    "-2147483649", "-a", "1 ", "1.5", "12345678901", "2147483648", "A", "B", "_", "a", "a0", "a10",
    "a9", "b", "z", "~", "é", "中", "🐵", "\u{E000}", "\u{FB00}",
  ]

  static let sortedByFirstClients = [
    "-2147483648", "0", "1", "2", "10", "2147483647", "-2147483649", "-2147483650", "-a",
    "2147483648", "21474836480", "2147483649", "a",
  ]

  @Test("sorts in the protocol's order", arguments: [sorted, sortedByFirstClients])
  func order(texts: [String]) {
    let keys = texts.map { ChildKey($0) }
    var random = SplitMix64(seed: 3)
    #expect(keys.shuffled(using: &random).sorted().map(\.text) == texts)
    for (index, left) in keys.enumerated() {
      for (other, right) in keys.enumerated() {
        #expect((left < right) == (index < other), "\(left) \(right)")
        #expect((left == right) == (index == other), "\(left) \(right)")
      }
    }
  }

  @Test("distinguishes composed from decomposed characters, also as a dictionary key")
  func equivalence() {
    let composed = ChildKey("\u{E9}")
    let decomposed = ChildKey("e\u{301}")
    #expect(composed != decomposed)
    #expect(decomposed < composed)
    #expect(Set([composed, decomposed]).count == 2)
  }

  @Test(
    "parses only 32-bit integers as integers",
    arguments: [
      ("0", 0), ("-1", -1), ("0000000000000012", 12), ("2147483647", 2_147_483_647),
      ("-2147483648", -2_147_483_648), ("-0", 0), ("2147483648", nil), ("-2147483649", nil),
      ("99999999999999999999999", nil), ("", nil), ("-", nil), ("+1", nil), ("1.5", nil),
      (" 1", nil), ("1 ", nil), ("--1", nil), ("1-", nil), ("٣", nil),
    ] as [(String, Int64?)]
  )
  func integers(text: String, expected: Int64?) {
    #expect(ChildKey(text).integer == expected)
  }

  @Test("orders every pair of spellings of zero")
  func zeros() {
    let keys = ["0", "-0", "00", "-00", "000"].map { ChildKey($0) }
    for left in keys {
      for right in keys where left != right {
        #expect((left < right) != (right < left))
      }
    }
  }

  @Test("keeps its text and the order of UTF-16 at any length", arguments: 0..<20 as Range<UInt64>)
  func lengths(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    let pieces = [
      "0", "7", "-", "k", "é", "\u{7FF}", "\u{800}", "\u{D7FF}", "\u{E000}", "\u{FFFF}", "🐵",
      "\u{10FFFF}", "\u{0}",
    ]
    func text() -> String {
      let start = String(repeating: pieces[Int.random(in: 0..<4, using: &random)], count: 9)
      let rest = (0..<Int.random(in: 0...9, using: &random)).map { _ in
        pieces[Int.random(in: 0..<pieces.count, using: &random)]
      }
      return String(
        (start + rest.joined()).unicodeScalars.prefix(Int.random(in: 0...24, using: &random))
      )
    }
    let texts = (0..<200).map { _ in text() }
    for (left, right) in zip(texts, texts.shuffled(using: &random)) {
      let (leftKey, rightKey) = (ChildKey(left), ChildKey(right))
      #expect(leftKey.text.utf8.elementsEqual(left.utf8))
      #expect(leftKey.byteCount == left.utf8.count)
      let bytes = leftKey.withUTF8 { Array($0) }
      #expect(bytes == Array(left.utf8))
      #expect((leftKey == rightKey) == left.utf8.elementsEqual(right.utf8))
      if leftKey == rightKey { #expect(leftKey.hashValue == rightKey.hashValue) }
      guard leftKey.integer == nil, rightKey.integer == nil else { continue }
      #expect((leftKey < rightKey) == left.utf16.lexicographicallyPrecedes(right.utf16))
    }
  }
}
