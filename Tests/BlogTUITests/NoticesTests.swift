import BlogModel
import Testing

@testable import BlogTUI

@Suite("Notices")
struct NoticesTests {
  static let bob = Author(uid: "bob", name: "bob")

  static let entries: [NoticeEntry] = [
    NoticeEntry(
      id: "c2",
      kind: .comment,
      post: "p11",
      title: "Notes from a slow train",
      comment: "c2",
      author: Author(uid: "mei", name: "美玲"),
      text: "いい話ですね。",
      at: Fixture.ago(minutes: 1)
    ),
    NoticeEntry(
      id: "c1",
      kind: .reply,
      post: "p11",
      title: "Notes from a slow train",
      comment: "c1",
      author: bob,
      text: "I was on that train!\nAnd you?",
      at: Fixture.ago(minutes: 2)
    ),
    NoticeEntry(
      id: "p12",
      kind: .mention,
      post: "p12",
      title: "The hearth is lit",
      author: bob,
      text: "Everything you see here is live.",
      at: Fixture.ago(minutes: 20)
    ),
    NoticeEntry(
      id: "stars p07",
      kind: .stars,
      post: "p07",
      title: "\u{1B}[2JOwned\nbob\u{202E}",
      stars: 40,
      at: nil
    ),
  ]

  static func model(
    _ size: Size = Size(width: 80, height: 24),
    glyphs: GlyphSet = .unicode
  )
    -> Model
  {
    var model = Fixture.loaded(size, glyphs: glyphs)
    model.send(.blog(.readState(ReadState(before: Fixture.ago(minutes: 10), stars: ["p07": 38]))))
    model.send(.blog(.notices(entries)))
    return model
  }

  @Test("Notices are requested once, after the first list has loaded")
  func asking() {
    var model = Fixture.started(Size(width: 80, height: 24))
    #expect(!model.send(.blog(.connection(.online))).contains(.request(.hearNotices(true))))
    #expect(
      model.send(.blog(.feed(.recent, posts: Fixture.posts))).contains(.request(.hearNotices(true)))
    )
    #expect(
      !model.send(.blog(.feed(.recent, posts: Fixture.posts))).contains(
        .request(.hearNotices(true))
      )
    )
  }

  @Test("Notices show an indicator in the header, and a click on it opens the list")
  func mark() {
    var model = Self.model()
    #expect(model.rows[0].hasSuffix("◆ 3 notices, F3"))
    model.click(0, 70)
    #expect(model.context == .notices)
    #expect(model.rows[0].hasSuffix("3 new"))
    model.send(.blog(.readState(ReadState(before: Fixture.now, stars: ["p07": 40]))))
    model.type("q")
    #expect(!model.rows[0].contains("◆"))
  }

  @Test("Notices list unread stars without a time first and keep their order")
  func order() {
    var model = Self.model()
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
      author: Self.bob,
      at: Fixture.now
    )
    model.send(.blog(.notices([new] + Self.entries)))
    #expect(model.rows.first { $0.contains("▌") || $0.contains("美玲") }?.contains("美玲") == true)
    #expect(model.type(.enter).contains(.request(.open("p11"))))
  }

  @Test("Enter opens the comment of a notice, and q returns to the notices")
  func jumping() {
    var model = Self.model()
    model.type(.key(.function(3)), "jj")
    #expect(model.type(.enter) == [.request(.open("p11"))])
    model.send(.blog(.post("p11", Fixture.posts[1])))
    let effects = model.send(.blog(.comments("p11", Fixture.comments)))
    #expect(effects.contains(.mark(.post("p11", .read(lastComment: "c3")))))
    #expect(model.openPost?.selection == "c1")
    model.type("q")
    #expect(model.context == .notices)
    #expect(model.session.unreadNotices == 1)
    model.type("q")
    #expect(model.context == .list)
  }

  @Test("Notices opened over a post close it before opening another")
  func overPost() {
    var model = Self.model()
    model.type(.enter)
    #expect(model.openPost?.id == "p12")
    model.type(.key(.function(3)), "j")
    #expect(
      model.type(.enter).filter { $0 == .request(.close("p12")) || $0 == .request(.open("p11")) }
        .count == 2
    )
    #expect(model.context == .post)
    #expect(model.openPost?.id == "p11")
  }

  @Test("M marks all notices as read, with one mark per post")
  func markAll() {
    var model = Self.model()
    model.type(.key(.function(3)))
    #expect(
      model.type("M") == [
        .mark(.stars(["p07": 40])), .mark(.post("p11", .read(lastComment: "c2"))),
      ]
    )
    #expect(model.session.unreadNotices == 0)
    #expect(model.type("M").isEmpty)
    #expect(model.message?.text.string == "No notice is unread.")
    #expect(model.type("u").count == 1)
    #expect(model.session.unreadNotices > 0)
  }

  @Test("D clears the notices and marks them as read, and u restores them")
  func clearing() throws {
    var model = Self.model()
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
    #expect(undone.first == .mark(.restore(before)))
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

  @Test("Replies and mentions ring if notifications are on")
  func ringing() {
    var model = Fixture.loaded()
    model.settings.choose(.flag(true), for: .notifications, from: .session)
    let answer = Notice.reply("p07", title: "Sourdough", by: Self.bob)
    #expect(
      model.send(.blog(.notice(answer))) == [
        .terminal(.notify("bob answered you on \"Sourdough\"."))
      ]
    )
    model.send(.tick(now: Fixture.now + 5_000))
    let naming = Notice.mention("p07", title: "\u{1B}]9;x\u{7}", by: Self.bob)
    let text = "bob named you in \"␛]9;x␇\"."
    #expect(model.send(.blog(.notice(naming))) == [.terminal(.notify(text))])
  }
}

@Suite("Drafts")
struct DraftsTests {
  static func model(
    _ size: Size = Size(width: 80, height: 24),
    glyphs: GlyphSet = .unicode
  )
    -> Model
  {
    var model = Fixture.loaded(size, glyphs: glyphs)
    model.session.writing.unsent.posts = [
      Draft(title: "One", body: "The first"),
      Draft(title: "", body: "No title \u{1B}[2J"),
    ]
    model.session.writing.unsent.comments = ["p11": ["Half a sentence", "Another\nline"]]
    return model
  }

  @Test("Drafts list posts and comments, newest first")
  func list() {
    var model = Self.model()
    model.type("C")
    #expect(model.context == .drafts)
    #expect(model.rows[2].contains("Post: (no title)"))
    #expect(model.rows[3].contains("No title ␛[2J"))
    #expect(model.rows[6].contains("Comment on Notes from a slow train"))
    #expect(model.rows[7].contains("Another line"))
    var none = Fixture.loaded()
    none.type("C")
    #expect(none.message?.text.string == "There are no drafts")
  }

  @Test("Enter continues a draft where it was started")
  func goingOn() {
    var model = Self.model()
    model.type("C", "j", .enter)
    #expect(model.composer?.draft == Draft(title: "One", body: "The first"))
    #expect(model.session.writing.unsent.posts.count == 1)
    var other = Self.model()
    other.type("C", "G")
    #expect(other.type(.enter) == [.request(.open("p11"))])
    #expect(other.openPost?.line.field.text == "Half a sentence")
    #expect(other.context == .comment)
    #expect(other.session.writing.unsent.comments["p11"] == ["Another\nline"])
  }

  @Test("d discards drafts, and u restores them")
  func throwingAway() {
    var model = Self.model()
    let before = model.unsent
    model.type("C", "d", "d", "d", "d")
    #expect(model.unsent.isEmpty)
    #expect(model.rows.contains { $0.contains("No drafts left.") })
    model.type("d", "u", "u", "u", "u", "u")
    #expect(model.unsent == before)
    model.type("q")
    #expect(model.context == .list)
  }
}
