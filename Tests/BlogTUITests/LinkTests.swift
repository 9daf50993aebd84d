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

  @Test("A link with shell metacharacters is opened unchanged")
  func inert() {
    let text = "http://a.b/;rm%20-rf$(x)&y"
    #expect(Link.all(in: text).map(\.text) == [text])
    var model = Fixture.loaded()
    var post = Fixture.posts[0]
    post.body = text
    model.send(.blog(.feed(.recent, posts: [post])))
    model.type("o")
    #expect(model.type(.enter) == [.environment(.openLink(text))])
  }

  @Test("A link ends at control characters")
  func hostile() {
    #expect(Link.all(in: "http://a.b/\u{1B}]52;c").map(\.text) == ["http://a.b/"])
    #expect(Link.all(in: "http://a.b/\u{202E}x").map(\.text) == ["http://a.b/"])
  }

  @Test("y copies the post, or the selected comment")
  func copying() {
    var model = Fixture.opened()
    #expect(
      model.type("y") == [
        .terminal(.copy(Fixture.posts[1].title + "\n\n" + Fixture.longBody + "\n"))
      ]
    )
    model.type("G")
    #expect(model.type("y") == [.terminal(.copy("Thank you both."))])
  }
}
