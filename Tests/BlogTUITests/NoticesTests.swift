import Testing

@testable import BlogModel
@testable import BlogTUI

@Suite("Notices")
struct NoticesTests {
  @Test("Notices list unread stars without a time first and keep their order")
  func order() {
    var model = Fixture.noticed()
    model.type(.key(.function(3)))
    #expect(model.rows[2].contains("★ 40 stars of others on ␛[2JOwned⏎bob⟨RLO⟩"))
    #expect(model.rows[4].contains("•美玲 commented on") || model.rows[4].contains("• 美玲 commented"))
    #expect(model.type("m") == [.mark(.stars(["p07": 40]))])
    #expect(model.rows[2].contains("★ 40 stars"))
    #expect(model.rows[0].hasSuffix("2 new"))
    // What arrives while it is open does not move the selection.
    model.type("j")
    let new = NoticeEntry(
      id: "c9",
      kind: .comment,
      post: "p11",
      title: "T",
      comment: "c9",
      author: Author(uid: "bob", name: "bob"),
      at: Fixture.now
    )
    model.send(.blog(.notices([new] + Fixture.notices)))
    #expect(model.rows.first { $0.contains("▌") || $0.contains("美玲") }?.contains("美玲") == true)
    #expect(model.type(.enter).contains(.request(.open("p11"))))
  }

  @Test("D clears the notices and marks them as read, and u restores them")
  func clearing() throws {
    var model = Fixture.noticed()
    model.type(.key(.function(3)))
    let before = try #require(model.session.reading.marks.state)
    let entries = try #require(model.session.reading.notices)
    let effects = model.type("D")
    #expect(effects.contains(.mark(.post("p11", .read(lastComment: "c2")))))
    #expect(effects.contains(.mark(.stars(["p07": 40]))))
    #expect(effects.last == .mark(.clearNotices(upTo: "p12")))
    #expect(model.message?.text.string == "The notices are cleared; u undoes")
    model.send(.blog(.notices([])))
    #expect(model.type("D").isEmpty)
    #expect(model.session.unreadNotices == 0)
    let undone = model.type("u")
    #expect(undone.first == .mark(.restore(before: nil, marks: ["p11": nil])))
    #expect(model.session.reading.marks.state == before)
    let first = try #require(entries.map(\.key).min())
    guard case .mark(.clearNotices(let key)) = try #require(undone.last) else {
      return #expect(Bool(false), "\(undone)")
    }
    #expect(key < first && first.hasPrefix(key), "what was cleared earlier stays so")
    model.send(.blog(.notices(entries)))
    #expect(model.session.unreadNotices > 0)
  }

  @Test("Stars on old posts are marked as known once, so that only later ones are new")
  func oldStars() {
    var model = Fixture.loaded()
    let entry = NoticeEntry(
      id: "stars -K",
      kind: .stars,
      post: "-K",
      title: "T",
      stars: 3,
      at: nil
    )
    #expect(model.send(.blog(.notices([entry]))) == [])
    let state = ReadState(before: Fixture.now)
    #expect(model.send(.blog(.readState(state))).first == .mark(.stars(["-K": 3])))
    #expect(!model.send(.blog(.readState(state))).contains(.mark(.stars(["-K": 3]))))
    #expect(model.session.unreadNotices == 0)
    let more = NoticeEntry(id: "stars -K", kind: .stars, post: "-K", title: "T", stars: 4, at: nil)
    model.send(.blog(.notices([more])))
    #expect(model.session.unreadNotices == 1)
  }
}
