import Testing

@testable import BlogModel
@testable import BlogTUI

@Suite("Muted people and bookmarks")
struct OwnListsTests {
  @Test("Notices from muted users are neither listed nor announced")
  func notices() {
    var model = Fixture.loaded()
    model.send(.blog(.ownLists(OwnLists(muted: ["carol"]))))
    model.session.settings.choose(.flag(true), for: .notifications, from: .session)
    let carol = Author(uid: "carol", name: "carol")
    let entry = NoticeEntry(
      id: "c1",
      kind: .comment,
      post: "p11",
      title: "Notes",
      comment: "c1",
      author: carol,
      at: Fixture.now
    )
    #expect(model.send(.blog(.notice(.comment("p11", title: "Notes", by: carol)))) == [])
    model.send(.blog(.notices([entry])))
    #expect(model.reading.notices == [])
    model.send(.blog(.ownLists(OwnLists())))
    #expect(model.reading.notices == [entry])
  }
}
