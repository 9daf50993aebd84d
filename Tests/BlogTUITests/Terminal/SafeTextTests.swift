import Testing

@testable import BlogTUI

@Suite("SafeText")
struct SafeTextTests {
  private func line(_ text: String) -> String { SafeText(untrusted: text).string }
  private func body(_ text: String) -> String {
    SafeText(untrusted: text, mode: .multiLine).string
  }

  @Test("ASCII control characters become control pictures of one cell")
  func controls() {
    #expect(line("\u{1B}[31m") == "␛[31m")
    #expect(line("\u{00}\u{07}\u{08}\u{7F}") == "␀␇␈␡")
  }

  @Test("C1 controls are shown in their 7-bit form")
  func eightBitControls() {
    #expect(line("\u{9B}31m") == "␛[31m")
    #expect(line("\u{9D}0") == "␛]0")
    #expect(line("a\u{85}b\u{2028}c\u{2029}d") == "a␤b␤c␤d")
  }

  @Test("Every kind of line break becomes one newline in bodies")
  func lineBreaksInBodies() {
    #expect(body("a\rb\r\nc\nd\n\re") == "a\nb\nc\nd\n\ne")
    #expect(SafeText(untrusted: "a\nb\n", mode: .multiLine).lines.map(\.string) == ["a", "b", ""])
  }

  @Test("Line breaks become a visible symbol in single lines")
  func lineBreaksInLines() {
    #expect(line("a\rb\r\nc\nd") == "a⏎b⏎c⏎d")
  }

  @Test("Tabs advance to the next stop in bodies and become one space in single lines")
  func tabs() {
    #expect(body("a\tb\n\tc") == "a   b\n    c")
    #expect(body("a\t漢b\tc\td") == "a   漢b c   d")
    #expect(line("a\tb") == "a b")
  }

  @Test("A long body that is all tabs takes no longer than any other", .timeLimit(.minutes(1)))
  func manyTabs() {
    let tabs = String(repeating: "\t", count: 65_536)
    #expect(SafeText(untrusted: tabs, mode: .multiLine).width == 4 * 65_536)
  }

  @Test("Bidirectional controls are spelled out in single lines and dropped in bodies")
  func bidirectionalControls() {
    #expect(line("\u{202E}x\u{202C}") == "⟨RLO⟩x⟨PDF⟩")
    #expect(line("\u{061C}\u{200E}\u{200F}") == "⟨ALM⟩⟨LRM⟩⟨RLM⟩")
    #expect(line("\u{2066}\u{2067}\u{2068}\u{2069}") == "⟨LRI⟩⟨RLI⟩⟨FSI⟩⟨PDI⟩")
    #expect(line("\u{202A}\u{202B}\u{202D}") == "⟨LRE⟩⟨RLE⟩⟨LRO⟩")
    #expect(body("\u{202E}x\u{202C}\u{2066}y\u{200F}") == "xy")
  }

  @Test("Right-to-left letters are preserved")
  func rightToLeftLetters() {
    #expect(line("שלום مرحبا") == "שלום مرحبا")
  }

  @Test("Invisible characters, joiners and variation selectors are dropped")
  func invisible() {
    #expect(line("a\u{200B}b\u{200C}c\u{FEFF}d\u{AD}e\u{3164}f\u{E0041}") == "abcdef")
    #expect(line("a\u{FE0F}b\u{200D}c") == "abc")
    #expect(line("👨\u{200D}a\u{200D}👩") == "👨a👩")
    #expect(line("x\u{FFF9}y\u{1D173}") == "xy")
  }

  @Test("At most four combining marks stay on a base character")
  func marks() {
    let text = SafeText(untrusted: "a" + String(repeating: "\u{301}", count: 9) + "b")
    #expect(text.clusters.map { $0.text.unicodeScalars.count } == [5, 1])
    #expect(text.width == 2)
  }

  @Test("A combining mark without a base gets a dotted circle")
  func markWithoutBase() {
    #expect(line("\u{301}x") == "\u{25CC}\u{301}x")
    #expect(body("a\n\u{301}") == "a\n\u{25CC}\u{301}")
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

  @Test("Invalid emoji sequences are not joined, however many joiners they contain")
  func notJoined() {
    #expect(line("🏽") == "🏽")
    #expect(line("👍🏽🏿") == "👍🏽")
    #expect(line("🎉🏽") == "🎉🏽")
    #expect(line("👍\u{200D}\u{200D}\u{200D}") == "👍")
    #expect(line("🎉\u{FE0F}") == "🎉")
    #expect(line("👨\u{301}\u{200D}👩") == "👨\u{301}👩")
    let many = String(repeating: "👩\u{200D}", count: 100_000)
    let text = SafeText(untrusted: many)
    #expect(text.clusters.allSatisfy { $0.text.unicodeScalars.count <= 9 })
    #expect(text.string.last == "…")
  }

  @Test("Characters of unknown width become a box, and noncharacters become U+FFFD")
  func unknown() {
    #expect(line("\u{1FABF}") == "□")
    #expect(line(HostileText.noncharacters) == "\u{FFFD}\u{FFFD}\u{FFFD}")
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
