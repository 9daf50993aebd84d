import BlogModel
import TestSupport
import Testing

@testable import BlogTUI

@Suite("Reading during live updates")
struct ReadingTests {
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
}
