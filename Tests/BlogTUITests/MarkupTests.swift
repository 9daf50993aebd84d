import BlogModel
import Testing

@testable import BlogTUI

@Suite("Light markup")
struct MarkupTests {
  private static let signs = Markup.Signs(.unicode)

  private func lines(
    _ text: String,
    width: Int = 80,
    signs: Markup.Signs = signs
  ) -> [MarkedLine] {
    let safe = SafeText(untrusted: text, mode: .multiLine)
    return Markup.lines(of: safe, width: width, signs: signs)
  }

  /// The text with its styles in braces: `a {very:emphasis} good`.
  private func shown(
    _ text: String,
    width: Int = 80,
    signs: Markup.Signs = signs
  ) -> [String] {
    lines(text, width: width, signs: signs).map { line in
      var result = ""
      var index = 0
      func text(to end: Int) {
        let clusters = Array(line.text.clusters[index..<end])
        result += SafeText(clusters: clusters, lineBreaks: []).string
        index = end
      }
      for part in line.parts {
        text(to: part.range.lowerBound)
        result += "{"
        text(to: part.range.upperBound)
        result += ":" + part.looks.map { "\($0)" }.sorted().joined(separator: "+") + "}"
      }
      text(to: line.text.clusters.count)
      return result
    }
  }

  @Test(
    "Markup is rendered",
    arguments: [
      ("a *very* good", "a {very:emphasis} good"),
      ("_so_ and **so**", "{so:emphasis} and {so:strong}"),
      ("***both***", "{both:emphasis+strong}"),
      ("**a *b* c**", "{a :strong}{b:emphasis+strong}{ c:strong}"),
      ("`**code**` x", "{**code**:code} x"), ("``a`b``", "{a`b:code}"),
      ("# Heading", "{Heading:heading}"), ("- item", "{• :added}item"), ("12. item", "12. item"),
      ("> quote", "{│ :added}{quote:quote}"), ("* * *", "{────────────────────────:added}"),
      ("see https://x.org/a.", "see {https://x.org/a:link}."),
      ("[book](https://x.org/a)", "{book:link}{ (x.org):added}"),
      ("[x.org](https://x.org)", "{x.org:link}"),
      ("#tea for @bob", "{#tea:link} for {@bob:link}"), (#"\*no\*"#, "*no*"),
      ("*漢字*です", "{漢字:emphasis}です"),
    ]
  )
  func markup(text: String, expected: String) {
    #expect(shown(text) == [expected])
  }

  @Test(
    "Text that only resembles markup stays unchanged",
    arguments: [
      "snake_case_word", "2 * 3 * 4", "a * b", "**", "*a", "a*", "** a **", "`a",
      "#1 is not",
      "####### seven", "#no-blank but a tag", "-item", "1.item", "12345. item", "[a](b)", "[a]",

      "[a](javascript:alert(1))", "*a\u{301}", "http://", "mail a@b.org",
      "___",
    ]
  )
  func text(text: String) {
    let line = SafeText(untrusted: text, mode: .multiLine)
    let isMarked = text == "___" || text.hasPrefix("#no")
    #expect(isMarked || lines(text) == [MarkedLine(line)])
  }

  @Test("A code block keeps its content up to its fence or the end of the text")
  func code() {
    #expect(
      shown("a\n```swift\n# *x*\n\n```\n# b") == [
        "a", "  {# *x*:code}", "  ", "{b:heading}",
      ]
    )
    let long = ["  {  one two:code}", "      {three:code}"]
    #expect(shown("```\n  one two three", width: 16) == long)
    #expect(shown("```\n  one two three", width: 17) == ["  {  one two three:code}"])
    #expect(shown("~~~\n```\n*x*") == ["  {```:code}", "  {*x*:code}"])
  }

  @Test("Code keeps its marks where colours do not set it off")
  func marks() {
    let signs = Markup.Signs(.ascii, keepsMarks: true)
    #expect(shown("a `b`", signs: signs) == ["a {`b`:code}"])
    let lines = ["{```sh:added}", "  {ls:code}", "{```:added}"]
    #expect(shown("```sh\nls\n```", signs: signs) == lines)
    var model = Fixture.loaded()
    #expect(model.session.sourceView == .marked(.unicode, keepsMarks: false))
    model.session.display.theme = Theme.ember.withoutColors
    #expect(model.session.sourceView == .marked(.unicode, keepsMarks: true))
    model.session.display.theme = .ember
    model.session.display.configuration.colorCount = 0
    #expect(model.session.sourceView == .marked(.unicode, keepsMarks: true))
  }

  @Test(
    "Code has the colours of its language",
    arguments: [
      ("swift\nlet x = 0x1F // two", "{let:keyword} x = {0x1F:number} {// two:comment}"),
      ("Swift\n@main \"a\\\"let\" lets", "{@main:keyword} {\"a\\\"let\":string} lets"),
      ("c++\n#include 'a' /* int", "{#include:keyword} {'a':string} {/* int:comment}"),
      ("py\nif x#1: # no", "{if:keyword} x#{1:number}: {# no:comment}"),
      ("rust\nfn a<'b>() -> 1.5", "{fn:keyword} a<'b>() -> {1.5:number}"),
      ("sh\nif [ $# = 0 ]; then", "{if:keyword} [ $# = {0:number} ]; {then:keyword}"),
      (
        "SQL\nSELECT 'it' From x1 -- all",
        "{SELECT:keyword} {'it':string} {From:keyword} x1 {-- all:comment}"
      ),
      ("json\n[\"a\", true, 2.]", "[{\"a\":string}, {true:keyword}, {2:number}.]"),
      ("html\n<a b=\"c\"> <!-- d -->", "<a b={\"c\":string}> {<!-- d -->:comment}"),
      ("nothing\nlet x = 1", "let x = 1"), ("\nlet x = 1", "let x = 1"),
    ]
  )
  func codeColors(text: String, expected: String) {
    let marked = shown("```" + text).map { line in
      String(
        line.dropFirst(2).replacing(":code+", with: ":")
          .replacing(/\{([^{}]*):code\}/) { $0.output.1 }
      )
    }
    #expect(marked == [expected])
  }

  @Test("Comments and long strings go on in the next line, other strings do not")
  func openCode() {
    func looks(_ text: String) -> [[Set<MarkedLine.Look>]] {
      lines(text).map { $0.parts.map(\.looks) }
    }
    #expect(looks("```js\n/* a\nb */ c")[1] == [[.code, .comment], [.code]])
    #expect(looks("```swift\n\"\"\"\nlet\n\"\"\"")[1] == [[.code, .string]])
    #expect(looks("```c\n\"a\nb")[1] == [[.code]])
    #expect(looks("```c\n/* a\n```\n```c\nb").last == [[.code]])
  }

  @Test("The columns of a table are aligned, and wide cells wrap")
  func tables() {
    let text = "| a | `b` | c |\n|---|:-:|--:|\n| one | 漢字 | 1 |\n| *two* | x |\nend"
    let rows = [
      "a   │  b   │ c", "────┼──────┼──", "one │ 漢字 │ 1", "two │  x   │", "end",
    ]
    #expect(lines(text).map { trimmed($0) } == rows)
    #expect(shown("|a|\n|-|\n|`b` https://x.org|")[2] == "{b:code} {https://x.org:link}")
    let narrow = "a | some words in it\n-|-\n1 | more of these words"
    #expect(
      lines(narrow, width: 15).map { trimmed($0) } == [
        "a │ some words", "  │ in it", "──┼────────────", "1 │ more of", "  │ these words",
      ]
    )
    #expect(lines(text + "\n```\n|a|\n|-|\n```").last?.text.string == "  |-|")
  }

  @Test("Where the columns of a table do not fit, its cells are listed below each other")
  func narrowTables() {
    let text = "|first column|second column|\n|-|-|\n|one two|three four|\n|five|"
    #expect(
      lines(text, width: 18).map(\.text.string) == [
        "first column:", "  one two", "second column:", "  three four", "", "first column:",
        "  five",
      ]
    )
    #expect(lines("|first column|second column|\n|-|-|", width: 14).count == 2)
    #expect(lines("|a|\n|-|-|").map(\.text.string) == ["|a|", "|-|-|"])
    let many =
      String(repeating: "|a", count: 10_000) + "\n" + String(repeating: "|-", count: 10_000)
    #expect(lines(many).allSatisfy { $0.text.width <= 80 })
  }

  private func trimmed(_ line: MarkedLine) -> String {
    var text = line.text.string[...]
    while text.last == " " { text.removeLast() }
    return String(text)
  }

  @Test("Lines wrap at the width, with a hanging indent for list items")
  func wrapping() {
    #expect(shown("- one two three", width: 9) == ["{• :added}one two", "  three"])
    #expect(shown("12. one two three", width: 11) == ["12. one two", "    three"])
    #expect(shown("  one two three", width: 9) == ["  one two", "  three"])
    #expect(shown("> one two three", width: 9).allSatisfy { $0.hasPrefix("{│ :added}") })
    #expect(shown("**one two**", width: 5) == ["{one:strong}", "{two:strong}"])
    #expect(lines("- 漢字", width: 1).allSatisfy { $0.text.width <= 1 })
    #expect(lines("text", width: 0) == [])
  }

  @Test("A link shows its host, whatever its label says")
  func labels() {
    #expect(
      shown("[bank.com](https://evil.example/)") == ["{bank.com:link}{ (evil.example):added}"]
    )
    #expect(shown("[a\u{202E}b](https://x.org)") == ["{ab:link}{ (x.org):added}"])
    let long = String(repeating: "a", count: 5_000)
    #expect(
      lines("[\(long)](https://x.org)").map(\.text.string).joined().contains("](https://x.org)")
    )
  }

  @Test("Rendering random text adds no unsafe characters, and every line fits")
  func hostile() {
    let pieces = [
      "*", "**", "_", "`", "```\n", "```swift\n", "\"", "/*", "|a", "|\n|-|-|\n|", "|-|\n", "#",
      "# ", "> ", "- ", "1. ", "[",
      "](", ")", "https://",
      "http://a",
      "\\", "~", "~~~\n", "@bob", "#tea", "\u{1B}]8;;x\u{7}", "\u{1B}[2J", "\u{9B}31m", "\u{202E}",
      "\u{200B}", "漢", "e\u{301}", "🎉", " ", "\n", "\t", "x", "\r", "---", "\u{7F}", "|",
    ]
    var random = SystemRandomNumberGenerator()
    for round in 0..<400 {
      let text = (0..<Int.random(in: 1...40, using: &random)).map { _ in
        pieces.randomElement(using: &random) ?? ""
      }.joined()
      let safe = SafeText(untrusted: text, mode: .multiLine)
      let own: Set<Cluster> = Set(
        (("•│─ (□)┼…" as SafeText)
          + SafeText(untrusted: "abcdefghijklmnopqrstuvwxyz.:/@#0123456789"))
          .clusters
      )
      let known = Set(safe.clusters).union(own)
      // An excerpt spells out bidirectional controls, as every single line does.
      let notes: SafeText = "• ⟨RLO⟩"
      let spelled = known.union(SafeText(untrusted: text).clusters).union(notes.clusters)
      let excerpt = Markup.excerpt(of: text, limit: 60, bullet: "•")
      #expect(excerpt.clusters.allSatisfy(spelled.contains), "\(text.debugDescription)")
      #expect(SafeText(untrusted: excerpt.string) == excerpt, "\(text.debugDescription)")
      let width = round % 30 + 1
      for line in Markup.lines(of: safe, width: width, signs: Self.signs) {
        #expect(line.text.width <= width, "\(text.debugDescription) at \(width)")
        #expect(line.text.clusters.allSatisfy(known.contains), "\(text.debugDescription)")
        #expect(SafeText(untrusted: line.text.string) == line.text, "\(text.debugDescription)")
        var end = 0
        for part in line.parts {
          #expect(part.range.lowerBound >= end && part.range.upperBound <= line.text.clusters.count)
          end = part.range.upperBound
        }
      }
    }
  }

  private func excerpt(_ text: String, limit: Int = 80) -> String {
    Markup.excerpt(of: text, limit: limit, bullet: "•").string
  }

  @Test(
    "The one-line excerpt omits markup and link addresses",
    arguments: [
      ("A *very* **good** `loaf`", "A very good loaf"), ("# Bread\n\nof rye", "Bread of rye"),
      ("[here](https://example.org/x) it is", "here it is"), ("> said\n> twice", "said twice"),
      ("| a | b |\n|---|:-:|\n| c | d |", "| a | b | | c | d |"),
      ("to buy:\n- milk\n2. eggs", "to buy: • milk 2. eggs"),
      ("```\nlet x = *y\n```\nso", "let x = *y so"), ("---\nso", "so"), ("---", ""), ("", ""),
      ("snake_case 2 * 3 [a](b) *open", "snake_case 2 * 3 [a](b) *open"),
      ("\tone\r\n\u{3000}two  three ", "one two three"), ("#tea for @bob", "#tea for @bob"),
      ("see https://x.org/a.", "see https://x.org/a."),
    ]
  )
  func excerpts(text: String, expected: String) {
    #expect(excerpt(text) == expected)
  }

  @Test("An excerpt counts what is seen, however many scalars that takes, and says where it ends")
  func excerptsOfManyScalars() {
    let family = "👨‍👩‍👧‍👦"
    #expect(excerpt(String(repeating: family, count: 99)) == String(repeating: family, count: 80))
    let marked = "e\u{301}\u{302}\u{303}\u{304}"
    let dots = String(repeating: marked, count: 99)
    #expect(excerpt(dots) == String(repeating: marked, count: 80))
    #expect(excerpt("a" + String(repeating: " ", count: 200) + "b") == "a b")
    let buried = "a" + String(repeating: "\u{301}", count: 20_000) + "b"
    #expect(excerpt(buried) == "a\u{301}\u{301}\u{301}\u{301}…")
    let row = PostRowPainter.textLines(
      String(repeating: family, count: 200),
      in: Size(width: 20, height: 2)
    )
    #expect(row.map(\.width) == [20, 19] && row.last?.string.hasSuffix("…") == true)
  }

  @Test("An excerpt handles markup that closes after its end and text after long addresses")
  func excerptsThatAreCut() {
    let words = Array(repeating: "word", count: 30).joined(separator: " ")
    #expect(excerpt("**\(words)**", limit: 9) == "word word")
    #expect(excerpt("**\(words)", limit: 9) == "**word wo")
    let address = "https://example.org/" + String(repeating: "a", count: 500)
    #expect(excerpt("[one](\(address))\n[two](\(address)) three", limit: 80) == "one two three")
    #expect(excerpt(String(repeating: "a ", count: 50_000), limit: 5) == "a a a")
  }
}
