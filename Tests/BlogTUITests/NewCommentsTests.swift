import BlogModel
import Testing

@testable import BlogTUI

@Suite("New comments on read posts")
struct NewCommentsTests {
  /// A model in which p12 was read up to c1.
  private func model(_ size: Size = Size(width: 80, height: 24)) -> Model {
    var model = Fixture.loaded(size)
    let marks: [PostID: ReadState.Mark] = ["p12": .read(lastComment: "c1")]
    model.send(.blog(.readState(ReadState(before: Fixture.now - 1, marks: marks))))
    model.type("j")
    return model
  }

  @Test("Only posts near the view are watched, and the watch does not change with every row")
  func watched() {
    var model = Fixture.started(Size(width: 80, height: 10))
    func asked(_ event: Event) -> [[PostID]] {
      model.sendAsking(event).compactMap { effect in
        if case .request(.watchComments(let posts)) = effect { posts } else { nil }
      }
    }
    let posts = Fixture.numbered(1...100)
    let ids = posts.map(\.id)
    let height = model.feed.list.capacity
    let rows = height + height / 2
    #expect(asked(.blog(.feed(.recent, posts: posts))) == [Array(ids.prefix(rows))])
    for _ in 1..<rows { #expect(asked(.key(.down)) == []) }
    #expect(asked(.key(.down)).count == 1)
    let later = (0..<60).flatMap { _ in asked(.key(.down)) }
    #expect(later.count <= 60 / (height / 2) + 1)
    #expect(model.feed.list.visibleIDs.allSatisfy { later.last?.contains($0) == true })
    // While a search is being typed, the rows change with each letter.
    #expect(asked(.key(.character("/"))) + asked(.key(.character("7"))) == [])
    #expect(asked(.key(.enter)).count == 1)
  }

  @Test("A row shows the number of comments, or a minimum if not all are loaded")
  func counted() {
    var model = model(Size(width: 80, height: 24))
    #expect(!model.rows[2].contains("❝"))
    model.send(.blog(.latestComments("p12", [])))
    #expect(!model.rows[2].contains("❝"))
    model.send(.blog(.latestComments("p12", [BlogComment("c1"), BlogComment("c2", by: "alice")])))
    #expect(model.rows[2].contains("❝ 2 "))
    model.send(.blog(.latestComments("p12", (10..<20).map { BlogComment("c\($0)") })))
    #expect(model.rows[2].contains("❝ 10+ "))
    // A comment that is about to disappear no longer counts.
    let mine = [BlogComment("c1"), BlogComment("c2", by: "alice")]
    model.send(.blog(.latestComments("p12", mine)))
    model.delete(.deleteComment("p12", commentID: "c2"))
    #expect(model.rows[2].contains("❝ 1 "))
  }

  @Test("Comments on an unread post are counted but not marked as new")
  func unread() {
    var model = model()
    model.send(.blog(.readState(ReadState(before: 0, marks: ["p12": .unread]))))
    model.send(.blog(.latestComments("p12", [BlogComment("c1")])))
    #expect(model.rows[2].contains("❝ 1 "))
    #expect(!model.rows[2].contains(" new "))
  }

  @Test("The preview beside the list shows the newest comments and their number")
  func preview() {
    var model = Fixture.loaded(Size(width: 140, height: 30))
    #expect(model.rows.contains { $0.contains("Loading comments") })
    model.send(.blog(.latestComments("p12", [])))
    #expect(model.rows.contains { $0.contains("No comments yet ") })
    model.send(.blog(.latestComments("p12", [BlogComment("c1"), BlogComment("c2")])))
    #expect(model.rows.contains { $0.contains("2 comments") })
    #expect(model.rows.contains { $0.contains("text of c2") })
    model.send(.blog(.latestComments("p12", (10..<20).map { BlogComment("c\($0)") })))
    #expect(model.rows.contains { $0.contains("The newest 10 comments") })
  }

  @Test("A read post shows its number of new comments and the unread dot")
  func count() {
    var model = model()
    #expect(model.rows[2].hasPrefix("  The hearth is lit"))
    model.send(
      .blog(.latestComments("p12", [BlogComment("c1"), BlogComment("c2"), BlogComment("c3")]))
    )
    #expect(model.rows[2].hasPrefix(" •The hearth is lit · 2 new "))
    model.send(.blog(.latestComments("p12", [BlogComment("c2")])))
    #expect(model.rows[2].hasPrefix(" •The hearth is lit · 1 new "))
  }

  @Test("The user's own comments and those on posts marked unread are not new")
  func notNew() {
    var model = model()
    model.send(.blog(.latestComments("p12", [BlogComment("c2", by: "alice")])))
    #expect(!model.rows[2].contains(" new "))
    model.send(.blog(.latestComments("p12", [BlogComment("c3")])))
    model.send(.blog(.readState(ReadState(before: 0, marks: ["p12": .unread]))))
    #expect(model.rows[2].hasPrefix(" •The hearth is lit · Everything"))
  }

  @Test("A count beyond the loaded comments is shown as a minimum")
  func atLeast() {
    var model = model()
    let many = (10..<20).map { BlogComment("c\($0)") }
    model.send(.blog(.latestComments("p12", many)))
    #expect(model.rows[2].contains("10+ new "))
  }

  @Test("Comments read on another terminal are no longer new")
  func readElsewhere() {
    var model = model()
    model.send(.blog(.latestComments("p12", [BlogComment("c1"), BlogComment("c2")])))
    #expect(model.rows[2].contains("1 new "))
    let marks: [PostID: ReadState.Mark] = ["p12": .read(lastComment: "c2")]
    model.send(.blog(.readState(ReadState(before: 0, marks: marks))))
    #expect(!model.rows[2].contains(" new "))
  }

  @Test("Opening the post or pressing m clears the new comments")
  func ended() {
    var opened = model()
    opened.send(.blog(.latestComments("p12", [BlogComment("c2")])))
    opened.type("k", .enter)
    opened.send(.blog(.post("p12", Fixture.posts[0])))
    opened.send(.blog(.comments("p12", [BlogComment("c1"), BlogComment("c2")])))
    opened.type("q", "j")
    #expect(!opened.rows[2].contains(" new "))

    var marked = model()
    marked.send(.blog(.latestComments("p12", [BlogComment("c2")])))
    #expect(marked.type("k", "m").contains(.mark(.post("p12", .read(lastComment: "c2")))))
    #expect(!marked.rows[2].contains(" new "))
  }

  @Test("A narrow screen shows only the number, even after a long title")
  func narrow() {
    var model = model(Size(width: 40, height: 10))
    var posts = Fixture.posts
    posts[0].title = "A title that is much longer than the screen is wide"
    model.send(.blog(.feed(.recent, posts: posts)))
    model.send(.blog(.latestComments("p12", [BlogComment("c2"), BlogComment("c3")])))
    #expect(model.rows[2].contains(" +2 "))
  }

  @Test("U selects the next post with new comments")
  func next() {
    var model = model()
    model.send(.blog(.latestComments("p12", [BlogComment("c2")])))
    model.type("jj", "U")
    #expect(model.feed.list.selection == "p12")
  }
}
