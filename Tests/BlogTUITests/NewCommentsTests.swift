import BlogModel
import Testing

@testable import BlogTUI

@Suite("New comments on posts that were read")
struct NewCommentsTests {
  private func comment(_ id: String, by uid: String = "bob") -> BlogComment {
    BlogComment(id: id, uid: uid, author: uid, text: "text of \(id)", createdAt: Fixture.now)
  }

  /// A model in which p12 was read up to c1.
  private func model(_ size: Size = Size(width: 80, height: 24)) -> Model {
    var model = Fixture.loaded(size)
    let marks: [PostID: ReadState.Mark] = ["p12": .read(lastComment: "c1")]
    model.send(.blog(.readState(ReadState(before: Fixture.now - 1, marks: marks))))
    model.type("j")
    return model
  }

  @Test("Only posts in view that I have opened or written are asked about, and only once")
  func watched() {
    var model = Fixture.loaded(Size(width: 80, height: 10))
    let marks: [PostID: ReadState.Mark] = ["p12": .read(lastComment: ""), "p10": .unread]
    #expect(
      model.send(.blog(.readState(ReadState(before: 0, marks: marks))))
        == [.watchComments(["p12", "p11"])]
    )
    #expect(model.type("j") == [])
    // p12 leaves the view, and p07 of mine comes into it.
    #expect(model.type("G") == [.watchComments(["p07"])])
    #expect(model.type("k") == [])
  }

  @Test("A post that was read says how many comments are new, and has the dot again")
  func count() {
    var model = model()
    #expect(model.rows[2].hasPrefix("  The hearth is lit"))
    model.send(.blog(.latestComments("p12", [comment("c1"), comment("c2"), comment("c3")])))
    #expect(model.rows[2].hasPrefix(" •The hearth is lit · 2 new comments "))
    model.send(.blog(.latestComments("p12", [comment("c2")])))
    #expect(model.rows[2].hasPrefix(" •The hearth is lit · 1 new comment "))
  }

  @Test("My own comments are not new, and neither is anything on a post marked as unread")
  func notNew() {
    var model = model()
    model.send(.blog(.latestComments("p12", [comment("c2", by: "alice")])))
    #expect(!model.rows[2].contains("new comment"))
    model.send(.blog(.latestComments("p12", [comment("c3")])))
    model.send(.blog(.readState(ReadState(before: 0, marks: ["p12": .unread]))))
    #expect(model.rows[2].hasPrefix(" •The hearth is lit · Everything"))
  }

  @Test("More than are looked at are \"at least so many\"")
  func atLeast() {
    var model = model()
    let many = (10..<20).map { comment("c\($0)") }
    model.send(.blog(.latestComments("p12", many)))
    #expect(model.rows[2].contains("10+ new comments"))
  }

  @Test("What another terminal of mine has read is no longer new here")
  func readElsewhere() {
    var model = model()
    model.send(.blog(.latestComments("p12", [comment("c1"), comment("c2")])))
    #expect(model.rows[2].contains("1 new comment"))
    let marks: [PostID: ReadState.Mark] = ["p12": .read(lastComment: "c2")]
    model.send(.blog(.readState(ReadState(before: 0, marks: marks))))
    #expect(!model.rows[2].contains("new comment"))
  }

  @Test("Opening the post ends it, and m does without opening")
  func ended() {
    var opened = model()
    opened.send(.blog(.latestComments("p12", [comment("c2")])))
    opened.type("k", .enter)
    opened.send(.blog(.post("p12", Fixture.posts[0])))
    opened.send(.blog(.comments("p12", [comment("c1"), comment("c2")])))
    opened.type("q", "j")
    #expect(!opened.rows[2].contains("new comment"))

    var marked = model()
    marked.send(.blog(.latestComments("p12", [comment("c2")])))
    #expect(marked.type("k", "m").contains(.mark("p12", .read(lastComment: "c2"))))
    #expect(!marked.rows[2].contains("new comment"))
  }

  @Test("On a narrow screen the number alone is shown, also behind a long title")
  func narrow() {
    var model = model(Size(width: 40, height: 10))
    var posts = Fixture.posts
    posts[0].title = "A title that is much longer than the screen is wide"
    model.send(.blog(.feed(.recent, posts: posts)))
    model.send(.blog(.latestComments("p12", [comment("c2"), comment("c3")])))
    #expect(model.rows[2].contains(" +2 "))
  }

  @Test("U goes to the next post with something new")
  func next() {
    var model = model()
    model.send(.blog(.latestComments("p12", [comment("c2")])))
    model.type("jj", "U")
    #expect(model.feed.list.selection == "p12")
  }
}
