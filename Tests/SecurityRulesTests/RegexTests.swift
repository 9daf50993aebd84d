import RealtimeCore
import RealtimeServer
import Testing

@Suite("Regular expressions of rules")
struct RegexTests {
  private func result(_ pattern: String, _ text: String) throws -> ProbeResult {
    let literal =
      text.replacing("\\", with: "\\\\").replacing("'", with: "\\'").replacing("\n", with: "\\n")
    return try RuleProbe().result("'\(literal)'.matches(\(pattern))")
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

  @Test(
    "The supported subset matches as a search",
    arguments: [
      ("/b/", "abc", true), ("/^b/", "abc", false), ("/^abc$/", "abc", true),
      ("/^ab$/", "abc", false), ("/c$/", "abc", true), ("/b$/", "abc", false), ("/^/", "", true),
      ("/$/", "x", true), ("/^$/", "", true), ("/^$/", "x", false), ("/a.c/", "abc", true),
      ("/a.c/", "a\nc", false), ("/a.c/", "a\u{1F435}c", true), ("/^.$/", "\u{1F435}", true),
      ("/[a-c]x/", "bx", true), ("/[a-c]x/", "dx", false), ("/[^a-c]x/", "dx", true),
      ("/[^a-c]x/", "ax", false), ("/[a-z_]+$/", "ab_c", true), ("/^[a-]$/", "-", true),
      ("/^[-a]$/", "-", true), ("/^[.]$/", "x", false), ("/^[\\]]$/", "]", true),
      ("/^[/]$/", "/", true), ("/^\\/$/", "/", true), ("/^[$^]$/", "^", true),
      ("/^[a^]$/", "^", true), ("/^[\\d_]+$/", "1_2", true), ("/^[^\\d]$/", "1", false),
      ("/^[\\D]$/", "x", true), ("/^[\\W\\d]+$/", "1!", true), ("/^[^\\W]$/", "a", true),
      ("/^\\d+$/", "0123456789", true), ("/^\\d$/", "\u{663}", false), ("/^\\D$/", "x", true),
      ("/^\\w+$/", "aZ_09", true), ("/^\\w$/", "-", false), ("/^\\W$/", "é", true),
      ("/^\\s$/", "\t", true), ("/^\\s$/", "\u{A0}", true), ("/^\\S$/", " ", false),
      ("/\\S/", " \n ", false), ("/^a*$/", "", true), ("/^a*$/", "aaa", true),
      ("/^a*$/", "ab", false), ("/^a+$/", "", false), ("/^a?b$/", "b", true),
      ("/^a?b$/", "aab", false), ("/^a{2}$/", "aa", true), ("/^a{2}$/", "aaa", false),
      ("/^a{2,}$/", "aaaa", true), ("/^a{2,}$/", "a", false), ("/^a{1,3}$/", "aaa", true),
      ("/^a{1,3}$/", "aaaa", false), ("/^a{0}$/", "", true), ("/^a{0,2}b$/", "aab", true),
      ("/^(ab)+$/", "abab", true), ("/^(ab)+$/", "aba", false), ("/^(a|b)+$/", "abba", true),
      ("/^(foo|bar|baz)$/", "bar", true), ("/^(foo|bar|baz)$/", "fo", false),
      ("/a|b/", "xb", true), ("/^a|b$/", "ax", true), ("/^a|b$/", "xb", true),
      ("/^a|b$/", "xbx", false), ("/^((a|b)c)*d$/", "acbcd", true), ("/(a*)*b/", "aab", true),
      ("/^(a*)*$/", "b", false), ("/^(a?){3}$/", "aa", true), ("/abc/i", "xABCx", true),
      ("/^[a-z]+$/i", "AbC", true), ("/^[^a-z]$/i", "A", false), ("/É/i", "é", true),
      ("/^ä$/i", "Ä", true), ("/\\./", "a.b", true), ("/^\\.$/", "x", false),
      ("/^\\(\\)\\[\\]\\{\\}\\*\\+\\?\\|\\^\\$\\\\$/", "()[]{}*+?|^$\\", true),
      ("/^\\-\\_\\@$/", "-_@", true), ("/^\\e$/", "e", true), ("/{foo}/", "x{foo}", true),
      ("/*a/", "*a", true), ("/+a/", "a", false), ("/(?a)/", "a", nil), ("/(*a)/", "*a", true),
      ("/*+/", "***", true), ("/a]/", "a]", true), ("/a}/", "a}", true), ("/é/", "e\u{301}", false),
      ("/^[\u{1}-\u{1F}]$/", "\u{1}", true),
      ("/é/", "aé", true), ("/[à-ü]/", "x🐵ö", true), ("/[à-ü]/", "x🐵ÿ", false),
      ("/[ö-üà-ä文]/", "â", true), ("/[ö-üà-ä文]/", "û", true), ("/[ö-üà-ä文]/", "é", false),
      ("/^\\s$/", "\u{FEFF}", true),
      ("/[^é]/", "éé", false), ("/[^é]/", "éè", true), ("/[\u{1F400}-\u{1F4FF}]/", "aé🐵", true),
      ("/[^a]/", "aa🐵", true), ("/[\u{3000}]/", "文\u{3000}", true), ("/\\S/", "\u{3000}文", true),
      (
        "/^[a-z0-9._%+-]+@[a-z0-9.-]+\\.[a-z]{2,4}$/i",
        "Some.One@Example.com", true
      ),
      (
        "/^(19|20)[0-9][0-9][-\\/. ](0[1-9]|1[012])[-\\/. ](0[1-9]|[12][0-9]|3[01])$/",
        "2026-11-21", true
      ),
    ] as [(String, String, Bool?)]
  )
  func matches(_ pattern: String, _ text: String, _ expected: Bool?) throws {
    let result = try result(pattern, text)
    #expect(result == (expected.map { $0 ? .yes : .no } ?? .rejected))
  }

  @Test(
    "Syntax outside the subset is rejected",
    arguments: [
      "/(^foo$|bar)/", "/a^b/", "/a$b/", "/(a$)/", "/(^a)/", "/a|^b/", "/a$|b/", "/^(foo|)$/",
      "/(|foo)/", "/()/", "/a||b/", "/|a/", "/a|/", "//", "/a**/", "/a*?/", "/a+?/", "/a??/",
      "/a++/", "/a{2}?/", "/a{2}{3}/", "/a|*b/", "/^*/", "/^+a/", "/(?:a)/", "/(?=a)/", "/(?!a)/",
      "/(?<=a)/", "/(?<n>a)/", "/a\\b/", "/\\B/", "/(a)\\1/", "/\\0/", "/\\p{L}/", "/\\x41/",
      "/\\u0041/", "/\\cA/", "/\\k<n>/", "/a\\n/", "/[\\t]/", "/[\\b]/", "/[]/", "/[^]/", "/[a/",
      "/[z-a]/", "/[a-\\d]/", "/a{/", "/a{x}/", "/a{,3}/", "/a{3,2}/", "/a{2/", "/(a/", "/a)/",
      "/a\\/", "/a{5000}/", "/((a{100}){100}){100}/", "/a{99999999999999999999}/",
    ]
  )
  func rejected(_ pattern: String) throws {
    #expect(try RuleProbe().result("'x'.matches(\(pattern))") == .rejected)
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
