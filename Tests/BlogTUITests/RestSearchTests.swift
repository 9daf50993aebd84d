import Testing

@testable import BlogModel
@testable import BlogTUI

@Suite("Search of unloaded posts")
struct RestSearchTests {
  /// A list of which only the newest posts are loaded.
  private func long() -> Model {
    var model = Fixture.loaded()
    model.send(.blog(.extent(.recent, FeedExtent(hasOlder: true))))
    model.send(.blog(.feed(.recent, posts: Fixture.posts)))
    return model
  }

  private func old(_ ids: [String]) -> [Post] {
    ids.map { Post(id: $0, uid: "zoe", author: "zoe", title: "Old zebra \($0)", body: "b") }
  }

  private func report(
    _ model: inout Model,
    _ found: [Post],
    searched: Int,
    end: SearchProgress.End? = nil
  ) {
    let progress = SearchProgress(number: 1, found: found, searched: searched, end: end)
    model.send(.blog(.found(progress)))
  }

  private func searches(_ effects: [Effect]) -> [SearchRequest] {
    effects.compactMap { if case .search(let request) = $0 { request } else { nil } }
  }

  @Test("Typing searches loaded posts, and Enter searches the rest once")
  func begin() throws {
    var model = long()
    #expect(searches(model.type("/zebra")).isEmpty)
    #expect(model.rows.contains { $0.contains("None of the loaded posts contains \"zebra\".") })
    #expect(model.rows.contains { $0.contains("Enter searches all.") })
    let request = try #require(searches(model.type(.enter)).first)
    #expect(request.kind == .recent)
    #expect(request.matches(old(["a"])[0]))
    #expect(!request.matches(Fixture.posts[0]))
    #expect(searches(model.send(.tick(now: Fixture.now + 1))).isEmpty)
  }

  @Test("In a fully loaded list, Enter searches the comments")
  func whole() throws {
    var model = Fixture.loaded()
    let request = try #require(searches(model.type("/zebra", .enter)).first)
    #expect(model.rows.contains { $0.contains("No post contains \"zebra\".") })
    let post = Fixture.posts[1]
    let comment = BlogComment(id: "c", uid: "bob", author: "bob", text: "A Zebra!")
    #expect(request.matches(post, comments: [comment]))
    #expect(!request.matches(post))
    report(&model, [post], searched: Fixture.posts.count, end: .complete)
    #expect(model.feed.list.ids == [post.id])
    #expect(model.rows[1].contains("/zebra: 1 of \(Fixture.posts.count). Esc shows all."))
    model.type(.escape)
    #expect(model.feed.list.ids.count == Fixture.posts.count)
  }

  @Test(
    "A search by properties alone does not read comments",
    arguments: ["mine", "stars>2", "#tea"]
  )
  func properties(text: String) {
    var model = Fixture.loaded()
    #expect(searches(model.type(.text("/" + text), .enter)).isEmpty)
  }

  @Test("Closing the search, changing the list or changing the words stops the running search")
  func drop() throws {
    var model = long()
    model.type("/zebra", .enter)
    report(&model, old(["a9"]), searched: 12_000)
    #expect(model.type("/").isEmpty)
    #expect(model.type("s").contains(.search(nil)))
    #expect(model.feed.list.ids == [])
    let request = try #require(searches(model.type(.enter)).first)
    #expect(request.number == 2)
    // Later results of the first search are not shown.
    report(&model, old(["a7"]), searched: 12_000)
    #expect(model.feed.list.ids == [])
    #expect(model.type("2").contains(.search(nil)))
    model.send(.blog(.extent(.top, FeedExtent(hasOlder: true))))
    let top = searches(model.send(.blog(.feed(.top, posts: Fixture.posts))))
    #expect(top.map(\.kind) == [.top])
  }
}
