import RealtimeCore
import RealtimeServer
import Testing

@Suite("Regular expressions of rules")
struct RegexTests {
  private func result(_ pattern: String, _ text: String) throws -> ProbeResult {
    try RuleProbe().result("'\(text)'.matches(\(pattern))")
  }

  @Test(
    "A control character is found anywhere, and similar characters are not",
    arguments: ["\u{0}", "\u{1F}", "\u{7F}", "\u{80}", "\u{9F}"]
  )
  func controls(_ character: String) throws {
    let rules = try RuleSet(
      source: #"""
        {"rules":{".write":"newData.val().matches(/[\u0000-\u001f\u007f-\u009f]/)"}}
        """#
    )
    func isFound(_ text: String) -> Bool {
      rules.canWrite([.root], by: .nobody, now: 0, from: .empty, to: .string(text)).isAllowed
    }
    for length in 0..<20 {
      for plain in ["a", "~", " ", "é", "\u{A0}", "🐵", "\u{FFFD}"] {
        let text = String(repeating: plain, count: length)
        #expect(!isFound(text))
        #expect(isFound(text + character) && isFound(character + text))
        #expect(isFound(text + character + text))
      }
    }
  }

  @Test("The matcher agrees with a reference matcher on small patterns")
  func agreesWithOracle() throws {
    let atoms = ["a", "b", ".", "[ab]", "[^a]", "(a|b)", "(ab)", "(a*b)"]
    let suffixes = ["", "*", "+", "?", "{2}", "{1,2}"]
    let texts = ["", "a", "b", "ab", "ba", "aab", "abab", "bbb", "c", "ac"]
    for first in atoms {
      for suffix in suffixes {
        for second in atoms {
          let pattern = first + suffix + second
          let regex = try Regex(pattern)
          for text in texts {
            let expected = text.firstMatch(of: regex) != nil
            #expect(
              try result("/\(pattern)/", text) == (expected ? .yes : .no),
              "\(pattern) \(text)"
            )
          }
        }
      }
    }
  }

  @Test("The nesting of groups is limited")
  func depth() throws {
    func nested(_ depth: Int) -> String {
      String(repeating: "(", count: depth) + "a" + String(repeating: ")", count: depth)
    }
    #expect(try result("/\(nested(RulesLimits.regexDepth))/", "a") == .yes)
    #expect(
      try RuleProbe().result("'x'.matches(/\(nested(RulesLimits.regexDepth + 1))/)") == .rejected
    )
  }

  @Test("Repeated empty patterns compile at once")
  func emptyRepetition() throws {
    var pattern = "a{0}"
    for _ in 0..<20 { pattern = "(\(pattern)){1000}" }
    #expect(try result("/^\(pattern)b/", "b") == .yes)
  }
}
