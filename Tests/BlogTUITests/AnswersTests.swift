import BlogModel
import Testing

@testable import BlogTUI

@Suite("Answers to comments")
struct AnswersTests {
  static func comment(
    _ id: String,
    to parent: String? = nil,
    by author: String = "bob"
  )
    -> BlogComment
  {
    BlogComment(
      id: id,
      uid: author,
      author: author,
      text: "text of \(id)",
      parent: parent,
      createdAt: Fixture.now
    )
  }

  /// Two threads: c1 with c3 and, below it, c4; and c2 with c5.
  static let comments = [
    comment("c1"), comment("c2", by: "mei"), comment("c3", to: "c1", by: "alice"),
    comment("c4", to: "c3"), comment("c5", to: "c2", by: "alice"),
  ]

  static func model(
    _ comments: [BlogComment] = comments,
    size: Size = Size(width: 80, height: 30)
  ) -> Model {
    var model = Fixture.loaded(size)
    model.type("j", .enter)
    model.send(.blog(.post("p11", Fixture.posts[1])))
    model.send(.blog(.comments("p11", comments)))
    return model
  }

  private func shown(_ comments: [BlogComment], folded: Set<String> = []) -> [String] {
    CommentThreads.rows(of: comments, folded: folded).map {
      String(repeating: ">", count: $0.depth) + $0.comment.id
        + ($0.isFolded ? "+\($0.answers)" : "")
    }
  }

  @Test("stand below what they answer")
  func order() {
    #expect(shown(Self.comments) == ["c1", ">c3", ">>c4", "c2", ">c5"])
    #expect(shown(Self.comments, folded: ["c1"]) == ["c1+2", "c2", ">c5"])
    #expect(shown(Self.comments, folded: ["c3", "c4"]) == ["c1", ">c3+1", "c2", ">c5"])
  }

  @Test("are comments like any other when what they answer is not there")
  func strangers() {
    let odd = [
      Self.comment("c1", to: "c2"), Self.comment("c2", to: "c1"), Self.comment("c3", to: "c3"),
      Self.comment("c4", to: "gone"), Self.comment("c5", to: "\u{1B}[2J"),
    ]
    #expect(shown(odd) == ["c1", ">c2", "c3", "c4", "c5"])
  }

  @Test("of a chain as long as somebody likes are all shown, in the width there is")
  func chain() {
    let chain = (0..<3_000).map { number in
      let id = "c\(10_000 + number)"
      return Self.comment(id, to: number == 0 ? nil : "c\(9_999 + number)")
    }
    #expect(CommentThreads.rows(of: chain, folded: []).map(\.depth) == Array(0..<3_000))
    var model = Self.model(chain, size: Size(width: 20, height: 10))
    model.type("G")
    #expect(model.openPost?.selection == chain.last?.id)
    #expect(model.rows.contains { $0.contains("text of") })
  }

  @Test("r answers the selected comment, and the answer knows it")
  func answering() {
    var model = Self.model()
    model.type("G", "k")
    #expect(model.openPost?.selection == "c2")
    model.type("r")
    #expect(model.rows.contains { $0.contains("Your answer to mei") })
    model.type("Yes")
    #expect(model.rows.contains { $0.contains(" To mei ") })
    #expect(model.type(.enter).last == .comment("p11", text: "Yes", answering: Self.comments[1]))
    // The next one is about the post again.
    model.type("c", "And so on")
    #expect(model.type(.enter).last == .comment("p11", text: "And so on"))
  }

  @Test("r without a comment comments on the post, and an answer left empty is none")
  func noComment() {
    var model = Self.model()
    model.type("r", "Hello")
    #expect(model.type(.enter).last == .comment("p11", text: "Hello"))
    model.type("G", "r", .escape, "g", "g", "c", "Hm")
    #expect(model.type(.enter).last == .comment("p11", text: "Hm"))
  }

  @Test("z hides and shows answers, Z all of them, and the count stays")
  func folding() {
    var model = Self.model()
    model.type("G", "k", "k")
    #expect(model.openPost?.selection == "c4")
    model.type("z")
    #expect(model.openPost?.comments?.map(\.id) == ["c1", "c3", "c2", "c5"])
    #expect(model.openPost?.selection == "c3")
    #expect(model.rows.contains { $0.contains("▶ 1 answer") })
    #expect(model.rows.contains { $0.contains("5 comments") })
    model.type("Z")
    #expect(model.openPost?.comments?.count == 5)
    model.type("Z")
    #expect(model.openPost?.comments?.map(\.id) == ["c1", "c2"])
    #expect(model.openPost?.selection == "c1")
    // An answer that comes is counted, and leaves what is read in its place.
    let more = Self.comments + [Self.comment("c6", to: "c4")]
    model.send(.blog(.comments("p11", more)))
    #expect(model.openPost?.comments?.map(\.id) == ["c1", "c2"])
    #expect(model.rows.contains { $0.contains("▶ 3 answers") })
    #expect(model.openPost?.newestComment == "c6")
    var flat = Self.model([Self.comment("c1")])
    flat.type("G", "z")
    #expect(flat.message?.text.string == "No answers here: select a comment that has some.")
    flat.type("Z")
    #expect(flat.message?.text.string == "No comment here has answers.")
  }

  @Test("of mine are shown when they arrive, also in a thread that is folded")
  func mine() {
    var model = Self.model()
    model.type("Z")
    model.send(.commented("p11", commentID: "c7"))
    let more = Self.comments + [Self.comment("c7", to: "c3", by: "alice")]
    model.send(.blog(.comments("p11", more)))
    #expect(model.openPost?.comments?.map(\.id) == ["c1", "c3", "c4", "c7", "c2"])
  }

  @Test("that come in the middle leave what is read where it is")
  func middle() {
    var model = Self.model(size: Size(width: 80, height: 14))
    model.type("G")
    let before = model.rows
    let more = Self.comments + [Self.comment("c6", to: "c1")]
    model.send(.blog(.comments("p11", more)))
    #expect(model.openPost?.selection == "c5")
    #expect(
      model.rows.firstIndex { $0.contains("text of c5") }
        == before.firstIndex { $0.contains("text of c5") }
    )
  }

  @Test("A comment has lines, and its field grows with them")
  func lines() {
    var model = Self.model()
    model.type("c", "One", .key(.alt(.enter)), "Two", .control("j"), "Three")
    #expect(model.openPost?.field.text == "One\nTwo\nThree")
    #expect(model.openPost?.fieldHeight == 3)
    let rows = model.rows
    #expect(rows[25].hasPrefix("› One"))
    #expect(rows[27].hasPrefix("  Three"))
    #expect(model.type(.enter).last == .comment("p11", text: "One\nTwo\nThree"))
    #expect(model.openPost?.fieldHeight == 1)
    // However much is typed, there is room for what is answered.
    model.type("c", .paste(String(repeating: "line\n", count: 100)))
    #expect(model.openPost?.fieldHeight == model.session.fieldLimit)
    #expect(model.rows.contains { $0.contains("Notes from a slow train") })
  }

  @Test("^E opens the comment in the editor, and brings it back")
  func editor() {
    var model = Self.model()
    model.type("c", "begun")
    #expect(model.type(.control("e")) == [.editTextExternally("begun")])
    model.send(.editedText("begun\nand ended"))
    #expect(model.openPost?.field.text == "begun\nand ended")
    #expect(model.openPost?.fieldHeight == 2)
  }
}
