import Testing

@testable import BlogModel

@Suite("Text limits")
struct BoundsTests {
  private static let titles: [(String, String?)] = [
    ("t", nil), ("e\u{301}", nil), ("👨‍👩‍👧", nil), (String(repeating: "x", count: 300), nil),
    (String(repeating: "x", count: 301), "The title is 1 character too long."),
    (String(repeating: "😀", count: 151), "The title is 2 characters too long."),
    ("one\ntwo", "The title has more than one line."),
    ("one\r\ntwo", "The title has more than one line."),
    ("a\tb", "The title has a control character, U+0009."),
    ("a\u{1B}[2J", "The title has a control character, U+001B."),
  ]

  @Test("A title is one visible line of at most 300 characters", arguments: titles)
  func title(text: String, problem: String?) {
    #expect(BlogBounds.problem(title: text, body: "b")?.description == problem)
  }

  @Test(
    "Text without visible characters counts as empty",
    arguments: ["", " ", "\n", "\u{200B}", "\u{2060}\u{FE0F}", "\u{3164}", "\u{2800}", "\u{301}"]
  )
  func blank(text: String) {
    let sentence = "Neither title nor body can be empty."
    #expect(BlogBounds.problem(title: text, body: "b")?.description == sentence)
    #expect(BlogBounds.problem(title: "t", body: text)?.field == .body)
    #expect(BlogBounds.problem(comment: text)?.description == "A comment cannot be empty.")
  }

  @Test("Everything within the limits is shown; longer text ends with a note")
  func shown() {
    let body = String(repeating: "x", count: 65_536)
    let pairs = String(repeating: "😀", count: 5_000)
    var post = Post(id: "p", uid: "u", author: "a", title: "t", body: body)
    #expect(post.shownBody == body)
    post.body += "y"
    #expect(post.shownBody == body + "\n\nThe rest is not shown: 65536 characters are allowed.")
    let comment = Comment(id: "c", uid: "u", author: "a", text: pairs)
    #expect(comment.shownText == pairs)
    let longer = Comment(id: "c", uid: "u", author: "a", text: "x" + pairs)
    #expect(longer.shownText.hasPrefix("x" + pairs.dropLast() + "\n\nThe rest is not shown"))
  }

  @Test("Bodies and comments may have several lines and have separate length limits")
  func texts() {
    #expect(BlogBounds.problem(title: "t", body: "one\n\ttwo") == nil)
    let body = String(repeating: "x", count: 65_536)
    #expect(BlogBounds.problem(title: "t", body: body) == nil)
    #expect(
      BlogBounds.problem(title: "t", body: body + "xx")?.description
        == "The text is 2 characters too long."
    )
    let comment = String(repeating: "x", count: 10_000)
    #expect(BlogBounds.problem(comment: comment) == nil)
    #expect(BlogBounds.problem(comment: comment + "x")?.field == .comment)
    #expect(BlogBounds.problem(comment: "a\u{0}b") != nil)
  }

  @Test("A name has no more combining marks than the rules allow")
  func name() throws {
    #expect(throws: Author.NameError.self) {
      try Author(userName: String(repeating: "e\u{301}\u{301}\u{301}\u{301}\u{301}", count: 40))
    }
    #expect(try Author(userName: "Zoe\u{308}").name == "Zoe\u{308}")
  }

  @Test("Rejected titles are not written, and accepted ones pass the blog check")
  func written() async throws {
    let server = try await BlogServer()
    let blog = try server.blog("alice")
    let id = try await blog.post(title: "t", body: "b")
    for (title, problem) in Self.titles {
      guard let problem else {
        try await blog.perform(.edit(id, title: title, body: "b"))
        continue
      }
      await #expect(throws: BlogError.invalidText(problem)) {
        try await blog.post(title: title, body: "b")
      }
      await #expect(throws: BlogError.invalidText(problem)) {
        try await blog.perform(.edit(id, title: title, body: "b"))
      }
    }
    let check = try await server.check()
    #expect(check.faults == [])
    #expect(check.postCount == 1)
  }
}
