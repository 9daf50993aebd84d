import BlogModel
import Testing

@testable import BlogTUI

@Suite("Search of unloaded posts")
struct RestSearchTests {
  /// A list of which only the newest posts are loaded.
  private func long(_ size: Size = Size(width: 80, height: 24)) -> Model {
    var model = Fixture.loaded(size)
    model.send(.blog(.extent(.recent, FeedExtent(hasOlder: true))))
    model.send(.blog(.feed(.recent, posts: Fixture.posts)))
    return model
  }

  private func old(_ ids: [String], stars: Int = 0) -> [Post] {
    ids.map {
      Post(id: $0, uid: "zoe", author: "zoe", title: "Old zebra \($0)", body: "b", starCount: stars)
    }
  }

  private func report(
    _ model: inout Model,
    _ found: [Post],
    searched: Int,
    end: SearchProgress.End? = nil,
    number: Int = 1
  ) {
    let progress = SearchProgress(number: number, found: found, searched: searched, end: end)
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

  @Test("Matches appear at once in order and can be opened; the end shows the total")
  func results() {
    var model = long()
    model.type("/zebra", .enter)
    report(&model, [], searched: 12_000)
    #expect(model.rows.contains { $0.contains("Nothing yet: searched 12,000…") })
    report(&model, old(["a9", "a5"]), searched: 24_000)
    #expect(model.feed.list.ids == ["a9", "a5"])
    #expect(model.rows[1].contains("/zebra: 2 found, searched 24,000… Esc stops."))
    report(&model, old(["a3"]), searched: 100_000, end: .complete)
    #expect(model.feed.list.ids == ["a9", "a5", "a3"])
    #expect(model.rows[1].contains("/zebra: 3 of 100,000. Esc shows all."))
    #expect(model.type("j", .enter).contains(.request(.open("a5"))))
    model.send(.blog(.post("a5", nil)))
    model.type(.escape)
    #expect(model.feed.list.ids == ["a9", "a3"])
  }

  @Test("Esc stops the search and keeps its matches, and a second Esc shows all posts")
  func stop() {
    var model = long()
    model.type("/zebra", .enter)
    report(&model, old(["a9"]), searched: 12_000)
    #expect(model.type(.escape) == [.search(nil)])
    #expect(model.rows[1].contains("/zebra: 1 found, searched 12,000, stopped. Esc shows all."))
    report(&model, old(["a5"]), searched: 24_000)
    #expect(model.feed.list.ids == ["a9"])
    #expect(model.type(.escape) == [])
    #expect(model.search == nil)
    #expect(model.feed.list.ids.count == Fixture.posts.count)
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

  @Test("In a list by stars, matches are merged by stars with loaded posts")
  func byStars() {
    var model = long()
    model.type("2")
    model.send(.blog(.extent(.top, FeedExtent(hasOlder: true))))
    let loaded = old(["m2"], stars: 9) + old(["m1"], stars: 5)
    model.send(.blog(.feed(.top, posts: loaded)))
    model.type("/zebra", .enter)
    report(&model, old(["z1"], stars: 7) + old(["m1"], stars: 5) + old(["a1"]), searched: 4)
    #expect(model.feed.list.ids == ["m2", "z1", "m1", "a1"])
    report(&model, old(["a0"], stars: 8), searched: 5, end: .complete)
    #expect(model.feed.list.ids == ["m2", "a0", "z1", "m1", "a1"])
    // The list stays live in the meantime.
    model.send(.blog(.feed(.top, posts: old(["z1"], stars: 20) + loaded)))
    #expect(model.feed.list.ids == ["z1", "m2", "a0", "m1", "a1"])
  }

  @Test("A star on a match shows at once, although the match is not followed")
  func star() {
    var model = long()
    model.type("/zebra", .enter)
    report(&model, old(["a9"], stars: 3), searched: 10, end: .complete)
    #expect(model.type("s").contains(.write(.star("a9", true))))
    #expect(model.feed.post("a9")?.starCount == 4)
    #expect(model.type("s").contains(.write(.star("a9", false))))
    #expect(model.feed.post("a9")?.starCount == 3)
  }

  @Test("A completed search gives the next one the length of the list")
  func length() {
    var model = long()
    model.type("/zebra", .enter)
    report(&model, [], searched: 100_000, end: .complete)
    #expect(model.rows.contains { $0.contains("All 100,000 were searched.") })
    model.type(.escape, "/zebu", .enter)
    report(&model, [], searched: 12_000, number: 2)
    #expect(model.rows.contains { $0.contains("searched 12,000 of 100,000…") })
  }

  @Test("A failed search reports the reason")
  func failure() {
    var model = long(Size(width: 120, height: 24))
    model.type("/zebra", .enter)
    report(&model, old(["a9"]), searched: 12_000, end: .failed("permission denied"))
    #expect(model.rows[1].contains("1 found, then it failed (permission denied)."))
  }
}
