import BlogModel
import TerminalUI
import Testing

@testable import BlogTUI

@Suite("Screens of reading")
struct ReadingGoldenTests {
  private static let wide = Size(width: 150, height: 40)
  private static let usual = Size(width: 80, height: 24)

  /// A model with unread posts, people, and writes in all states.
  private func busy(_ size: Size, glyphs: GlyphSet = .unicode) -> Model {
    var model = Fixture.loaded(size, glyphs: glyphs)
    model.send(.blog(.readState(ReadState(before: Fixture.ago(minutes: 100)))))
    model.send(.blog(.roundTrip(milliseconds: 3)))
    let people = ["alice", "bob"].map { name in
      let person = Author(uid: name, name: name)
      return Presence(
        id: name,
        person: person,
        terminal: "pts/3 on hearth",
        since: Fixture.ago(minutes: 5)
      )
    }
    model.send(.blog(.people(people)))
    model.send(.blog(.extent(.recent, FeedExtent(hasOlder: true))))
    model.reading.deliveries = [
      "p08": .local, "p07": .sent, "p06": .acknowledged(at: Fixture.now), "p05": .refused,
    ]
    return model
  }

  @Test("Signs of what was not read and of how far my writes are", arguments: [usual, wide])
  func signs(size: Size) {
    Golden.check(view(busy(size)), "signs")
  }

  @Test("The same in ASCII")
  func ascii() {
    Golden.check(view(busy(Self.usual, glyphs: .ascii)), "signs", isASCII: true)
  }

  @Test("List and post side by side")
  func split() {
    var model = busy(Self.wide)
    model.type("j", .enter)
    model.send(.blog(.post("p11", Fixture.posts[1])))
    model.send(.blog(.comments("p11", Fixture.comments)))
    Golden.check(view(model), "split")
  }

  @Test("Two and five lines of each post", arguments: [1, 2])
  func density(presses: Int) {
    var model = busy(Self.usual)
    model.type("j")
    for _ in 0..<presses { model.type("v") }
    Golden.check(view(model), presses == 1 ? "density-normal" : "density-full")
  }

  @Test("The line above what was not read, and who is writing", arguments: [usual, wide])
  func unread(size: Size) {
    var model = busy(size)
    model.send(
      .blog(.readState(ReadState(before: 0, marks: ["p11": .read(lastComment: "c1")])))
    )
    model.type("j", .enter)
    model.send(.blog(.post("p11", Fixture.posts[1])))
    model.send(.blog(.comments("p11", Fixture.comments)))
    let bob = Author(uid: "bob", name: "bob")
    model.send(.blog(.typing("p11", [Typist(person: bob, at: Fixture.now)])))
    model.type("U")
    Golden.check(view(model), "unread")
  }

  @Test("The posts of one author, newest followed, with dates")
  func author() {
    var model = busy(Self.usual)
    model.type("a")
    let kind = FeedKind.author(uid: "bob")
    model.send(.blog(.feed(kind, posts: Fixture.posts.filter { $0.uid == "bob" })))
    model.type("F", "t")
    Golden.check(view(model), "author")
  }

  @Test("Who is here")
  func people() {
    var model = busy(Self.usual)
    model.type("w")
    Golden.check(view(model), "people")
  }

  @Test("What disappears soon")
  func deletion() {
    var model = busy(Self.usual)
    model.type("j", "dy")
    Golden.check(view(model), "deletion")
  }
}
