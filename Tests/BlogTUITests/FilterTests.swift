import BlogModel
import Testing

@testable import BlogTUI

@Suite("Filter")
struct FilterTests {
  @Test(
    "matches posts by all its terms",
    arguments: [
      ("author:bob", ["p12", "p08", "p04"]),
      ("AUTHOR:Carol", ["p09"]),
      ("stars>5", ["p11", "p10", "p07", "p05"]),
      ("stars>=41", ["p07", "p05"]),
      ("stars<1", ["p09"]),
      ("stars=3", ["p12"]),
      ("mine", ["p11", "p07"]),
      ("!mine stars>5", ["p10", "p05"]),
      ("starred", ["p12", "p10", "p07"]),
      ("starred !author:alice", ["p12", "p10"]),
      ("unread", ["p12"]),
      ("slow train", ["p11"]),
      ("train slow", []),
      ("title:train author:alice", ["p11"]),
      ("title:\"slow train\"", ["p11"]),
      ("!train mine", ["p07"]),
      ("\"mine\"", []),
      ("stars>x", []),
      ("!", ["p05"]),
    ]
  )
  func parts(text: String, expected: [PostID]) {
    var model = Fixture.loaded()
    model.send(.blog(.readState(ReadState(before: Fixture.ago(minutes: 10)))))
    model.type("/", .text(text), .enter)
    #expect(model.feed.list.ids == expected)
  }

  @Test("admits matching new posts and hides others while it is active")
  func updates() {
    var model = Fixture.loaded()
    model.type("/stars>5 author:bob", .enter)
    #expect(model.feed.list.ids.isEmpty)
    var starred = Fixture.numbered(1...2)
    starred[0].starCount = 6
    model.send(.blog(.feed(.recent, posts: starred + Fixture.posts)))
    #expect(model.feed.list.ids == [starred[0].id])
    starred[0].starCount = 5
    starred[1].starCount = 7
    model.send(.blog(.feed(.recent, posts: starred + Fixture.posts)))
    #expect(model.feed.list.ids == [starred[1].id])
  }

  @Test("loads more posts only when the selection moves, not on typing")
  func readsOn() {
    var model = Fixture.loaded()
    model.send(.blog(.extent(.recent, FeedExtent(hasOlder: true))))
    model.send(.blog(.feed(.recent, posts: Fixture.posts)))
    #expect(model.type("/author:bob") == [])
    #expect(model.type(.key(.down)) == [.request(.read(.recent, at: "p04"))])
  }
}
