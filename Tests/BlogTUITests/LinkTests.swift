import BlogModel
import Testing

@testable import BlogTUI

@Suite("Links")
struct LinkTests {
  @Test("Closing punctuation is not part of a link")
  func ends() {
    func links(_ text: String) -> [String] { Link.all(in: text).map(\.text) }
    #expect(links("See https://example.org/a.") == ["https://example.org/a"])
    #expect(links("(http://a.b/c)") == ["http://a.b/c"])
    #expect(links("http://a.b/c_(d) x") == ["http://a.b/c_(d)"])
    #expect(links("<https://a.b>, https://c.d!") == ["https://a.b", "https://c.d"])
    #expect(links("https:// ftp://a javascript:x file:///etc") == [])
  }

  @Test("A link ends at control characters")
  func hostile() {
    #expect(Link.all(in: "http://a.b/\u{1B}]52;c").map(\.text) == ["http://a.b/"])
    #expect(Link.all(in: "http://a.b/\u{202E}x").map(\.text) == ["http://a.b/"])
  }
}
