import BlogModel
import Testing

@Suite("Lookalike names")
struct NameBookTests {
  private func shown(_ names: (uid: String, name: String)...) -> [String] {
    var book = NameBook()
    for (uid, name) in names { book.learn(Author(uid: uid, name: name)) }
    return names.map { book.shown(Author(uid: $0.uid, name: $0.name)) }
  }

  @Test("A name used by one account is shown unchanged, even after a rename")
  func plain() {
    #expect(shown(("1", "alice"), ("2", "bob"), ("1", "Alice")) == ["alice", "bob", "Alice"])
  }

  @Test(
    "Two accounts with lookalike names each get a distinct mark",
    arguments: [
      ("alice", "alice"), ("alice", "Alice"), ("alice", "аlice"), ("bob", "b0b"), ("bob", " bob"),
      ("bill", "biIl"), ("Jose", "José"), ("maria", "ma\u{200B}ria"), ("maria", "maria\u{3164}"),
      ("maria", "\u{2800}maria"), ("corn", "com"),
      ("alice", "ａｌｉｃｅ"), ("Ольга", "ольгa"),
    ]
  )
  func twins(first: String, second: String) {
    let names = shown(("account-1", first), ("account-2", second), ("account-3", "zoe"))
    #expect(names[0] == "~\(NameBook.mark(of: "account-1")) \(first)")
    #expect(names[1] == "~\(NameBook.mark(of: "account-2")) \(second)")
    #expect(names[2] == "zoe")
    #expect(names[0].prefix(6) != names[1].prefix(6))
  }

  @Test(
    "Clearly different names are shown unchanged",
    arguments: [("alice", "alina"), ("漢", "字"), ("a", "b")]
  )
  func different(first: String, second: String) {
    #expect(shown(("1", first), ("2", second)) == [first, second])
  }

  @Test("Marks are short and distinct and depend only on the account")
  func marks() {
    let marks = Set((0..<2_000).map { NameBook.mark(of: "account-\($0)") })
    #expect(marks.count == 2_000)
    #expect(marks.allSatisfy { $0.count == 5 })
  }
}
