import BlogModel
import Testing

@testable import BlogTUI

@Suite("Search")
struct SearchTests {
  @Test("Each typed character filters by title, author and text, ignoring case")
  func incremental() {
    var model = Fixture.loaded()
    model.type("/TEA")
    #expect(model.feed.list.ids == ["p11"])
    model.type(.control("u"), "carol")
    #expect(model.feed.list.ids == ["p09"])
    model.type(.control("u"), "文字")
    #expect(model.feed.list.ids == ["p10"])
    model.type(.control("u"))
    #expect(model.feed.list.ids.count == Fixture.posts.count)
  }

  @Test(
    "An unknown qualifier is rejected with a hint and stays editable",
    arguments: [
      ("foo:bar", "foo:"), ("tea !auther:bob", "auther:"), ("stars>many", "stars> needs a number"),
    ]
  )
  func unknownQualifier(text: String, hint: String) {
    var model = Fixture.loaded()
    model.type(.text("/" + text), .enter)
    #expect(model.message?.text.string.contains(hint) == true)
    #expect(model.search?.isEditing == true)
    model.type(.control("u"), "author:bob", .enter)
    #expect(model.search?.isEditing == false)
    model.type(.text(":search " + text), .enter)
    #expect(model.message?.text.string.contains(hint) == true)
  }

  @Test(
    "URLs, times, quotes and words ending in a colon are plain text",
    arguments: ["https://x.org", "12:30", "std::string", "\"foo:bar\"", "tea:", ":x", "a: b"]
  )
  func colons(text: String) {
    #expect(SearchPattern.problem(in: text) == nil)
  }

  @Test("n and N cycle through the matches")
  func nextMatch() {
    var model = Fixture.loaded()
    model.type("/bob", .enter)
    #expect(model.feed.list.ids == ["p12", "p08", "p04"])
    model.type("n")
    #expect(model.feed.list.selection == "p08")
    model.type("nn")
    #expect(model.feed.list.selection == "p12")
    model.type("N")
    #expect(model.feed.list.selection == "p04")
  }

  @Test("Esc shows all posts again and keeps the selection")
  func escape() {
    var model = Fixture.loaded()
    model.type("/bob", .enter, "n", .escape)
    #expect(model.search == nil)
    #expect(model.feed.list.ids.count == Fixture.posts.count)
    #expect(model.feed.list.selection == "p08")
  }

  @Test("Esc after a search without matches restores the selection")
  func noMatch() {
    var model = Fixture.loaded()
    model.type("jjj/zebra")
    #expect(model.feed.list.ids.isEmpty)
    #expect(model.rows.contains { $0.contains("No post contains \"zebra\".") })
    model.type(.escape)
    #expect(model.feed.list.selection == "p09")
  }

  @Test("New posts are filtered")
  func live() {
    var model = Fixture.loaded()
    model.type("/post 7", .enter)
    #expect(model.feed.list.ids.isEmpty)
    model.send(.blog(.feed(.recent, posts: Fixture.numbered(1...9) + Fixture.posts)))
    #expect(model.feed.list.ids == ["n7"])
  }

  @Test("The user's new post is shown even if the search would hide it")
  func posting() {
    var model = Fixture.loaded()
    model.type("/bob", .enter, "c", "T", .tab, "B", .control("s"))
    model.send(.posted("p13"))
    let new = Post(id: "p13", uid: "alice", author: "alice", title: "T", body: "B")
    model.send(.blog(.feed(.recent, posts: [new] + Fixture.posts)))
    #expect(model.search == nil)
    #expect(model.feed.list.selection == "p13")
  }

  @Test("A long search stays on its line with the cursor visible", arguments: [20, 40, 80])
  func longSearch(width: Int) {
    var model = Fixture.loaded(Size(width: width, height: 10))
    model.type("/", .text(String(repeating: "漢字 and more ", count: 12)))
    let screen = view(model)
    let frame = Frame(model.size)
    #expect(screen.cursor.map { frame.searchField.contains($0) } == true)
    #expect(model.rows[8].hasSuffix("no match") == (width >= 36))
  }

  @Test("n without a search says how to start one")
  func withoutSearch() {
    var model = Fixture.loaded()
    model.type("n")
    #expect(model.message?.text.string == "No search yet; / searches")
  }

  @Test("A search applies to the other lists too")
  func otherTabs() {
    var model = Fixture.loaded()
    model.type("/train", .enter, "2")
    model.send(.blog(.feed(.top, posts: Fixture.posts)))
    #expect(model.feed.list.ids == ["p11"])
    model.type(.escape, "1")
    #expect(model.feed.list.ids.count == Fixture.posts.count)
  }
}
