import Testing

@testable import BlogTUI

@Suite("TOML strings")
struct TOMLStringTests {
  @Test(
    "A quoted string stays on one line and is read again as it was, also by the TOML parser",
    arguments: [
      "", "k\n", "a\r\nb", "\t\u{1B}[31m\u{7F}\u{85}\u{1}", #"C:\new "x" \\"#, "\u{301}x\u{FE0F}",
      "a\"\u{301}", "\u{2028}#'=[]", "👩‍👩‍👧",
    ]
  )
  func roundTrip(text: String) throws {
    let quoted = TOMLString.quoted(text)
    #expect(!quoted.contains(where: \.isNewline) || text.contains("\u{2028}"))
    var rest = "\(quoted) # comment"[...]
    #expect(TOMLString.read(&rest) == text)
    #expect(rest == " # comment")
    let document = TOMLDocument("a = \(quoted)")
    #expect(document.faults.isEmpty)
    #expect(document.entries.first?.value == text)
  }

  @Test("All escapes of TOML are read, and no others")
  func escapes() {
    var all = #""\b\t\n\f\r\"\\\u00e9\U0001F600""#[...]
    #expect(TOMLString.read(&all) == "\u{8}\t\n\u{C}\r\"\\é😀")
    for text in [#""\q""#, #""\u12""#, #""\u+123""#, #""\ud800""#, #""\"#, #""a"#, "a\"", ""] {
      var rest = text[...]
      #expect(TOMLString.read(&rest) == nil, "\(text)")
    }
  }
}
