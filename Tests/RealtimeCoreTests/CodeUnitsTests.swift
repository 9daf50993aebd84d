import RealtimeCore
import TestSupport
import Testing

@Suite("Code units")
struct CodeUnitsTests {
  /// Texts with common prefixes, so that they differ before, at or after every eighth byte.
  private static func texts() -> [String] {
    var generator = SplitMix64(seed: 7)
    let letters = ["a", "b", "é", "\u{E000}", "\u{FFFD}", "漢", "😀", "e\u{301}"]
    return (0..<300).map { _ in
      let prefix = String(repeating: "-P0", count: Int.random(in: 0...6, using: &generator))
      let rest = (0..<Int.random(in: 0...4, using: &generator)).map { _ in
        letters[Int.random(in: 0..<letters.count, using: &generator)]
      }
      return prefix + rest.joined()
    }
  }

  @Test("Strings are equal and in order as their UTF-16 code units are, wherever they differ")
  func comparison() {
    let texts = Self.texts()
    for left in texts {
      for right in texts {
        let (first, second) = (Array(left.utf16), Array(right.utf16))
        let isBefore = first.lexicographicallyPrecedes(second)
        #expect(CodeUnits.precedes(left, right) == isBefore, "\(left) and \(right)")
        #expect(CodeUnits.areEqual(left, right) == (first == second), "\(left) and \(right)")
      }
    }
  }

  @Test("A path is split at slashes without empty segments, whatever its characters")
  func segments() {
    for (left, right) in zip(Self.texts(), Self.texts().reversed()) {
      let text = "/\(left)//\(right)/"
      let expected = text.split(separator: "/").map { ChildKey(String($0)) }
      #expect(Path(wire: text).keys == expected, "\(text)")
    }
  }
}
