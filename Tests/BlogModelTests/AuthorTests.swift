import BlogModel
import Testing

@Suite("User name")
struct AuthorTests {
  @Test(
    "maps to a valid, distinct key",
    arguments: [
      ("alice", "alice"), ("john.doe", "john%2Edoe"), ("a/b", "a%2Fb"), ("50%", "50%25"),
      ("[x]#$", "%5Bx%5D%23%24"), ("花子", "花子"), ("two words", "two words"),
      ("❤\u{FE0F}", "❤\u{FE0F}"),
    ]
  )
  func key(name: String, uid: String) throws {
    let author = try Author(userName: name)
    #expect(author.uid == uid)
    #expect(author.name == name)
  }

  @Test("has no blanks at its ends", arguments: [" bob", "bob ", "\u{3000}bob\u{A0}", "\tbob"])
  func blanks(name: String) throws {
    #expect(try Author(userName: name) == Author(uid: "bob", name: "bob"))
  }

  @Test(
    "is rejected if empty, too long or invisible",
    arguments: [
      "", "   ", "a\nb", "a\u{202E}b", "\u{200B}", "a\u{3164}b", "bob\u{2800}",
      String(repeating: "x", count: 41),
    ]
  )
  func refused(name: String) {
    #expect(throws: Author.NameError.self) { try Author(userName: name) }
  }
}
