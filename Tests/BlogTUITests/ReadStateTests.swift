import BlogModel
import Testing

@testable import BlogTUI

@Suite("Read state")
struct ReadStateTests {
  /// A model that knows that everything older than ten minutes was read.
  private func model() -> Model {
    var model = Fixture.loaded()
    model.send(.blog(.readState(ReadState(before: Fixture.ago(minutes: 10)))))
    return model
  }

  private func opened(_ state: ReadState) -> Model {
    var model = Fixture.loaded()
    model.send(.blog(.readState(state)))
    model.type("j", .enter)
    model.send(.blog(.post("p11", Fixture.posts[1])))
    return model
  }

  @Test("Unread posts have a dot, but the user's own posts never do")
  func dots() {
    let model = model()
    #expect(model.feed.posts.filter(model.session.isUnread).map(\.id) == ["p12"])
    #expect(Fixture.loaded().feed.posts.filter(Fixture.loaded().session.isUnread).isEmpty)
    var other = model
    other.type("j")
    #expect(other.rows[2].hasPrefix(" •The hearth is lit"))
    #expect(other.rows[3].hasPrefix("▌ Notes from"))
  }

  @Test("An open post is marked read with its comments, including those that arrive later")
  func opening() {
    var model = model()
    #expect(model.type(.enter) == [.request(.open("p12"))])
    model.send(.blog(.post("p12", Fixture.posts[0])))
    let first = model.send(.blog(.comments("p12", Array(Fixture.comments.prefix(1)))))
    #expect(first == [.mark(.post("p12", .read(lastComment: "c1")))])
    #expect(model.feed.posts.filter(model.session.isUnread).isEmpty)
    let more = model.send(.blog(.comments("p12", Array(Fixture.comments.prefix(2)))))
    #expect(more == [.mark(.post("p12", .read(lastComment: "c2")))])
    #expect(model.type("q").first == .request(.close("p12")))
  }

  @Test("A post read on another terminal is read here")
  func elsewhere() {
    var model = model()
    model.send(
      .blog(.readState(ReadState(before: 0, marks: ["p12": .read(lastComment: "")])))
    )
    #expect(!model.feed.posts.filter(model.session.isUnread).map(\.id).contains("p12"))
  }

  @Test("m toggles read and unread, M marks all read, and U selects the next unread post")
  func marking() {
    var model = model()
    #expect(model.type("m").first == .mark(.post("p12", .read(until: Fixture.now))))
    #expect(model.type("m").first == .mark(.post("p12", .unread)))
    model.type("jjj")
    #expect(model.type("m") == [.mark(.post("p09", .unread))])
    model.type("U")
    #expect(model.feed.list.selection == "p12")
    model.type("U")
    #expect(model.feed.list.selection == "p09")
    #expect(model.type("M") == [.mark(.allRead)])
    model.type("U")
    #expect(model.message?.text.string == "No unread posts in this list")
    guard case .mark(.restore(let state))? = model.type("u").last else {
      Issue.record("not undone")
      return
    }
    #expect(state.marks["p09"] == .unread)
    model.type("U")
    #expect(model.feed.list.selection == "p12")
  }

  @Test("A late echo of an older mark never reverts a newer one")
  func lateEcho() {
    var model = model()
    model.type("jjj", "m", "M")
    func hasUnread() -> Bool { model.feed.posts.contains(where: model.session.isUnread) }
    #expect(!hasUnread())
    // What the database reported when it knew only the first mark arrives after the second.
    let old = ReadState(before: Fixture.ago(minutes: 10), marks: ["p09": .unread])
    for event in [BlogEvent.readState(old), .markAnswered] {
      model.send(.blog(event))
      #expect(!hasUnread())
      #expect(!model.rows.contains { $0.contains("•") })
    }
    let new = ReadState(before: Fixture.now - 1)
    model.send(.blog(.readState(new)))
    model.send(.blog(.markAnswered))
    #expect(model.reading.marks.state == new)
    // With nothing in flight, every report counts.
    model.send(.blog(.readState(old)))
    #expect(hasUnread())
  }

  @Test("A refused mark is reverted")
  func refusedMark() {
    var model = model()
    model.type("m")
    #expect(model.feed.posts.filter(model.session.isUnread).isEmpty)
    model.send(.blog(.readState(ReadState(before: Fixture.ago(minutes: 10)))))
    model.send(.blog(.markAnswered))
    #expect(model.feed.posts.filter(model.session.isUnread).map(\.id) == ["p12"])
  }

  @Test("A post marked unread while open stays unread")
  func staysUnread() {
    var model = model()
    model.type(.enter)
    model.send(.blog(.post("p12", Fixture.posts[0])))
    model.send(.blog(.comments("p12", [])))
    #expect(model.type("m") == [.mark(.post("p12", .unread))])
    #expect(model.send(.blog(.comments("p12", Fixture.comments))) == [])
    #expect(model.type("q") == [.request(.close("p12"))])
    #expect(model.feed.posts.filter(model.session.isUnread).map(\.id) == ["p12"])
  }

  @Test("A line marks the first unread comment, and U selects it")
  func unreadLine() {
    var model = opened(ReadState(before: 0, marks: ["p11": .read(lastComment: "c1")]))
    model.send(.blog(.comments("p11", Fixture.comments)))
    model.type("G")
    let line = model.rows.firstIndex { $0.contains(" new since you were here ") }
    #expect(line.map { model.rows[$0 + 1].contains("美玲") } == true)
    // The line stays even when everything counts as read.
    model.send(
      .blog(.readState(ReadState(before: 0, marks: ["p11": .read(lastComment: "c3")])))
    )
    #expect(model.rows.contains { $0.contains(" new since you were here ") })
    model.type("g", "g", "U")
    #expect(model.openPost?.selection == "c2")
  }

  @Test("There is no line without new comments or above the user's own comment")
  func noLine() {
    var read = opened(ReadState(before: 0, marks: ["p11": .read(lastComment: "c2")]))
    read.send(.blog(.comments("p11", Fixture.comments)))
    #expect(read.openPost?.unread.first == nil)
    var old = opened(ReadState(before: Fixture.now))
    old.send(.blog(.comments("p11", Fixture.comments)))
    #expect(old.openPost?.unread.first == nil)
  }
}
