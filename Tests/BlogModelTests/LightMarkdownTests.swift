import Synchronization
import TestSupport
import Testing

@testable import BlogModel

@Suite("Light markdown")
struct LightMarkdownTests {
  /// A character that counts how often its reader looks at it.
  private struct Watched: MarkupUnit {
    /// The number of looks at all characters that share it.
    final class Looks: Sendable {
      let count = Atomic<Int>(0)
    }

    let character: Character
    let looks: Looks

    var plain: Unicode.Scalar? {
      looks.count.add(1, ordering: .relaxed)
      return character.plain
    }
    var isOfWord: Bool {
      looks.count.add(1, ordering: .relaxed)
      return character.isOfWord
    }
    var isBlank: Bool {
      looks.count.add(1, ordering: .relaxed)
      return character.isBlank
    }

    static func == (left: Self, right: Self) -> Bool { left.character == right.character }
    func hash(into hasher: inout Hasher) { character.hash(into: &hasher) }
  }

  /// Texts that look like the beginning of markup at every character.
  private static let hostile =
    [
      "[", "]", "(", ")", "<", ">", "*", "_", "`", "~", "#", "@", "\\", "-", "h", ".", " ",
      "*a ", "**a", "_a _", "``a", "[x](", "[]", "[a]", "](", "[[a](", "[x](http://",
      "[a](http://b",
      "[a](http://@/", "[a](https://b]", "http://", "http:///", "http://@/", "http://:/",
      "http://a ",
      "http://a)", "http://a,", "https://a@", "> ", "> *", "- ", "1. ", "#a ", "***", "*a_b", "@a",
      "_a_", "`a``b", "\\`", "e\u{301}*", "|", "| ", "|a|", "\\|",
    ]
    // Something that could have an end, followed by very much that is none.
    + ["[a](http://b", "http://b", "`", "*a", "[", "http://@"].flatMap { start in
      [")", "]", ",", "a", "[", "*a"].map { start + "\u{0}" + $0 }
    }

  /// A hostile text: the pattern over and over, or what follows its first part.
  private static func text(_ pattern: String, _ length: Int) -> String {
    let parts = pattern.split(separator: "\u{0}")
    let repeated = String(parts.last ?? "")
    let text = String(repeating: repeated, count: length / repeated.count)
    return parts.count > 1 ? parts[0] + text : text
  }

  /// The looks at a text of a length, and the runs it consists of.
  private static func work(_ text: String) -> (looks: Int, runs: Int) {
    let looks = Watched.Looks()
    let line = text.map { Watched(character: $0, looks: looks) }
    let runs = LightMarkdown.lines(of: [line]).reduce(0) { $0 + $1.runs.count }
    return (looks.count.load(ordering: .relaxed), runs)
  }

  @Test(
    "Parsing reads each character a bounded number of times for any repeated pattern",
    arguments: hostile
  )
  func hostileLength(pattern: String) {
    // The reach of the signs of a line does not matter: even a short text is read with few looks.
    for length in [600, 6_000, 24_000] {
      let (looks, runs) = Self.work(Self.text(pattern, length))
      #expect(looks <= 40 * length, "\(looks / length) looks at each of \(length)")
      #expect(runs <= length)
    }
  }

  @Test(
    "Parsing reads each character a bounded number of times for random mixtures",
    arguments: UInt64(1)...10
  )
  func hostileMixtures(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    let alphabet = (0..<Int.random(in: 2...6, using: &random)).compactMap { _ in
      Self.hostile.filter { !$0.contains("\u{0}") }.randomElement(using: &random)
    }
    let text = (0..<4_000).compactMap { _ in alphabet.randomElement(using: &random) }.joined()
    #expect(Self.work(text).looks <= 40 * text.count, "\(alphabet)")
  }

  @Test(
    "A table takes time that grows with its length, whatever its columns",
    arguments: [2, 6, 24]
  )
  func hostileTables(thousands: Int) {
    let looks = Watched.Looks()
    let length = thousands * 1_000
    func line(_ text: String) -> [Watched] { text.map { Watched(character: $0, looks: looks) } }
    let wide = [String(repeating: "|a", count: length), String(repeating: "|-", count: length)]
    #expect(LightMarkdown.lines(of: wide.map(line)).map(\.kind) == [.text, .text])
    #expect(looks.count.load(ordering: .relaxed) <= 40 * 4 * length)
    let long = LightMarkdown.lines(
      of: (["|a|b|", "|-|-|"] + Array(repeating: "|", count: length)).map(line)
    )
    #expect(long.map { $0.table?.rows.count } == [length + 1])
    #expect(looks.count.load(ordering: .relaxed) <= 40 * 5 * length)
    let rest = ["|a|b|", "|-|-|", String(repeating: "|a", count: length)].map(line)
    #expect(LightMarkdown.lines(of: rest).first?.table?.rows.last?.count == 2)
  }

  @Test(
    "Reading code reads each character a bounded number of times",
    arguments: [
      "\"", "'", "/", "/*", "*/", "\\", "\"\"\"", "a", "1.", "1", "@", "#", "@a", "if ", "_",
      "<!-- ",
    ]
  )
  func hostileCode(pattern: String) {
    for language in ["swift", "c", "js", "sh", "sql", "html"] {
      let looks = Watched.Looks()
      let length = 12_000
      let text = Self.text(pattern, length)
      let lines = ["```" + language, text].map { line in
        line.map { Watched(character: $0, looks: looks) }
      }
      let runs = LightMarkdown.lines(of: lines)[1].runs
      #expect(runs.reduce(0) { $0 + $1.units.count } == text.count)
      #expect(looks.count.load(ordering: .relaxed) <= 10 * length)
    }
  }

  @Test("Finding the end of a link takes linear time", arguments: [")", "]", ",", ")]"])
  func longLink(end: String) {
    let looks = Watched.Looks()
    let text = Array("http://a" + String(repeating: end, count: 20_000)).map(\.asciiValue)
    let bytes = text.indices.lazy.map { index in
      looks.count.add(1, ordering: .relaxed)
      return text[index] ?? 0
    }
    #expect(Link(bytes)?.text == "http://a")
    #expect(looks.count.load(ordering: .relaxed) <= 8 * text.count)
    #expect(Link.all(in: "http://a" + String(repeating: end, count: 20_000)).map(\.host) == ["a"])
  }

  @Test(
    "An excerpt renders the same text as the full parser for random input",
    arguments: UInt64(1)...20
  )
  func excerptOfAnyText(seed: UInt64) {
    let words = [
      "a", "tea ", "x1", " ", ".", ")", "#", "# ", "## ", ">", "> ", "-", "- ", "---", "+ ", "• ",
      "*", "**",
      "_", "`", "```", "~~~", "[", "](https://example.org)", "https://example.org/a_b ", "\\",
      "12. ", "7) ", "@ann ",
      "#tea", "\n", "\n", "é", "👩‍🚀",
    ]
    var random = SplitMix64(seed: seed)
    for _ in 0..<100 {
      let text = (0..<Int.random(in: 1...14, using: &random))
        .map { _ in words.randomElement(using: &random) ?? "" }.joined()
      let lines = text.split(separator: "\n").map {
        Array($0.split(separator: " ").joined(separator: " "))
      }
      var meant: [String] = []
      for line in LightMarkdown.lines(of: lines) {
        var start = ""
        switch line.kind {
        case .fence, .rule: continue
        case .item(let isNumbered): start = isNumbered ? String(line.marker) : "• "
        case .code, .heading, .quote, .table, .text: break
        }
        let shown = line.runs.map { String($0.units.dropFirst($0.signs).dropLast($0.signs)) }
        meant.append(start + shown.joined())
      }
      let excerpt = MarkupExcerpt.line(of: text, limit: 1_000, blank: " ", bullet: ["•"]) {
        Array(String(String.UnicodeScalarView($0)))
      }
      #expect(
        String(excerpt) == meant.filter { !$0.isEmpty }.joined(separator: " "),
        "\(text.debugDescription)"
      )
    }
  }
}
