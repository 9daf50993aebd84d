import TestSupport
import Testing

@testable import BlogTUI

@Suite("SafeText layout")
struct SafeTextLayoutTests {
  private func wrap(_ text: String, _ width: Int) -> [String] {
    SafeText(untrusted: text, mode: .multiLine).wrapped(width: width).map(\.string)
  }

  @Test("Whole words wrap to the next line")
  func words() {
    #expect(wrap("the quick brown fox", 10) == ["the quick", "brown fox"])
    #expect(wrap("the quick brown fox", 9) == ["the quick", "brown fox"])
    #expect(wrap("the quick brown fox", 8) == ["the", "quick", "brown", "fox"])
  }

  @Test("Words longer than a line are split")
  func longWords() {
    #expect(wrap("abcdefgh", 3) == ["abc", "def", "gh"])
    #expect(wrap("ab cdefgh i", 4) == ["ab", "cdef", "gh i"])
  }

  @Test("Ideographs may break anywhere and never straddle an edge")
  func ideographs() {
    #expect(wrap("漢字漢字", 5) == ["漢字", "漢字"])
    #expect(wrap("ab漢字", 5) == ["ab漢", "字"])
    #expect(wrap("漢a", 1) == ["□", "a"])
  }

  @Test("Line breaks and empty lines are preserved")
  func lineBreaks() {
    #expect(wrap("a\n\nb c\n", 2) == ["a", "", "b", "c", ""])
    #expect(wrap("", 5) == [""])
    #expect(wrap("abc", 0) == [])
  }

  @Test("Leading spaces are kept, and spaces at a wrap are dropped")
  func blanks() {
    #expect(wrap("  ab cd", 5) == ["  ab", "cd"])
    #expect(wrap("ab     cd", 4) == ["ab", "cd"])
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
