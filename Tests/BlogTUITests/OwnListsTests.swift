import BlogModel
import Testing

@testable import BlogTUI

@Suite("Muted people and bookmarks")
struct OwnListsTests {
  private func model(_ lists: OwnLists) -> Model {
    var model = Fixture.loaded()
    model.send(.blog(.ownLists(lists)))
    return model
  }

  @Test("X mutes the author and hides their posts, and u undoes it")
  func mute() {
    var model = Fixture.loaded()
    #expect(model.type("X") == [.write(.mute(uid: "bob", true))])
    #expect(model.message?.text.string == "bob is muted; u undoes, :muted lists all")
    model.send(.blog(.ownLists(OwnLists(muted: ["bob"]))))
    #expect(!model.session.feed.list.ids.contains("p12"))
    #expect(model.session.feed.list.ids.contains("p11"))
    #expect(model.type("u") == [.write(.mute(uid: "bob", false))])
    model.send(.blog(.ownLists(OwnLists())))
    #expect(model.session.feed.list.ids.contains("p12"))
  }

  @Test("The list of an author and the bookmarks show posts of muted users")
  func exceptions() {
    var model = model(OwnLists(muted: ["bob"], bookmarks: ["p12"]))
    model.type("6")
    model.send(.blog(.feed(.bookmarks, posts: [Fixture.posts[0]])))
    #expect(model.session.feed.list.ids == ["p12"])
    model.type("a")
    model.send(.blog(.feed(.author(uid: "bob"), posts: [Fixture.posts[0]])))
    #expect(model.session.feed.list.ids == ["p12"])
  }

  @Test("A muted user's comment is folded to its heading")
  func comments() {
    var model = model(OwnLists(muted: ["carol"]))
    model.type(.enter)
    let comments = [
      Comment(id: "c1", uid: "carol", author: "carol", text: "hidden words"),
      Comment(id: "c2", uid: "dave", author: "dave", text: "shown words"),
    ]
    model.send(.blog(.comments("p12", comments)))
    #expect(!model.rows.contains { $0.contains("hidden words") })
    #expect(model.rows.contains { $0.contains("carol muted") })
    #expect(model.rows.contains { $0.contains("shown words") })
    model.send(.blog(.ownLists(OwnLists())))
    #expect(model.rows.contains { $0.contains("hidden words") })
  }

  @Test("Notices from muted users are neither listed nor announced")
  func notices() {
    var model = model(OwnLists(muted: ["carol"]))
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

  @Test("Users cannot mute themselves, and :muted ends mutes and blocks")
  func unmute() {
    var model = model(OwnLists(muted: ["bob"], blocked: ["carol"]))
    #expect(model.session.feed.selectedPost?.uid == "alice")
    #expect(model.type("X") == [])
    model.send(.command("muted"))
    #expect(model.chooser?.items.map(\.title) == ["bob", "Carol Danvers of Boston"])
    #expect(model.type(.enter) == [.write(.mute(uid: "bob", false))])
    model.send(.command("muted"))
    #expect(model.type(.key(.down), .enter) == [.write(.block(uid: "carol", false))])
  }

  @Test("B toggles a bookmark, and the list of bookmarks appears with the first one")
  func bookmarks() {
    var model = Fixture.loaded()
    #expect(!model.session.allFeeds.contains(.bookmarks))
    #expect(model.type("B") == [.write(.bookmark("p12", true))])
    model.send(.blog(.ownLists(OwnLists(bookmarks: ["p12"]))))
    #expect(model.session.allFeeds.contains(.bookmarks))
    #expect(model.type("B") == [.write(.bookmark("p12", false))])
    #expect(model.type("6") == [.request(.follow(.bookmarks))])
  }

  @Test("Each online user is listed once, with their earliest terminal")
  func people() {
    var model = Fixture.loaded()
    func presence(_ person: Author, _ id: String, at minutes: Int64) -> Presence {
      Presence(
        id: "\(person.uid)/\(id)",
        person: person,
        terminal: "pts/\(id)",
        since: Fixture.ago(minutes: minutes)
      )
    }
    let bob = Author(uid: "bob", name: "bob")
    let people = [
      presence(bob, "1", at: 3), presence(Fixture.alice, "2", at: 5), presence(bob, "3", at: 9),
    ]
    model.send(.blog(.people(people)))
    #expect(model.type("w") == [.request(.watchReading(true))])
    func lines(_ model: Model) -> [String]? { model.help?.scroll.lines.map(\.string) }
    #expect(lines(model) == ["alice  pts/2  for 5m", "bob  pts/3 and another one  for 9m"])

    func place(_ id: String, _ post: PostID? = nil, _ title: String? = nil) -> BlogEvent {
      .reading([ReadingPlace(id: id, post: post, title: title)])
    }
    func read(_ event: BlogEvent) -> String? {
      model.send(.blog(event))
      return lines(model)?.last
    }
    let bobs = "bob  pts/3 and another one  for 9m"
    #expect(read(place("bob/1")) == bobs + "  looks at the lists")
    #expect(read(place("bob/1", "p", nil)) == bobs + "  reads a post")
    #expect(read(place("bob/3", "p", "Tea")) == bobs + "  reads \"Tea\"")
    let both = ["Tea", "Milk", "Tea"].enumerated().map {
      ReadingPlace(id: "bob/\($0 + 1)", post: $1, title: $1)
    }
    #expect(read(.reading(both)) == bobs + "  reads \"Tea\"")
    #expect(read(.reading([])) == bobs)

    // The page follows who comes and goes, and leaves out those who are muted.
    #expect(read(.people(Array(people.prefix(1)))) == "bob  pts/1  for 3m")
    #expect(read(.ownLists(OwnLists(muted: ["bob"]))) == "Nobody seems to be online.")
    #expect(model.type("q") == [.request(.watchReading(false))])
  }

  @Test("Others see what the user reads only if the setting allows it")
  func sharing() {
    var model = Fixture.loaded()
    let share = Effect.request(.shareReading(true))
    model.send(.configured(Configuration()))
    #expect(!model.send(.configured(Configuration())).contains(share))
    let effects = model.send(.command("set share-reading false"))
    #expect(effects.contains(.request(.shareReading(false))))
    #expect(model.send(.command("set share-reading true")).contains(share))
  }

  @Test("A search is saved in a free place, opened as a list, and removed")
  func searches() {
    var model = model(OwnLists(searches: [SavedSearch(slot: "s00", name: "old", text: "train")]))
    #expect(model.send(.command("save-search tea")) == [])
    model.type("/", "starred", .enter)
    #expect(
      model.send(.command("save-search my stars")).first
        == .write(.saveSearch(slot: "s01", name: "my stars", text: "starred"))
    )
    #expect(
      model.send(.command("save-search old")).first
        == .write(.saveSearch(slot: "s00", name: "old", text: "starred"))
    )
    model.type(.escape, "S", .enter)
    #expect(model.session.search?.field.text == "train")
    #expect(model.session.feed.list.ids == ["p11"])
    #expect(
      model.send(.command("remove-search old")).first
        == .write(.saveSearch(slot: "s00", name: "old", text: nil))
    )
    #expect(
      model.type("u").first == .write(.saveSearch(slot: "s00", name: "old", text: "train"))
    )
  }

  @Test("A refused bookmark says so and how to try again")
  func refused() {
    var model = Fixture.loaded()
    model.send(.blog(.failed(.bookmark("p12", true), reason: "No")))
    #expect(model.message?.text.string == "The bookmark was not saved: No. B tries again.")
  }
}
