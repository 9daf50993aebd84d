import BlogModel
import Foundation
import Testing

@testable import BlogTUI

@Suite("Replies to comments")
struct AnswersTests {
  /// Two threads: c1 with c3, which has c4 below it; and c2 with c5.
  static let comments = [
    BlogComment("c1"), BlogComment("c2", by: "mei"), BlogComment("c3", to: "c1", by: "alice"),
    BlogComment("c4", to: "c3"), BlogComment("c5", to: "c2", by: "alice"),
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

  @Test("Replies are shown below their comment")
  func order() {
    #expect(shown(Self.comments) == ["c1", ">c3", ">>c4", "c2", ">c5"])
    #expect(shown(Self.comments, folded: ["c1"]) == ["c1+2", "c2", ">c5"])
    #expect(shown(Self.comments, folded: ["c3", "c4"]) == ["c1", ">c3+1", "c2", ">c5"])
  }

  @Test("Replies to a missing comment are shown as ordinary comments")
  func strangers() {
    let odd = [
      BlogComment("c1", to: "c2"), BlogComment("c2", to: "c1"), BlogComment("c3", to: "c3"),
      BlogComment("c4", to: "gone"), BlogComment("c5", to: "\u{1B}[2J"),
    ]
    #expect(shown(odd) == ["c1", ">c2", "c3", "c4", "c5"])
  }

  @Test("A reply chain of any depth is shown completely within the screen width")
  func chain() {
    let chain = (0..<3_000).map { number in
      let id = "c\(10_000 + number)"
      return BlogComment(id, to: number == 0 ? nil : "c\(9_999 + number)")
    }
    #expect(CommentThreads.rows(of: chain, folded: []).map(\.depth) == Array(0..<3_000))
    var model = Self.model(chain, size: Size(width: 20, height: 10))
    model.type("G")
    #expect(model.openPost?.selection == chain.last?.id)
    #expect(model.rows.contains { $0.contains("text of") })
  }

  @Test("r replies to the selected comment")
  func answering() {
    var model = Self.model()
    model.type("G", "k")
    #expect(model.openPost?.selection == "c2")
    model.type("r")
    #expect(model.rows.contains { $0.contains("Your answer to mei") })
    model.type("Yes")
    #expect(model.rows.contains { $0.contains(" To mei ") })
    #expect(
      model.type(.enter).last == .write(.comment("p11", text: "Yes", answering: Self.comments[1]))
    )
    // The next comment is about the post again.
    model.type("c", "And so on")
    #expect(model.type(.enter).last == .write(.comment("p11", text: "And so on")))
  }

  @Test("r without a selected comment, or after a cancelled reply, comments on the post")
  func noComment() {
    var model = Self.model()
    model.type("r", "Hello")
    #expect(model.type(.enter).last == .write(.comment("p11", text: "Hello")))
    model.type("G", "r", .escape, "g", "g", "c", "Hm")
    #expect(model.type(.enter).last == .write(.comment("p11", text: "Hm")))
  }

  @Test("z folds the replies of a comment, Z all replies, and the count stays the same")
  func folding() {
    var model = Self.model()
    model.type("G", "k", "k")
    #expect(model.openPost?.selection == "c4")
    model.type("z")
    #expect(model.openPost?.comments.visible?.map(\.id) == ["c1", "c3", "c2", "c5"])
    #expect(model.openPost?.selection == "c3")
    #expect(model.rows.contains { $0.contains("▶ 1 answer") })
    #expect(model.rows.contains { $0.contains("5 comments") })
    model.type("Z")
    #expect(model.openPost?.comments.visible?.count == 5)
    model.type("Z")
    #expect(model.openPost?.comments.visible?.map(\.id) == ["c1", "c2"])
    #expect(model.openPost?.selection == "c1")
    // A new answer is counted, and what is being read keeps its position.
    let more = Self.comments + [BlogComment("c6", to: "c4")]
    model.send(.blog(.comments("p11", more)))
    #expect(model.openPost?.comments.visible?.map(\.id) == ["c1", "c2"])
    #expect(model.rows.contains { $0.contains("▶ 3 answers") })
    #expect(model.openPost?.comments.newest == "c6")
    var flat = Self.model([BlogComment("c1")])
    flat.type("G", "z")
    #expect(flat.message?.text.string == "No answers here: select a comment that has some")
    flat.type("Z")
    #expect(flat.message?.text.string == "No comment here has answers")
  }

  @Test("The user's own reply is shown on arrival, even in a folded thread")
  func mine() {
    var model = Self.model()
    model.type("Z")
    model.send(.commented("p11", commentID: "c7"))
    let more = Self.comments + [BlogComment("c7", to: "c3", by: "alice")]
    model.send(.blog(.comments("p11", more)))
    #expect(model.openPost?.comments.visible?.map(\.id) == ["c1", "c3", "c4", "c7", "c2"])
  }

  @Test("A reply inserted above keeps the selected comment on its row")
  func middle() {
    var model = Self.model(size: Size(width: 80, height: 14))
    model.type("G")
    let before = model.rows
    let more = Self.comments + [BlogComment("c6", to: "c1")]
    model.send(.blog(.comments("p11", more)))
    #expect(model.openPost?.selection == "c5")
    #expect(
      model.rows.firstIndex { $0.contains("text of c5") }
        == before.firstIndex { $0.contains("text of c5") }
    )
  }

  @Test("The comment field grows with its lines up to a limit")
  func lines() {
    var model = Self.model()
    model.type("c", "One", .key(.alt(.enter)), "Two", .control("j"), "Three")
    #expect(model.openPost?.line.field.text == "One\nTwo\nThree")
    #expect(model.openPost?.line.height == 3)
    let rows = model.rows
    #expect(rows[25].hasPrefix("› One"))
    #expect(rows[27].hasPrefix("  Three"))
    #expect(model.type(.enter).last == .write(.comment("p11", text: "One\nTwo\nThree")))
    #expect(model.openPost?.line.height == 1)
    // However much is typed, there is room for the comment that is answered.
    model.type("c", .paste(String(repeating: "line\n", count: 100)))
    #expect(model.openPost?.line.height == model.session.fieldLimit)
    #expect(model.rows.contains { $0.contains("Notes from a slow train") })
  }

  private func refuse(_ text: String, _ answered: BlogComment?, in model: inout Model) {
    let action = BlogAction.comment("p11", commentID: "c9", text: text, answering: answered)
    model.send(.blog(.failed(action, reason: "no")))
  }

  @Test("A refused reply returns to the field and is resent as a reply to the same comment")
  func refused() {
    var model = Self.model()
    model.type("G", "r", "Yes")
    let answered = model.openPost?.line.answered
    #expect(answered != nil)
    #expect(model.type(.enter).last == .write(.comment("p11", text: "Yes", answering: answered)))
    refuse("Yes", answered, in: &model)
    #expect(model.openPost?.line.field.text == "Yes")
    #expect(model.openPost?.line.answered == answered)
    #expect(model.message?.text.string.hasPrefix("Your answer was not saved") == true)
    #expect(
      model.type("c", .enter).last == .write(.comment("p11", text: "Yes", answering: answered))
    )
  }

  @Test("A refused reply stays a reply while another is typed, among the drafts and across runs")
  func refusedWhileTyping() {
    var model = Self.model()
    model.type("c", "Two")
    refuse("One", Self.comments[1], in: &model)
    let draft = CommentDraft("One", answering: Self.comments[1])
    #expect(model.session.writing.unsent.comments == ["p11": [draft]])
    #expect(model.unsent.comments == ["p11": [draft, "Two"]])
    #expect(model.type(.enter).last == .write(.comment("p11", text: "Two")))
    #expect(model.openPost?.line.answered == Self.comments[1])
    #expect(
      model.type("c", .enter).last
        == .write(.comment("p11", text: "One", answering: Self.comments[1]))
    )
    // When its post is left, it becomes a draft that names the answered comment and can be
    // continued.
    refuse("One", Self.comments[1], in: &model)
    model.type(.escape, .escape, "C")
    #expect(
      model.rows.contains { $0.contains("Answer to Mei on ") || $0.contains("Answer to mei on ") }
    )
    model.type(.enter)
    #expect(model.openPost?.line.answered == Self.comments[1])
    #expect(model.openPost?.line.field.text == "One")
  }

  @Test("A refused comment edit returns as an edit of the same comment")
  func refusedChange() {
    var model = Self.model()
    let action = BlogAction.editComment("p11", commentID: "c3", text: "better")
    model.send(.blog(.failed(action, reason: "no")))
    #expect(model.openPost?.line.editing?.id == "c3")
    #expect(
      model.type("c", .enter).last == .write(.editComment("p11", commentID: "c3", text: "better"))
    )
  }

  @Test("Plain drafts keep their format, and reply drafts also store the comment")
  func coding() throws {
    let plain = try JSONEncoder().encode(["p": [CommentDraft("a")]])
    #expect(String(decoding: plain, as: UTF8.self) == #"{"p":["a"]}"#)
    let drafts: [CommentDraft] = ["a", CommentDraft("b", answering: Self.comments[0])]
    let coded = try JSONEncoder().encode(drafts)
    #expect(try JSONDecoder().decode([CommentDraft].self, from: coded) == drafts)
  }

  @Test("^E edits the comment in the external editor")
  func editor() {
    var model = Self.model()
    model.type("c", "begun")
    #expect(model.type(.control("e")) == [.environment(.editText("begun", on: "p11"))])
    model.send(.editedText("begun\nand ended"))
    #expect(model.openPost?.line.field.text == "begun\nand ended")
    #expect(model.openPost?.line.height == 2)
  }
}
