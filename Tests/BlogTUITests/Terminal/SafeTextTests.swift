import Testing

@testable import BlogTUI

@Suite("SafeText")
struct SafeTextTests {
  @Test(
    "Controls and marks in a single line become harmless and visible, or are dropped",
    arguments: [
      // ASCII controls become control pictures of one cell, and C1 controls their 7-bit form.
      ("\u{1B}[31m", "␛[31m"), ("\u{00}\u{07}\u{08}\u{7F}", "␀␇␈␡"), ("\u{9B}31m", "␛[31m"),
      ("\u{9D}0", "␛]0"), ("a\u{85}b\u{2028}c\u{2029}d", "a␤b␤c␤d"),
      // Every kind of line break is one symbol, and a tab is a space.
      ("a\rb\r\nc\nd", "a⏎b⏎c⏎d"), ("a\tb", "a b"),
      // Right-to-left letters stay.
      ("שלום مرحبا", "שלום مرحبا"),
      // Invisible characters, joiners and variation selectors are dropped.
      ("a\u{200B}b\u{200C}c\u{FEFF}d\u{AD}e\u{3164}f\u{E0041}", "abcdef"),
      ("a\u{FE0F}b\u{200D}c", "abc"), ("👨\u{200D}a\u{200D}👩", "👨a👩"),
      ("x\u{FFF9}y\u{1D173}", "xy"),
      // A combining mark without a base gets a dotted circle.
      ("\u{301}x", "\u{25CC}\u{301}x"),
      // Emoji that do not form a sequence are not joined.
      ("🏽", "🏽"), ("👍🏽🏿", "👍🏽"), ("🎉🏽", "🎉🏽"), ("👍\u{200D}\u{200D}\u{200D}", "👍"),
      ("🎉\u{FE0F}", "🎉"), ("👨\u{301}\u{200D}👩", "👨\u{301}👩"),
      // Characters of unknown width become a box, and noncharacters U+FFFD.
      ("\u{1FABF}", "□"), (HostileText.noncharacters, "\u{FFFD}\u{FFFD}\u{FFFD}"),
    ]
  )
  func singleLines(text: String, safe: String) {
    #expect(SafeText(untrusted: text).string == safe)
  }

  @Test(
    "Bodies keep their lines and tab stops",
    arguments: [
      ("a\rb\r\nc\nd\n\re", "a\nb\nc\nd\n\ne"), ("a\tb\n\tc", "a   b\n    c"),
      ("a\t漢b\tc\td", "a   漢b c   d"), ("a\n\u{301}", "a\n\u{25CC}\u{301}"), ("a\nb\n", "a\nb\n"),
    ]
  )
  func bodies(text: String, safe: String) {
    let body = SafeText(untrusted: text, mode: .multiLine)
    #expect(body.string == safe)
    #expect(body.lines.map(\.string).joined(separator: "\n") == safe)
  }

  @Test(
    "Bidirectional controls are spelled out in single lines and dropped in bodies",
    arguments: [
      ("\u{202E}x\u{202C}", "⟨RLO⟩x⟨PDF⟩"), ("\u{061C}\u{200E}\u{200F}", "⟨ALM⟩⟨LRM⟩⟨RLM⟩"),
      ("\u{2066}\u{2067}\u{2068}\u{2069}", "⟨LRI⟩⟨RLI⟩⟨FSI⟩⟨PDI⟩"),
      ("\u{202A}\u{202B}\u{202D}", "⟨LRE⟩⟨RLE⟩⟨LRO⟩"),
      ("\u{202E}x\u{202C}\u{2066}y\u{200F}", "⟨RLO⟩x⟨PDF⟩⟨LRI⟩y⟨RLM⟩"),
    ]
  )
  func bidirectionalControls(text: String, spelled: String) {
    #expect(SafeText(untrusted: text).string == spelled)
    #expect(SafeText(untrusted: text, mode: .multiLine).string == text.filter(\.isLetter))
  }

  @Test("A long body that is all tabs takes no longer than any other", .timeLimit(.minutes(1)))
  func manyTabs() {
    let tabs = String(repeating: "\t", count: 65_536)
    #expect(SafeText(untrusted: tabs, mode: .multiLine).width == 4 * 65_536)
  }

  @Test("At most four combining marks stay on a base character")
  func marks() {
    let text = SafeText(untrusted: "a" + String(repeating: "\u{301}", count: 9) + "b")
    #expect(text.clusters.map { $0.text.unicodeScalars.count } == [5, 1])
    #expect(text.width == 2)
  }

  @Test(
    "An emoji sequence is one cluster of two cells",
    arguments: [
      ("👍🏽", "👍"), ("❤\u{FE0F}", "❤ "), ("👨\u{200D}👩\u{200D}👧\u{200D}👦", "👨"),
      ("🏳\u{FE0F}\u{200D}🌈", "🏳 "), ("👩🏽\u{200D}❤\u{FE0F}\u{200D}💋\u{200D}👩🏿", "👩"),
      ("🧑🏻\u{200D}🚀", "🧑"), ("🏃\u{200D}♀\u{FE0F}", "🏃"),
    ]
  )
  func joined(text: String, plain: String) {
    let safe = SafeText(untrusted: text)
    #expect(safe.string == text)
    #expect(safe.clusters.count == 1 && safe.width == 2)
    #expect(safe.clusters.first?.plainText == plain)
    #expect(safe.clusters.first?.asciiForms.count == 2)
    #expect(SafeText(untrusted: "a\(text)b").string == "a\(text)b")
  }

  @Test("An endless emoji sequence is cut into clusters of bounded length")
  func notJoined() {
    let many = String(repeating: "👩\u{200D}", count: 100_000)
    let text = SafeText(untrusted: many)
    #expect(text.clusters.allSatisfy { $0.text.unicodeScalars.count <= 9 })
    #expect(text.string.last == "…")
  }

  @Test("Text beyond the limit is truncated with an ellipsis")
  func limit() {
    let text = SafeText(untrusted: "abcdef", limit: 4)
    #expect(text.string == "abc…")
    #expect(SafeText(untrusted: "abcd", limit: 4).string == "abcd")
    #expect(SafeText(untrusted: "a\n\n\n\n\n", mode: .multiLine, limit: 3).string == "a\n…")
    let long = SafeText(untrusted: String(repeating: "x", count: 20_000), mode: .multiLine)
    #expect(long.clusters.count == 20_000)
  }

  @Test("Literals are trusted and may have several lines")
  func literals() {
    let text: SafeText = "one\ntwo"
    #expect(text.lines.map(\.string) == ["one", "two"])
    #expect(SafeText(-42).string == "-42")
  }

  @Test("Appending preserves line breaks")
  func appending() {
    let left = SafeText(untrusted: "a\n", mode: .multiLine)
    let right = SafeText(untrusted: "b\nc", mode: .multiLine)
    #expect((left + right).string == "a\nb\nc")
    #expect((left + right) == SafeText(untrusted: "a\nb\nc", mode: .multiLine))
    #expect(["a", "b", "c"].joined(separator: ", " as SafeText).string == "a, b, c")
  }
}
