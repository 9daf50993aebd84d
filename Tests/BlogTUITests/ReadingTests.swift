import BlogModel
import TestSupport
import Testing

@testable import BlogTUI

@Suite("Reading during live updates")
struct ReadingTests {
  private static let now = Fixture.now

  /// A long list in which the post with that number is selected.
  private func reading(_ number: Int, of numbers: some Sequence<Int>) -> Model {
    var model = Fixture.loaded()
    model.send(.blog(.feed(.recent, posts: Fixture.numbered(numbers))))
    while model.feed.list.selection != "n\(number)" { model.type("j") }
    return model
  }

  @Test("New posts above and reordering by stars keep the selected post on its row")
  func anchor() {
    var model = reading(50, of: 1...100)
    let rows = model.rows
    let line = rows.firstIndex { $0.hasPrefix("▌ Post 50 ") }
    for last in 101...1_100 {
      model.send(.blog(.feed(.recent, posts: Fixture.numbered(1...last))))
    }
    #expect(model.rows.firstIndex { $0.hasPrefix("▌ Post 50 ") } == line)
    #expect(model.rows[2..<21] == rows[2..<21])
    #expect(model.rows[1].contains("▲ 1000 new, . shows"))

    var random = SplitMix64(seed: 7)
    model.type("2")
    model.send(.blog(.feed(.top, posts: Fixture.numbered(1...300))))
    for _ in 1...150 { model.type("j") }
    let selected = model.feed.list.selection
    let row = model.rows.firstIndex { $0.hasPrefix("▌") }
    for _ in 1...200 {
      var posts = Fixture.numbered(1...300).shuffled(using: &random)
      let place = posts.firstIndex { $0.id == selected } ?? 0
      posts.swapAt(place, Int.random(in: 30..<270, using: &random))
      model.send(.blog(.feed(.top, posts: posts)))
      #expect(model.feed.list.selection == selected)
      #expect(model.rows.firstIndex { $0.hasPrefix("▌") } == row)
    }
  }

  @Test("An open post keeps its scroll position while comments and posts arrive")
  func openPostAnchor() {
    var model = Fixture.opened(Size(width: 60, height: 12))
    model.type("jjjjj")
    let rows = Array(model.rows[2..<8])
    for number in 1...50 {
      var comments = Fixture.comments
      comments += (1...number).map { index in
        BlogComment(id: "d\(100 + index)", uid: "bob", author: "bob", text: "More \(index)")
      }
      model.send(.blog(.comments("p11", comments)))
      model.send(.blog(.feed(.recent, posts: Fixture.numbered(1...number))))
    }
    #expect(Array(model.rows[2..<8]) == rows)
  }

  @Test("F follows the newest posts of this list until F or a motion")
  func follow() {
    var model = reading(50, of: 1...100)
    model.type("F")
    #expect(model.feed.list.selection == "n100")
    model.send(.blog(.feed(.recent, posts: Fixture.numbered(1...105))))
    #expect(model.feed.list.selection == "n105")
    #expect(model.feed.list.top == 0)
    #expect(model.rows[1].contains("Following the newest posts."))
    model.type("2")
    model.send(.blog(.feed(.top, posts: Fixture.numbered(1...100))))
    #expect(!model.feed.isFollowing)
    model.type("1")
    #expect(model.feed.isFollowing)
    model.type("j")
    model.send(.blog(.feed(.recent, posts: Fixture.numbered(1...106))))
    #expect(model.feed.list.selection == "n104")
    #expect(model.feed.unseenCount == 1)
  }

  @Test("Moving near the end requests more posts, unless there are none")
  func older() {
    var model = Fixture.loaded()
    model.send(.blog(.extent(.recent, FeedExtent(hasOlder: true))))
    #expect(model.send(.blog(.feed(.recent, posts: Fixture.numbered(1...100)))) == [])
    var effects: [Effect] = []
    for _ in 1...60 { effects += model.type("j") }
    #expect(effects.first == .request(.read(.recent, at: "n50")))
    let more = model.send(.blog(.feed(.recent, posts: Fixture.numbered(-99...100))))
    #expect(more == [])
    #expect(model.rows.contains { $0.contains(" 61 of 200+ ") })
    model.send(.blog(.extent(.recent, FeedExtent())))
    model.send(.blog(.feed(.recent, posts: Fixture.numbered(-99...100))))
    #expect(model.type("G") == [])
    #expect(model.rows.contains { $0.contains(" 200 of 200 ") })
  }

  @Test("Far from both ends of a long list the position is reported every fifty rows")
  func steps() {
    var model = Fixture.loaded()
    let more = FeedExtent(hasOlder: true, hasNewer: true)
    model.send(.blog(.extent(.recent, more)))
    model.send(.blog(.feed(.recent, posts: Fixture.numbered(1...800))))
    model.type(.text(String(repeating: "j", count: 300)))
    var effects: [Effect] = []
    for _ in 1...200 { effects += model.type("j") }
    #expect(effects.count == 4)
    for _ in 1...30 { effects += model.type("k") }
    #expect(effects.count == 4)
    // Changes above do not move the reported position.
    model.send(.blog(.extent(.recent, more)))
    #expect(model.send(.blog(.feed(.recent, posts: Fixture.numbered(1...700)))) == [])
    for _ in 1...70 { effects += model.type("k") }
    #expect(effects.count == 5)
    // Near an end that continues, every row is reported.
    model.type("G")
    effects = []
    for _ in 1...10 { effects += model.type("k") }
    #expect(effects.count == 10)
  }

  @Test("Older posts loaded below are not counted as new")
  func olderIsNotNew() {
    var model = reading(50, of: 1...100)
    model.send(.blog(.feed(.recent, posts: Fixture.numbered(-99...100))))
    model.type("G")
    #expect(model.feed.unseenCount == 0)
    model.send(.blog(.feed(.recent, posts: Fixture.numbered(-99...101))))
    #expect(model.feed.unseenCount == 1)
  }

  @Test(". requests the top of a list if it was unloaded and selects it on arrival")
  func newest() {
    var model = reading(50, of: 1...100)
    model.send(.blog(.extent(.recent, FeedExtent(hasNewer: true))))
    model.send(.blog(.feed(.recent, posts: Fixture.numbered(1...100))))
    #expect(model.rows[1].contains("▲ newer posts, . shows"))
    #expect(model.type(".") == [.request(.showFirst(.recent))])
    model.send(.blog(.extent(.recent, FeedExtent(hasOlder: true))))
    model.send(.blog(.feed(.recent, posts: Fixture.numbered(900...999))))
    #expect(model.feed.list.selection == "n999")
  }

  @Test("A deleted post is hidden at once and deleted after five seconds unless u undoes it")
  func undoDeletion() {
    var model = Fixture.loaded()
    model.type("j")
    #expect(model.type("dy") == [])
    #expect(!model.feed.list.ids.contains("p11"))
    #expect(model.nextTick == .milliseconds(5_000))
    #expect(model.send(.tick(now: Self.now + 4_999)) == [])
    #expect(model.type("u") == [])
    #expect(model.feed.list.selection == "p11")
    #expect(model.send(.tick(now: Self.now + 60_000)) == [])

    model.type("dy")
    #expect(model.send(.tick(now: Self.now + 65_000)) == [.write(.deletePost("p11"))])
    model.send(.blog(.feed(.recent, posts: Fixture.posts)))
    #expect(!model.feed.list.ids.contains("p11"))
    model.type("u")
    #expect(model.message?.text.string == "Nothing to undo")
    model.send(.blog(.failed(.deletePost("p11"), reason: "permission denied")))
    #expect(model.feed.list.ids.contains("p11"))
  }

  @Test("dd deletes nothing, and quitting carries out pending deletions")
  func deleting() {
    var model = Fixture.loaded()
    model.type("j")
    #expect(model.type("dd") == [])
    #expect(model.question == nil)
    #expect(model.writing.deletions.isEmpty)
    model.type("dy")
    #expect(model.type("q") == [.write(.deletePost("p11")), .quit])
  }

  @Test("A deleted comment is hidden at once and deleted unless u undoes it")
  func deletingComment() {
    var model = Fixture.opened()
    model.type("G", "dy")
    #expect(model.openPost?.comments.visible?.map(\.id) == ["c1", "c2"])
    model.type("u")
    #expect(model.openPost?.comments.visible?.map(\.id) == ["c1", "c2", "c3"])
    model.type("G", "dy")
    let deleted = Effect.write(.deleteComment("p11", commentID: "c3"))
    #expect(model.send(.tick(now: Self.now + 5_000)) == [deleted])
  }

  @Test("u undoes setting and removing a star")
  func undoStar() {
    var model = Fixture.loaded()
    #expect(model.type("s") == [.write(.star("p12", false))])
    #expect(model.type("j", "s") == [.write(.star("p11", true))])
    #expect(model.type("u") == [.write(.star("p11", false))])
    #expect(model.type("u") == [.write(.star("p12", true))])
  }

  @Test("e edits the user's own post in the form, and u restores the old text")
  func edit() {
    var model = Fixture.loaded()
    model.type("e")
    #expect(model.message?.text.string == "Only bob can edit this post.")
    model.type("j", "e")
    #expect(model.composer?.title.text == "Notes from a slow train")
    model.composer?.focus = .title
    let effects = model.type(" home", .control("s"))
    let body = Fixture.longBody
    #expect(effects == [.write(.edit("p11", title: "Notes from a slow train home", body: body))])
    #expect(model.composer == nil)
    #expect(
      model.type("u") == [.write(.edit("p11", title: "Notes from a slow train", body: body))]
    )
  }

  @Test("e edits the user's own comment, and a started comment returns afterwards")
  func editComment() {
    var model = Fixture.opened()
    model.type("c", "begun", .escape, "G", "e")
    #expect(model.openPost?.line.field.text == "Thank you both.")
    let effects = model.type("!", .enter)
    let changed = Effect.write(.editComment("p11", commentID: "c3", text: "Thank you both.!"))
    #expect(effects.contains(changed))
    #expect(model.openPost?.line.field.text == "begun")
    #expect(
      model.type("u") == [.write(.editComment("p11", commentID: "c3", text: "Thank you both."))]
    )
  }

  @Test("A refused edit returns to the form")
  func refusedEdit() {
    var model = Fixture.loaded()
    let action = BlogAction.edit("p11", title: "New", body: "Text")
    model.send(.blog(.failed(action, reason: "permission denied")))
    #expect(model.composer?.title.text == "New")
    #expect(model.composer?.body.text == "Text")
  }

  @Test("a shows the author's posts, and q returns")
  func author() {
    var model = Fixture.loaded()
    model.type("jjj")
    let carol = FeedKind.author(uid: "carol")
    #expect(model.type("a") == [.request(.follow(carol))])
    model.send(.blog(.feed(carol, posts: [Fixture.posts[3]])))
    #expect(model.rows[0].contains("@ Carol Danvers"))
    #expect(model.feed.list.ids == ["p09"])
    #expect(model.type("q") == [.request(.stopFollowing(carol))])
    #expect(model.tab == .recent)
    #expect(model.feed.list.selection == "p09")
  }
}
