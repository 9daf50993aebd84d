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

  @Test("An edited or requested comment may not be loaded")
  func earlierEdit() {
    var post = OpenPost(id: "p1", known: nil, comment: nil)
    post.comments.hasEarlier = true
    post.line.take(CommentDraft("Changed", editing: comments(1...1)[0]))
    post.wanted = "k2"
    post.update(comments: comments(5...9))
    let isGone = post.endEditOfGoneComment()
    #expect(!isGone)
    #expect(post.takeWishForEarlier() == .request(.showEarlierComments("p1")))
    post.comments.hasEarlier = false
    post.update(comments: comments(2...9))
    #expect(post.takeWishForEarlier() == nil)
    #expect(post.selection == "k2")
    let isGoneNow = post.endEditOfGoneComment()
    #expect(isGoneNow)
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
      let post = Fixture.posts.prefix(2).randomElement(using: &random)
      func update(_ layout: inout PostLayout) {
        layout.update(
          post: post,
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
