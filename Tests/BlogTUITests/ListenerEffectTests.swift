import BlogModel
import Testing

@testable import BlogTUI

/// Defect 11 of the published sample, as the screens see it: whatever is opened is closed.
@Suite("Listener effects")
struct ListenerEffectTests {
  @Test("Opening and leaving a post a hundred times closes it each time")
  func posts() {
    var model = Fixture.loaded()
    var open: [PostID] = []
    for turn in 0..<100 {
      let keys: [Typed] = [.enter, turn.isMultiple(of: 2) ? .escape : "2"]
      for effect in keys.flatMap({ model.type($0) }) {
        if case .request(.open(let id)) = effect { open.append(id) }
        if case .request(.close(let id)) = effect { open.removeAll { $0 == id } }
      }
      #expect(open.isEmpty)
      model.type("1")
    }
  }

  @Test("Cycling through the lists a hundred times follows each of them once")
  func tabs() {
    var model = Fixture.loaded()
    var followed: [FeedKind] = []
    for _ in 0..<400 {
      for case .request(.follow(let kind)) in model.type(.tab) { followed.append(kind) }
    }
    #expect(followed == [.top, .mine, .myTop])
  }

  @Test("Viewing an author's posts a hundred times leaves no list followed")
  func authors() {
    var model = Fixture.loaded()
    var followed: Set<FeedKind> = []
    for _ in 0..<100 {
      for effect in model.type("a") + model.type("q") {
        if case .request(.follow(let kind)) = effect { followed.insert(kind) }
        if case .request(.stopFollowing(let kind)) = effect { followed.remove(kind) }
      }
      #expect(followed.isEmpty)
    }
  }
}
