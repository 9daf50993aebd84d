import BlogModel
import Testing

@testable import BlogTUI

/// Defect 11 of the published sample, as the screens see it: whatever is opened is closed.
@Suite("Whatever is opened is closed")
struct ListenerEffectTests {
  @Test("A post that is opened and closed a hundred times is followed as often as it is let go")
  func posts() {
    var model = Fixture.loaded()
    var open: [PostID] = []
    for turn in 0..<100 {
      let keys: [Typed] = [.enter, turn.isMultiple(of: 2) ? .escape : "2"]
      for effect in keys.flatMap({ model.type($0) }) {
        if case .open(let id) = effect { open.append(id) }
        if case .close(let id) = effect { open.removeAll { $0 == id } }
      }
      #expect(open.isEmpty)
      model.type("1")
    }
  }

  @Test("A hundred rounds through the lists follow each of them once")
  func tabs() {
    var model = Fixture.loaded()
    var followed: [FeedKind] = []
    for _ in 0..<400 {
      for case .follow(let kind) in model.type(.tab) { followed.append(kind) }
    }
    #expect(followed == [.top, .mine, .myTop])
  }

  @Test("Looking at an author's posts a hundred times leaves no list behind")
  func authors() {
    var model = Fixture.loaded()
    var followed: Set<FeedKind> = []
    for _ in 0..<100 {
      for effect in model.type("a") + model.type("q") {
        if case .follow(let kind) = effect { followed.insert(kind) }
        if case .stopFollowing(let kind) = effect { followed.remove(kind) }
      }
      #expect(followed.isEmpty)
    }
  }
}
