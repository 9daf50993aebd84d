import BlogModel
import Testing

@testable import BlogTUI

@Suite("Drafts and unsent text")
struct WritingTests {
  @Test("A post needs a title and a body")
  func validation() {
    var model = Fixture.loaded()
    #expect(model.type("c", .control("s")) == [])
    #expect(model.composer?.problem?.string == "Neither title nor body can be empty.")
    #expect(model.composer?.focus == .title)
    #expect(model.type("Title", .control("s")) == [])
    #expect(model.composer?.focus == .body)
    #expect(model.type(" \u{200B}", .control("s")) == [])
    let text = "Neither title nor body can be empty."
    #expect(model.rows.contains { $0.contains(text) })
    #expect(model.type("x", .control("s")) == [.write(.post(title: "Title", body: " \u{200B}x"))])
    #expect(model.composer == nil)
  }

  @Test("A wide screen shows a preview beside the text", arguments: [119, 120, 200])
  func preview(width: Int) {
    var model = Fixture.loaded(Size(width: width, height: 24))
    model.type("c", .tab, .paste("a **fine** [loaf](https://example.org/x)\n- of rye"))
    let isWide = width >= 120
    #expect(model.rows.contains { $0.contains("a **fine** [loaf]") })
    #expect(model.rows.contains { $0.contains("a fine loaf (example.org)") } == isWide)
    #expect(model.rows.contains { $0.contains("- of rye") && $0.contains("• of rye") } == isWide)
  }

  @Test("The preview scrolls with the text, and code that starts above the screen stays code")
  func scrolledPreview() {
    var model = Fixture.loaded(Size(width: 140, height: 24))
    let code = (0..<60).map { "*line \($0)*" }.joined(separator: "\n")
    model.type("c", .tab, .paste("```\n" + code))
    let right = model.rows.compactMap { $0.firstIndex(of: "│").map($0.suffix(from:)) }
    #expect(right.contains { $0.contains("*line 59*") })
    let long = String(repeating: "word ", count: 100_000)
    model.type(.paste("\n" + long + String(repeating: "\n", count: 3) + "end"))
    #expect(model.rows.contains { $0.contains("end") })
  }

  @Test("After posting, the new post is selected in the list")
  func postedIsSelected() {
    var model = Fixture.loaded()
    model.type("jjjc", "Hello", .enter, "One", .enter, "two", .control("s"))
    #expect(model.send(.posted("p13")) == [])
    let new = Post(id: "p13", uid: "alice", author: "alice", title: "Hello", body: "One\ntwo")
    model.send(.blog(.feed(.recent, posts: [new] + Fixture.posts)))
    #expect(model.feed.list.selection == "p13")
    #expect(model.rows[2].hasPrefix("▌◌Hello"))
  }

  @Test("After posting from the top list, the recent list is shown")
  func postedFromTop() {
    var model = Fixture.loaded()
    model.type("2", "c", "T", .tab, "B", .control("x"))
    let new = Post(id: "p13", uid: "alice", author: "alice", title: "T", body: "B")
    model.send(.blog(.feed(.recent, posts: [new] + Fixture.posts)))
    #expect(model.send(.posted("p13")) == [])
    #expect(model.tab == .recent)
    #expect(model.feed.list.selection == "p13")
  }

  @Test("Esc with text asks, and y keeps the draft for the next c")
  func draftIsKept() {
    var model = Fixture.loaded()
    model.type("c", "Half", .tab, "a thought", .escape)
    #expect(model.question == .keepDraft)
    model.type("y")
    #expect(model.composer == nil)
    #expect(model.unsentDrafts == [Draft(title: "Half", body: "a thought")])
    model.type("c")
    #expect(model.composer?.draft == Draft(title: "Half", body: "a thought"))
    #expect(model.unsentDrafts.count == 1)
  }

  @Test("n discards the draft, u restores it, and any other key continues it")
  func draftIsDiscarded() {
    var model = Fixture.loaded()
    model.type("c", "Half", .escape, "x")
    #expect(model.composer?.title.text == "Half")
    model.type(.escape, "n")
    #expect(model.composer == nil)
    #expect(model.unsentDrafts.isEmpty)
    model.type("u")
    #expect(model.unsentDrafts.map(\.title) == ["Half"])
  }

  @Test("The draft of a post edit stays an edit until the post is deleted")
  func draftOfAnEdit() {
    var model = Fixture.loaded()
    let post = Post(id: "p13", uid: "alice", author: "alice", title: "T", body: "B")
    model.send(.blog(.feed(.recent, posts: [post] + Fixture.posts)))
    model.type("g", "g", "e", .escape)
    #expect(model.question == nil && model.composer == nil)
    model.type("e", "!", .escape, "y")
    #expect(model.unsentDrafts == [Draft(title: "T", body: "B!", editing: post)])
    model.type("C")
    #expect(model.rows.contains { $0.contains("Edit of the post: T") })
    model.type("q")
    #expect(model.type("c") == [.request(.open("p13"))])
    #expect(model.rows.contains { $0.contains("Edit post") })
    // A draft that is only looked at stays one.
    model.type(.escape)
    #expect(model.question == nil && model.unsentDrafts.count == 1)
    model.type("q", "c")
    model.send(.blog(.post("p13", post)))
    #expect(model.type(.control("s")) == [.write(.edit("p13", title: "T", body: "B!"))])
    // It is refused, and still an edit.
    model.send(.blog(.failed(.edit("p13", title: "T", body: "B!"), reason: "no")))
    #expect(model.unsentDrafts.first?.editing?.body == "B")
    model.type("q", "c")
    model.send(.blog(.post("p13", nil)))
    #expect(model.type(.control("s")) == [])
    #expect(model.message?.text.string.contains("deleted in the meantime") == true)
    model.type("c")
    #expect(model.composer?.editing == nil)
    #expect(model.type(.control("s")) == [.write(.post(title: "T", body: "B!"))])
  }

  @Test("The draft of a comment edit stays an edit until the comment is deleted")
  func draftOfACommentEdit() {
    var model = Fixture.opened()
    let mine = Comment(id: "c9", uid: "alice", author: "alice", text: "mine")
    model.send(.blog(.comments("p11", [mine])))
    model.openPost?.selection = "c9"
    model.type("e", "!", .escape, "q")
    #expect(model.unsent.comments["p11"] == [CommentDraft("mine!", editing: mine)])
    model.type("C")
    #expect(model.rows.contains { $0.contains("Edit of a comment on") })
    model.type(.enter)
    model.send(.blog(.comments("p11", [mine])))
    #expect(model.openPost?.line.editing == mine)
    model.send(.blog(.comments("p11", [])))
    #expect(model.openPost?.line.editing == nil && model.openPost?.line.field.text == "mine!")
    #expect(model.message?.text.string.contains("The comment was deleted") == true)
  }

  @Test("Esc without text closes the form without asking")
  func emptyForm() {
    var model = Fixture.loaded()
    model.type("c", .escape)
    #expect(model.composer == nil)
    #expect(model.question == nil)
  }

  @Test("A refused post reopens at once with its text and the reason")
  func refusedPost() {
    var model = Fixture.loaded()
    let action = BlogAction.post("p13", title: "T", body: "B")
    #expect(model.send(.blog(.failed(action, reason: "permission denied."))) == [.terminal(.bell)])
    #expect(model.composer?.title.text == "T")
    #expect(model.composer?.body.text == "B")
    #expect(model.composer?.problem?.string.contains("permission denied") == true)
    #expect(model.rows.contains { $0.contains("Not saved: permission denied") })
  }

  @Test("A refused post does not interrupt reading and waits for c")
  func refusedPostWhileReading() {
    var model = Fixture.opened()
    let action = BlogAction.post("p13", title: "T", body: "B")
    #expect(model.send(.blog(.failed(action, reason: "permission denied."))) == [.terminal(.bell)])
    let text =
      "Your post \"T\" was not saved: permission denied. It is kept; c in the list opens it."
    #expect(model.message?.text.string == text)
    model.type("q", "c")
    #expect(model.composer?.body.text == "B")
  }

  @Test("A refused post never replaces text being typed")
  func refusedPostWhileTyping() {
    var model = Fixture.loaded()
    model.type("c", "New")
    model.send(.blog(.failed(.post("p13", title: "T", body: "B"), reason: "no")))
    #expect(model.composer?.title.text == "New")
    model.type(.tab, "text", .control("s"), "c")
    #expect(model.composer?.title.text == "T")
  }

  @Test("Quitting with a draft asks for confirmation")
  func quitWithDraft() {
    var model = Fixture.loaded()
    model.type("c", "Half", .escape, "y")
    #expect(model.type("q") == [])
    #expect(model.rows[22].contains("1 unsent text is kept"))
    #expect(model.type("n") == [])
    #expect(model.type("q", "y") == [.quit])
  }

  @Test("Quitting with a started comment asks for confirmation")
  func quitWithComment() {
    var model = Fixture.opened()
    model.type("c", "Hm", .escape)
    #expect(model.type("q") == [.request(.close("p11"))])
    #expect(model.type("q") == [])
    #expect(model.question == .quit)
  }

  @Test("A started comment reappears with its post")
  func commentDraft() {
    var model = Fixture.opened()
    model.type("c", "Hm", .escape, "q")
    model.type("k", .enter)
    #expect(model.openPost?.line.field.text == "")
    model.type("q", "j", .enter)
    #expect(model.openPost?.line.field.text == "Hm")
    #expect(model.unsentComments == ["Hm"])
  }

  @Test("A refused comment returns to its field with the reason")
  func refusedComment() {
    var model = Fixture.opened()
    #expect(model.type("c", "Hm", .enter).last == .write(.comment("p11", text: "Hm")))
    #expect(model.openPost?.line.field.isEmpty == true)
    model.send(.blog(.failed(.comment("p11", commentID: "c4", text: "Hm"), reason: "too long")))
    #expect(model.openPost?.line.field.text == "Hm")
    #expect(model.message?.text.string.contains("too long") == true)
  }

  @Test("A blank comment is not sent")
  func emptyComment() {
    var model = Fixture.opened()
    #expect(model.type("c", "  ", .enter) == [])
    #expect(model.openPost?.line.field.text == "  ")
    #expect(model.message != nil)
  }

  @Test("A post deleted while open says so and keeps the typed comment")
  func deletedWhileOpen() {
    var model = Fixture.opened()
    model.type("c", "Hm")
    model.send(.blog(.post("p11", nil)))
    #expect(model.rows[1].contains("This post was deleted."))
    #expect(model.type(.enter) == [])
    #expect(model.openPost?.line.field.text == "Hm")
    model.send(.blog(.post("p11", Fixture.posts[1])))
    #expect(!model.rows[1].contains("deleted"))
    #expect(model.type(.enter).contains(.write(.comment("p11", text: "Hm"))))
  }

  @Test("An overlong paste is kept, reported with its excess and not sent until shortened")
  func longPaste() {
    var model = Fixture.loaded()
    model.type("c", .paste(String(repeating: "x", count: 310)), .tab, "B")
    #expect(model.composer?.title.text.count == 310)
    #expect(model.rows[0].contains("The title is 10 characters too long."))
    #expect(model.type(.control("s")) == [])
    #expect(model.composer?.problem?.string == "The title is 10 characters too long.")
    // The field with the problem has the cursor.
    for _ in 0..<10 { model.type(.key(.backspace)) }
    #expect(!model.rows[0].contains("too long"))
    #expect(model.type(.control("s")).count == 1)
  }

  @Test("A paste of 100 KB is kept whole", .timeLimit(.minutes(1)))
  func hugePaste() {
    var model = Fixture.loaded()
    let text = String(repeating: "0123456789abcde\n", count: 6_400)
    model.type("c", "T", .tab, .paste(text))
    #expect(model.composer?.body.text == text)
    #expect(model.composer?.body.utf16Count == 102_400)
    #expect(model.rows[0].contains("The text is 36864 characters too long."))
    #expect(model.type(.control("s")) == [])
  }

  @Test("Pasted text is never interpreted as keys", arguments: ["", "\n", "?", "jd", ":", "/"])
  func pasteIsNoKeys(place: String) {
    var model = Fixture.loaded()
    for key in place { model.send(.key(key == "\n" ? .enter : .character(key))) }
    let effects = model.type(.paste("qdd:q!\n\u{1B}y"))
    #expect(effects == [])
    #expect(model.feed.posts.count == Fixture.posts.count)
  }

  @Test("Text typed while the terminal is too small is kept")
  func typingBlindly() {
    var model = Fixture.loaded()
    model.type("c", "Ab")
    model.resize(10, 3)
    model.type("cd")
    model.resize(80, 24)
    #expect(model.composer?.title.text == "Abcd")
  }
}
