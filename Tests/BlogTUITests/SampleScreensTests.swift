import BlogModel
import Testing

@testable import BlogTUI

/// The features of the published samples' screens, as a list.
@Suite("Screens of the published sample")
struct SampleScreensTests {
  @Test("The lists are recent posts, top posts, my posts and my top posts")
  func lists() {
    let header = Fixture.loaded(Size(width: 100, height: 24)).rows[0]
    for name in ["1 Recent", "2 Top", "3 My posts", "4 My top posts"] {
      #expect(header.contains(name))
    }
  }

  @Test("A row shows the star, the count, the author, the title and the text")
  func row() {
    let row = Fixture.loaded().rows[2]
    for part in ["The hearth is lit", "bob", "★    3", "Everything"] {
      #expect(row.contains(part))
    }
  }

  @Test("Defect 2: the user's own star is filled, and those of others are not")
  func star() {
    let rows = Fixture.loaded().rows
    #expect(rows[2].contains("★"))
    #expect(rows[3].contains("☆"))
  }

  @Test("Defect 3: the star key works in the list and in the open post")
  func starKey() {
    var list = Fixture.loaded()
    #expect(list.type("js") == [.write(.star("p11", true))])
    var post = Fixture.opened()
    #expect(post.type("s") == [.write(.star("p11", true))])
  }

  @Test("Defect 8: a star moves a post in the top list, and the selection follows it")
  func reorder() {
    var model = Fixture.loaded()
    model.type("2")
    var posts = Fixture.posts.sorted { $0.starCount > $1.starCount }
    model.send(.blog(.feed(.top, posts: posts)))
    model.type("G")
    let last = posts.removeLast()
    posts.insert(last, at: 0)
    model.send(.blog(.feed(.top, posts: posts)))
    #expect(model.feed.list.ids.first == last.id)
    #expect(model.feed.list.selection == last.id)
  }

  @Test("Defect 10: the form stays open with its text if title or body is missing")
  func emptyForm() {
    var model = Fixture.loaded()
    #expect(model.type("c", "Title", .control("s")) == [])
    #expect(model.composer?.title.text == "Title")
    #expect(model.rows.contains { $0.contains("Neither title nor body can be empty.") })
  }

  @Test("Defect 10: a list that becomes empty says so")
  func emptyList() {
    var model = Fixture.loaded()
    model.send(.blog(.feed(.recent, posts: [])))
    #expect(model.rows.contains { $0.contains("No posts yet - why not add one?") })
  }

  @Test("After posting, the list shows the new post selected")
  func posting() {
    var model = Fixture.loaded()
    model.type("jjc", "T", .tab, "B", .control("s"))
    model.send(.posted("p13"))
    let new = Post(id: "p13", uid: "alice", author: "alice", title: "T", body: "B")
    model.send(.blog(.feed(.recent, posts: [new] + Fixture.posts)))
    #expect(model.context == .list)
    #expect(model.feed.list.selection == "p13")
  }

  @Test("A post shows its comments, oldest first, and a line to write one")
  func comments() {
    let rows = Fixture.opened(Size(width: 80, height: 40)).rows
    let places = ["I was on that train!", "いい話ですね。", "Thank you both."].map { text in
      rows.firstIndex { $0.contains(text) } ?? -1
    }
    #expect(places == places.sorted())
    #expect(places[0] > 0)
    #expect(rows.contains { $0.contains("c writes a comment") })
  }

  @Test("Defect 4: comments removed and added in any order stay sorted on the screen")
  func commentEvents() {
    var model = Fixture.opened()
    model.send(.blog(.comments("p11", [])))
    model.send(.blog(.comments("p11", Fixture.comments.reversed())))
    model.send(.blog(.comments("p11", Fixture.comments)))
    #expect(model.openPost?.comments.visible == Fixture.comments)
  }

  @Test("Defect 12: a star that loses every conflict is reported, not hidden")
  func conflict() {
    var model = Fixture.loaded()
    let reason = BlogError.conflict("p12").description
    model.send(.blog(.failed(.star("p12", true), reason: reason)))
    #expect(model.message?.text.string.contains("changed by others too often") == true)
  }
}
