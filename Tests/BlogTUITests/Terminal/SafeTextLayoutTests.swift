import TestSupport
import Testing

@testable import BlogTUI

@Suite("SafeText layout")
struct SafeTextLayoutTests {
  @Test(
    "Text wraps between words where it can, and keeps its lines",
    arguments: [
      ("the quick brown fox", 10, ["the quick", "brown fox"]),
      ("the quick brown fox", 9, ["the quick", "brown fox"]),
      ("the quick brown fox", 8, ["the", "quick", "brown", "fox"]),
      // Words longer than a line are split.
      ("abcdefgh", 3, ["abc", "def", "gh"]), ("ab cdefgh i", 4, ["ab", "cdef", "gh i"]),
      // Ideographs may break anywhere and never straddle an edge.
      ("漢字漢字", 5, ["漢字", "漢字"]), ("ab漢字", 5, ["ab漢", "字"]), ("漢a", 1, ["□", "a"]),
      // Line breaks and empty lines are preserved.
      ("a\n\nb c\n", 2, ["a", "", "b", "c", ""]), ("", 5, [""]), ("abc", 0, []),
      // Leading spaces are kept, and spaces at a wrap are dropped.
      ("  ab cd", 5, ["  ab", "cd"]), ("ab     cd", 4, ["ab", "cd"]),
    ] as [(String, Int, [String])]
  )
  func wrapping(text: String, width: Int, lines: [String]) {
    let text = SafeText(untrusted: text, mode: .multiLine)
    #expect(text.wrapped(width: width).map(\.string) == lines)
  }

  @Test("Truncating keeps short text and ends longer text with an ellipsis")
  func truncating() {
    #expect(SafeText(untrusted: "abc").truncated(to: 3).string == "abc")
    #expect(SafeText(untrusted: "abcd").truncated(to: 3).string == "ab…")
    #expect(SafeText(untrusted: "abcd").truncated(to: 3, ellipsis: "...").string == "...")
    #expect(SafeText(untrusted: "abcd").truncated(to: 2, ellipsis: "...").string == "ab")
    #expect(SafeText(untrusted: "漢字漢").truncated(to: 4).string == "漢…")
    #expect(("ab\ncd" as SafeText).truncated(to: 9).string == "ab…")
    #expect(SafeText(untrusted: "abcd").truncated(to: -1).string == "")
  }

  @Test("Padding fills up to a width")
  func padding() {
    #expect(SafeText(untrusted: "漢").padded(to: 4).string == "漢  ")
    #expect(SafeText(untrusted: "abc").padded(to: 2).string == "abc")
  }

  @Test("Wrapped lines fit and lose only spaces", arguments: 0..<6 as Range<UInt64>)
  func wrappingLosesNothing(seed: UInt64) {
    var generator = SplitMix64(seed: seed)
    for _ in 0..<100 {
      let words = (0..<Int.random(in: 0...12, using: &generator)).map { _ in
        String(
          (0..<Int.random(in: 1...9, using: &generator)).map { _ in
            ["a", "b", "漢", "é", "👍"].randomElement(using: &generator) ?? "a"
          }.joined()
        )
      }
      let text = SafeText(untrusted: words.joined(separator: " "), mode: .multiLine)
      let width = Int.random(in: 2...20, using: &generator)
      let lines = text.wrapped(width: width)
      #expect(lines.allSatisfy { $0.width <= width })
      let kept = lines.flatMap(\.clusters).filter { !$0.isSpace }
      #expect(kept == text.clusters.filter { !$0.isSpace })
    }
  }

  @Test("Truncated and wrapped text respects the requested width", arguments: HostileText.corpus)
  func widths(input: String) {
    let text = SafeText(untrusted: input, mode: .multiLine)
    for width in 0...6 {
      #expect(text.truncated(to: width).width <= width)
      #expect(text.wrapped(width: width).allSatisfy { $0.width <= width })
    }
  }
}
