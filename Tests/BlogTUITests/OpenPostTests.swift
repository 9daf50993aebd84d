import BlogModel
import TestSupport
import Testing

@testable import BlogTUI

@Suite("Open post")
struct OpenPostTests {
  private func comments(_ numbers: ClosedRange<Int>) -> [BlogComment] {
    numbers.map { number in
      BlogComment(id: "k\(number)", uid: "bob", author: "bob", text: "Comment \(number)")
    }
  }

  @Test("Enter opens a post, and q returns to the same row")
  func openAndClose() {
    var model = Fixture.loaded()
    #expect(model.type("jj", .enter) == [.request(.open("p10"))])
    #expect(model.context == .post)
    #expect(model.rows[2].contains("漢字と絵文字"))
    #expect(model.type("q") == [.request(.close("p10"))])
    #expect(model.feed.list.selection == "p10")
  }

  @Test("New comments at the bottom do not move the view")
  func newComments() {
    var model = Fixture.opened()
    model.type("jj")
    func text() -> [String] { model.rows[2..<20].filter { !$0.contains("comments") } }
    let before = text()
    model.send(.blog(.comments("p11", Fixture.comments + comments(1...20))))
    #expect(text() == before)
    #expect(model.rows[20].contains("below"))
  }

  @Test("Only the newest of many comments are loaded; a key or a notice loads earlier ones")
  func earlier() {
    var model = Fixture.opened()
    #expect(model.type("<") == [])
    #expect(model.message?.text.string == "All comments are here")
    model.send(.blog(.hasEarlierComments("p11", true)))
    model.send(.blog(.comments("p11", comments(5...9))))
    #expect(
      model.rows.contains { $0.contains("The newest 5 comments; < shows earlier ones") }
    )
    #expect(model.type("<") == [.request(.showEarlierComments("p11"))])
    // The reader's place stays when earlier ones come.
    model.type("G")
    let before = model.rows[10..<20]
    model.send(.blog(.hasEarlierComments("p11", false)))
    model.send(.blog(.comments("p11", comments(1...9))))
    #expect(model.rows[10..<20] == before)
    #expect(!model.rows.contains { $0.contains("earlier") })
  }

  @Test("An edited or requested comment may not be loaded")
  func earlierEdit() {
    var post = OpenPost(id: "p1", known: nil, comment: nil)
    post.note(hasEarlier: true)
    post.line.take(CommentDraft("Changed", editing: comments(1...1)[0]))
    post.wanted = "k2"
    post.update(comments: comments(5...9))
    let isGone = post.endEditOfGoneComment()
    #expect(!isGone)
    #expect(post.takeWishForEarlier() == .request(.showEarlierComments("p1")))
    post.note(hasEarlier: false)
    post.update(comments: comments(2...9))
    #expect(post.takeWishForEarlier() == nil)
    #expect(post.selection == "k2")
    let isGoneNow = post.endEditOfGoneComment()
    #expect(isGoneNow)
  }

  @Test("At the end, the view follows new comments")
  func followsAtTheEnd() {
    var model = Fixture.opened()
    model.type("G")
    model.send(.blog(.comments("p11", Fixture.comments + comments(1...4))))
    #expect(model.rows[2..<21].contains { $0.contains("Comment 4") })
    #expect(model.openPost?.selection == "c3")
  }

  @Test("The selected comment stays in view, however many comments are added")
  func followsNoFurtherThanTheSelection() {
    var model = Fixture.opened()
    model.type("G")
    model.send(.blog(.comments("p11", Fixture.comments + comments(1...40))))
    #expect(model.rows[2] == "▌ alice · now")
    #expect(model.rows[20].contains("below"))
  }

  @Test("Removing comments above keeps the top comment in place")
  func removalAbove() {
    var model = Fixture.opened()
    model.send(.blog(.comments("p11", comments(1...40))))
    model.type("G", "  ", .key(.pageUp))
    let first = model.rows[2..<20].first { $0.contains("Comment") }
    let row = model.rows.firstIndex { $0 == first }
    model.send(.blog(.comments("p11", comments(5...40))))
    #expect(model.rows.firstIndex { $0 == first } == row)
  }

  @Test("d and y delete the user's own comment but not another user's")
  func deleteComment() {
    var model = Fixture.opened()
    model.type("G")
    #expect(model.openPost?.selection == "c3")
    model.type("d")
    #expect(model.question == .delete(.deleteComment("p11", commentID: "c3")))
    #expect(model.type("y") == [])
    let later = model.send(.tick(now: Fixture.now + Deletion.delay))
    #expect(later == [.write(.deleteComment("p11", commentID: "c3"))])
    // The comment before it has taken its position.
    model.type("d")
    #expect(model.question == nil)
    #expect(model.message?.text.string == "Only 美玲 can delete this comment.")
  }

  @Test("When the selected comment is removed, the next one is selected")
  func selectionMovesOn() {
    var model = Fixture.opened()
    model.type("Gk")
    #expect(model.openPost?.selection == "c2")
    model.send(.blog(.comments("p11", [Fixture.comments[0], Fixture.comments[2]])))
    #expect(model.openPost?.selection == "c3")
    model.send(.blog(.comments("p11", [Fixture.comments[0]])))
    #expect(model.openPost?.selection == "c1")
    model.send(.blog(.comments("p11", [])))
    #expect(model.openPost?.selection == nil)
  }

  @Test("d without a selected comment deletes the post and returns to the list")
  func deletePost() {
    var model = Fixture.opened()
    model.type("d")
    #expect(model.type("y") == [.request(.close("p11"))])
    #expect(model.send(.tick(now: Fixture.now + Deletion.delay)) == [.write(.deletePost("p11"))])
    #expect(model.context == .list)
  }

  @Test("A deleted post accepts no comments, and its hints omit unavailable actions")
  func deletedHints() throws {
    var model = Fixture.opened()
    #expect(model.rows[22].contains("d delete"))
    model.send(.blog(.post("p11", nil)))
    model.type("j")
    #expect(!model.rows[22].contains("d delete") && !model.rows[22].contains("comment"))
    model.type("c")
    #expect(model.context == .post)
    #expect(model.message?.kind == .failure)
  }

  @Test("The hints offer delete for the user's own posts and the palette everywhere")
  func hints() {
    var model = Fixture.loaded()
    #expect(model.rows[22].contains("^P commands"))
    #expect(!model.rows[22].contains("delete"))
    model.type("j")
    #expect(model.rows[22].contains("d delete"))
    #expect(model.rows[22].contains("^P commands") && model.rows[22].contains("q quit"))
  }

  @Test("j reaches the last comment, and k returns to the title")
  func walk() {
    var model = Fixture.opened()
    for _ in 0..<40 { model.type("j") }
    #expect(model.openPost?.selection == "c3")
    for _ in 0..<60 { model.type("k") }
    #expect(model.openPost?.selection == nil)
    #expect(model.openPost?.view.top == 0)
  }

  @Test("The user's new comment is scrolled into view")
  func ownComment() {
    var model = Fixture.opened()
    model.type("c", "Hm", .enter)
    model.send(.commented("p11", commentID: "c4"))
    let new = BlogComment(id: "c4", uid: "alice", author: "alice", text: "Hm")
    model.send(.blog(.comments("p11", Fixture.comments + [new])))
    #expect(model.rows[2..<21].contains { $0.contains("▏") || $0.hasSuffix("  Hm") })
  }

  @Test("A comment cannot forge the heading of another one")
  func forgedHeading() {
    var model = Fixture.opened()
    let forged = BlogComment(
      id: "x",
      uid: "mallory",
      author: "mallory",
      text: "ok\nbob · 1m\n── 9 comments ──"
    )
    model.send(.blog(.comments("p11", [forged])))
    model.type("G")
    let lines = model.rows.filter { $0.contains("bob · 1m") || $0.contains("9 comments") }
    #expect(lines.count == 2)
    #expect(lines.allSatisfy { $0.hasPrefix("▌   ") })
  }

  @Test("Events of other posts do not affect the open post")
  func otherPosts() {
    var model = Fixture.opened()
    let before = model.rows
    model.send(.blog(.post("p10", nil)))
    model.send(.blog(.comments("p10", [])))
    #expect(model.rows == before)
  }
}

extension OpenPostTests {
  @Test("Comments that come, go and change keep the lines right", arguments: 1...20)
  func heights(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    let all = (0..<60).map { number in
      BlogComment(
        id: "c\(100 + number)",
        uid: "u\(number % 3)",
        author: "bob",
        text: String(repeating: "word ", count: Int.random(in: 1...40, using: &random)),
        parent: number % 4 == 3 ? "c\(100 + Int.random(in: 0..<number, using: &random))" : nil
      )
    }
    var layout = PostLayout()
    for _ in 0..<20 {
      var comments = all.filter { _ in Int.random(in: 0..<3, using: &random) > 0 }
      let changed = Int.random(in: 0..<all.count, using: &random)
      if changed < comments.count { comments[changed] = comments[changed].with(text: "short") }
      let folded = Set(all.filter { _ in Int.random(in: 0..<9, using: &random) == 0 }.map(\.id))
      let rows = CommentThreads.rows(of: comments, folded: folded)
      let unread = rows.randomElement(using: &random)?.comment.id
      let muted: Set<String> = Bool.random(using: &random) ? ["u1"] : []
      func update(_ layout: inout PostLayout) {
        layout.update(
          post: Fixture.posts[0],
          comments: rows,
          firstUnread: unread,
          muted: muted,
          source: .raw,
          width: 40
        )
      }
      var fresh = PostLayout()
      update(&layout)
      update(&fresh)
      #expect(layout == fresh)
      let lines = layout.lines(in: 0..<layout.lineCount)
      #expect(lines.count == layout.lineCount)
      for index in rows.indices {
        let range = layout.range(of: index)
        #expect(lines[range.lowerBound] == .commentHeading(index))
        #expect(lines[range.upperBound] == .blank)
        #expect(range.allSatisfy { layout.comment(at: $0) == index })
      }
      #expect(lines.count { $0 == .unread } == (unread == nil ? 0 : 1))
      let part = Int.random(in: 0..<lines.count, using: &random)
      let end = min(lines.count, part + 10)
      #expect(layout.lines(in: part..<end) == Array(lines[part..<end]))
    }
  }
}
