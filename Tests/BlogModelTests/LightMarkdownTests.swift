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

  @Test(
    "is read in a number of looks that grows as the text does, whatever that is",
    arguments: [
      "*a ", "**a", "_a _", "`", "``a", "[", "[x](", "[x](http://", "> ", "http://", "- ", "#a ",
      "***", "@a", "_a_", "[a](", "\\",
    ]
  )
  func hostileLength(pattern: String) {
    func looks(_ length: Int) -> Int {
      let looks = Watched.Looks()
      let line = String(repeating: pattern, count: length / pattern.count).map {
        Watched(character: $0, looks: looks)
      }
      _ = LightMarkdown.lines(of: [line])
      return looks.count.load(ordering: .relaxed)
    }
    // Both texts are longer than the farthest reach of a sign. Quadratic time would mean a factor
    // of four.
    let (short, long) = (looks(4_000), looks(8_000))
    #expect(long <= 3 * short, "\(short) looks became \(long)")
  }

  @Test(
    "An excerpt means what the whole text means, also where a line is taken as plain",
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
        case .code, .heading, .quote, .text: break
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
