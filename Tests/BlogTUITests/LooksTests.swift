import BlogModel
import Testing

@testable import BlogTUI

@Suite("How much is shown of what")
struct LooksTests {
  @Test("v shows one, two or five lines of each post; 25 lines have twenty posts at the densest")
  func density() {
    var model = Fixture.loaded(Size(width: 80, height: 25))
    model.send(.blog(.feed(.recent, posts: Fixture.numbered(1...60))))
    #expect(model.feed.list.capacity >= 20)
    model.type("jj")
    model.type("v")
    #expect(model.feed.list.capacity == model.listRect.height / 2)
    #expect(model.feed.list.selection == "n58")
    #expect(model.rows[6].hasPrefix("▌ Post 58"))
    #expect(model.rows[7].hasPrefix("▌ Text 58"))
    model.type("v")
    #expect(model.feed.list.capacity == model.listRect.height / 5)
    model.type("v")
    #expect(model.feed.list.capacity >= 20)
  }

  @Test("t shows dates instead of ages")
  func times() {
    var model = Fixture.loaded()
    #expect(model.rows[3].contains("3m"))
    model.type("t")
    #expect(model.rows[3].contains("2023-11-14 22:10"))
    model.type("t")
    #expect(model.rows[3].contains("3m"))
  }

  @Test("Ages follow the server's clock, whatever the clock of this machine says")
  func serverClock() {
    // The model knows no other time than the one it is told.
    var model = Fixture.loaded()
    model.send(.tick(now: Fixture.now + 600_000))
    #expect(model.rows[3].contains("13m"))
    model.send(.tick(now: Fixture.now - 600_000))
    #expect(model.rows[3].contains("now"))
  }

  @Test("A wide screen has list and post side by side, a narrower one has them in turn")
  func split() {
    var model = Fixture.loaded(Size(width: 140, height: 30))
    model.type("j")
    #expect(model.rows[2].contains("The hearth is lit"))
    #expect(model.rows[2].contains("Notes from a slow train"))
    model.type(.enter)
    model.send(.blog(.post("p11", Fixture.posts[1])))
    model.send(.blog(.comments("p11", Fixture.comments)))
    #expect(model.rows[2].contains("The hearth is lit"))
    #expect(model.rows.contains { $0.contains("3 comments") })
    model.resize(139, 30)
    #expect(!model.rows[2].contains("The hearth is lit"))
    model.resize(140, 30)
    model.type("|")
    #expect(!model.isSplit)
  }

  @Test("A click in the list beside a post opens the other post")
  func splitClick() {
    var model = Fixture.opened(Size(width: 150, height: 30))
    let click = MouseEvent(kind: .press, position: Position(row: 4, column: 5))
    #expect(model.send(.key(.mouse(click))) == [.close("p11"), .open("p10")])
    let wheel = MouseEvent(kind: .wheelDown, position: Position(row: 4, column: 5))
    model.send(.key(.mouse(wheel)))
    #expect(model.feed.list.selection == "p09")
  }
}
