import RealtimeDatabase
import RealtimeServer
import Testing

@testable import BlogModel

@Suite("Presence, typing and read marks")
struct PeopleTests {
  private let server: BlogServer

  init() async throws { server = try await BlogServer() }

  @Test("A user is listed with a terminal until the connection ends")
  func presence() async throws {
    let alice = try server.screen("alice", terminal: "t1")
    let database = try server.database()
    let bob = try server.screen("bob", on: database, terminal: "t2")
    try await alice.wait("both") { $0.people?.map(\.person.name) == ["alice", "bob"] }
    let entry = try #require(alice.people?.last)
    #expect(entry.terminal == "t2 text")
    #expect(abs(try #require(entry.since) - alice.blog.now) < 60_000)

    database.goOffline()
    try await alice.wait("alice only") { $0.people?.map(\.person.name) == ["alice"] }
    database.goOnline()
    try await alice.wait("both again") { $0.people?.last == entry }
    try await bob.wait("both") { $0.people?.count == 2 }
  }

  @Test("Open terminals adopt a new name of their account and write under it")
  func renamed() async throws {
    let alice = try server.screen(
      "alice",
      on: try server.database(),
      naming: .kept(asks: true),
      terminal: "t1"
    )
    let local = try server.screen("alice", terminal: "t2")
    try await alice.wait("both") { $0.people?.map(\.person.name) == ["alice", "alice"] }
    alice.blog.request(.hearNotices(true))
    let name = try server.database().reference(withPath: "users/alice/username")
    // What cannot be a name changes nothing.
    try await name.setValue("")
    try await name.setValue("a\u{202E}b")
    try await name.setValue(7)
    try await name.setValue("Alice A.")
    try await alice.wait("the new name") { $0.people?.first?.person.name == "Alice A." }
    #expect(alice.all.filter { if case .renamed = $0 { true } else { false } }.count == 1)
    #expect(alice.all.contains(.renamed(Author(uid: "alice", name: "Alice A."))))

    alice.blog.request(.follow(.recent))
    let id = alice.blog.post(title: "t", body: "b")
    try await alice.wait("the post") {
      $0.all.contains(.succeeded(.post(id, title: "t", body: "b")))
    }
    #expect(try await server.blog("bob").post(id).author == "Alice A.")
    #expect(try await name.getData().value as? String == "Alice A.")
    // Mentions of the new name arrive.
    let mention = try await server.blog("bob").post(title: "for @AliceA.", body: "b")
    try await alice.wait("the mention") { probe in
      probe.noticeEntries?.contains { $0.post == mention } == true
    }
    // Who goes by the name of --user keeps it.
    #expect(local.blog.me.name == "alice")
    local.blog.perform(.rename("Al"))
    try await local.wait("the reason") { $0.all.contains(.failed(.rename("Al"), reason: "here")) }
    #expect(try await name.getData().value as? String == "Alice A.")
  }

  @Test("A name chosen on one terminal applies to all, and only nameless users are asked")
  func named() async throws {
    let first = try server.screen(
      "alice",
      on: try server.database(),
      naming: .kept(asks: true),
      terminal: "t1"
    )
    try await first.wait("the question") { $0.all.contains(.unnamed) }
    // Until there is an answer, the user goes by the name that was offered.
    try await first.wait("herself") { $0.people?.map(\.person.name) == ["alice"] }
    let second = try server.screen(
      "alice",
      on: try server.database(),
      naming: .kept(asks: true),
      terminal: "t2"
    )
    try await second.wait("the name") {
      $0.all.contains(.named(Author(uid: "alice", name: "alice")))
    }
    #expect(!second.all.contains(.unnamed))

    let chosen = Author(uid: "alice", name: "Alice A.")
    first.blog.perform(.rename("Alice A."))
    for screen in [first, second] {
      try await screen.wait("the new name") {
        $0.all.contains(.renamed(chosen))
          && $0.people?.map(\.person) == [chosen, chosen]
      }
    }
    let command = try server.blog("alice")
    try await command.adoptName()
    #expect(command.me == chosen)
    let silent = try server.screen("bob", on: try server.database(), naming: .kept(asks: false))
    silent.blog.perform(.rename("Bo"))
    try await silent.wait("an answer") { $0.all.contains(.succeeded(.rename("Bo"))) }
    #expect(!silent.all.contains(.unnamed))
  }

  @Test("What a user reads is visible until they stop sharing or leave")
  func reading() async throws {
    let owner = try server.blog("owner")
    let tea = try await owner.post(title: "Tea", body: "b")
    let milk = try await owner.post(title: "Milk", body: "b")
    let database = try server.database()
    let bob = try server.screen("bob", on: database, terminal: "t1", sharesReading: true)
    bob.blog.request(.shareReading(true))
    // A terminal that does not tell is listed all the same.
    let old = try server.screen("old", terminal: "t2")
    let alice = try server.screen("alice", terminal: "t3")
    try await alice.wait("all") { $0.people?.map(\.person.name) == ["alice", "bob", "old"] }
    #expect(alice.places == nil)
    alice.blog.request(.watchReading(true))
    try await alice.wait("the lists") { $0.places == ["bob/t1": "-"] }
    bob.blog.request(.open(tea))
    try await alice.wait("Tea") { $0.places == ["bob/t1": "Tea"] }
    let told = try await owner.reading(of: owner.people())
    #expect(told == [ReadingPlace(id: "bob/t1", post: tea, title: "Tea")])

    // Who leafs through posts tells where they stay.
    bob.blog.request(.close(tea))
    bob.blog.request(.open(milk))
    try await alice.wait("Milk") { $0.places == ["bob/t1": "Milk"] }
    let seen = alice.all.compactMap { event -> [PostID?]? in
      if case .reading(let places) = event { places.map(\.post) } else { nil }
    }
    #expect(!seen.drop { $0 != [tea] }.contains([nil]))
    bob.blog.request(.shareReading(false))
    try await alice.wait("nothing") { $0.places == [:] }
    bob.blog.request(.shareReading(true))
    try await alice.wait("Milk again") { $0.places == ["bob/t1": "Milk"] }
    database.goOffline()
    try await alice.wait("nothing after the end") { $0.places == [:] }
    database.goOnline()
    try await alice.wait("Milk at once") { $0.places == ["bob/t1": "Milk"] }
    #expect(old.blog.me.name == "old")

    alice.blog.request(.watchReading(false))
    let last = alice.places
    bob.blog.request(.shareReading(false))
    let carol = try server.screen("carol")
    carol.blog.request(.watchReading(true))
    try await carol.wait("bob, who tells nothing") { $0.people?.count == 3 && $0.places == [:] }
    #expect(alice.places == last)
  }

  @Test("A user is not listed until the server accepts the onDisconnect update")
  func refusedArrangement() async throws {
    var limits = DatabaseServer.Limits()
    limits.disconnectWrites = 1
    let server = try await BlogServer(limits: limits)
    let alice = try server.screen("alice", terminal: "t1")
    try await alice.wait("alice") { $0.people?.map(\.person.name) == ["alice"] }
    let id = try await server.blog("owner").post(title: "t", body: "b")
    alice.blog.request(.open(id))

    let database = try server.database()
    let other = database.reference(withPath: "other")
    try await other.onDisconnectSetValue("gone")
    let bob = try server.screen("bob", on: database, terminal: "t2")
    try await bob.wait("a connection") { $0.all.contains(.connection(.online)) }
    bob.blog.request(.typing(id, true))
    // Requests are answered in order.
    try await other.setValue("here")
    #expect(try await database.reference(withPath: "presence/bob").getData().exists() == false)
    #expect(try await database.reference(withPath: "typing").getData().exists() == false)

    try await other.cancelDisconnectOperations()
    try await alice.wait("one of both") {
      $0.people?.count == 2 || $0.typists(id) == ["bob"]
    }
    database.goOffline()
    try await alice.wait("alice only") {
      $0.people?.map(\.person.name) == ["alice"] && $0.typists(id) == []
    }
  }

  @Test("A user is shown as typing until the comment is sent or the connection ends")
  func typing() async throws {
    let id = try await server.blog("owner").post(title: "t", body: "b")
    let alice = try server.screen("alice")
    alice.blog.request(.open(id))
    let database = try server.database()
    let bob = try server.screen("bob", on: database)
    try await bob.wait("a connection") { $0.all.contains(.connection(.online)) }
    bob.blog.request(.typing(id, true))
    try await alice.wait("bob is writing") { $0.typists(id) == ["bob"] }
    bob.blog.request(.typing(id, false))
    try await alice.wait("nobody is writing") { $0.typists(id) == [] }
    bob.blog.request(.typing(id, true))
    try await alice.wait("bob is writing again") { $0.typists(id) == ["bob"] }
    // The response to having stopped must not undo an immediate restart.
    bob.blog.request(.typing(id, false))
    bob.blog.request(.typing(id, true))
    let other = database.reference(withPath: "other")
    for number in 1...3 { try await other.setValue(number) }
    try await alice.wait("bob goes on") { $0.typists(id) == ["bob"] }
    database.goOffline()
    try await alice.wait("bob is gone") { $0.typists(id) == [] }
  }

  @Test("Only what the user writes counts as not acknowledged")
  func ownWrites() async throws {
    let stores = GatedStores()
    let server = try await BlogServer(stores: stores)
    let id = try await server.blog("owner").post(title: "t", body: "b")
    let alice = try server.screen("alice")
    alice.blog.request(.open(id))
    let bob = try server.screen("bob", terminal: "t1")
    try await bob.wait("a connection") { $0.all.contains(.connection(.online)) }
    bob.blog.request(.typing(id, true))
    try await alice.wait("bob is writing") { $0.typists(id) == ["bob"] }
    stores.gate.setOpen(false)
    defer { stores.gate.setOpen(true) }
    bob.blog.request(.typing(id, false))
    await bob.blog.flush()
    bob.blog.perform(.comment(id, text: "c"))
    try await bob.wait("the comment") { $0.all.contains(.pendingWrites(1)) }
    stores.gate.setOpen(true)
    try await bob.wait("the answer") { probe in
      probe.all.contains { if case .succeeded(.comment) = $0 { true } else { false } }
    }
    let counts = bob.all.compactMap { event in
      if case .pendingWrites(let count) = event { count } else { nil }
    }
    #expect(counts.max() == 1)
  }

  @Test("A post read on one terminal is read on the other and can be marked unread again")
  func readState() async throws {
    let first = try server.screen("alice")
    try await first.wait("a beginning") { $0.readState != nil }
    let second = try server.screen("alice")
    try await second.wait("the same") { $0.readState == first.readState }
    // One client: a read fails after three seconds without a connection, which a new one still lacks.
    let bob = try server.blog("bob")
    let id = try await bob.post(title: "t", body: "b")
    let post = try await bob.post(id)
    try await second.wait("unread") { $0.readState?.isUnread(post) == true }
    first.blog.mark(.post(id, .read(lastComment: "c")))
    try await second.wait("read") {
      $0.readState?.isUnread(post) == false && $0.readState?.lastComment(on: id) == "c"
    }
    second.blog.mark(.post(id, .unread))
    try await first.wait("unread again") { $0.readState?.isUnread(post) == true }
    first.blog.mark(.allRead)
    try await second.wait("all is read") { $0.readState?.isUnread(post) == false }
    #expect(second.readState?.marks.isEmpty == true)
    // Each mark is answered after every report of an earlier state.
    try await first.wait("two answers") { $0.all.count { $0 == .markAnswered } == 2 }
    let events = first.all
    let answer = try #require(events.lastIndex(of: .markAnswered))
    let before = events[..<answer].reversed().lazy.compactMap { event in
      if case .readState(let state) = event { state } else { nil }
    }.first
    #expect(before?.isUnread(post) == false)
  }

  @Test("Restoring marks leaves alone those that another terminal has made")
  func restoredMarks() async throws {
    let first = try server.screen("alice")
    try await first.wait("a beginning") { $0.readState != nil }
    let second = try server.screen("alice")
    first.blog.mark(.post("a", .unread))
    second.blog.mark(.post("b", .unread))
    try await first.wait("both marks") { $0.readState?.marks == ["a": .unread, "b": .unread] }
    first.blog.mark(.restore(before: nil, marks: ["a": nil, "c": .read(lastComment: "d")]))
    try await second.wait("the others") {
      $0.readState?.marks == ["b": .unread, "c": .read(lastComment: "d")]
    }
  }

  @Test("New comments on a read post are reported until they are read on another terminal")
  func newComments() async throws {
    let id = try await server.blog("bob").post(title: "t", body: "b")
    let bob = try server.blog("bob")
    let first = try server.screen("alice")
    let second = try server.screen("alice")
    let old = try await bob.comment(on: id, text: "old")
    first.blog.mark(.post(id, .read(lastComment: old)))
    for screen in [first, second] {
      try await screen.wait("the mark") { $0.readState?.marks[id] == .read(lastComment: old) }
      screen.blog.request(.watchComments([id]))
    }
    let new = try await bob.comment(on: id, text: "new")
    for screen in [first, second] {
      try await screen.wait("one new comment") { $0.newComments(on: id, for: "alice") == 1 }
    }
    second.blog.mark(.post(id, .read(lastComment: new)))
    try await first.wait("none any more") { $0.newComments(on: id, for: "alice") == 0 }
    // Comments on posts that are out of view are no longer reported.
    first.blog.request(.watchComments([]))
    second.blog.request(.watchComments([id]))
    let more = try await bob.comment(on: id, text: "more")
    try await second.wait("one more") { $0.latestComments(id)?.last?.id == more }
    #expect(first.latestComments(id)?.last?.id == new)
  }

  @Test("Only new comments and stars by others on the user's own posts are reported")
  func notices() async throws {
    let id = try await server.blog("alice").post(title: "mine", body: "b")
    let bob = try server.blog("bob")
    _ = try await bob.comment(on: id, text: "old")
    let alice = try server.screen("alice")
    alice.blog.request(.hearNotices(true))
    alice.blog.request(.follow(.mine))
    try await alice.wait("the list") { $0.posts(.mine)?.count == 1 }
    let comment = alice.blog.comment(on: id, text: "my own")
    alice.blog.perform(.star(id, true))
    try await alice.wait("both are stored") {
      $0.all.contains(.succeeded(.comment(id, commentID: comment, text: "my own")))
        && $0.all.contains(.succeeded(.star(id, true)))
    }
    _ = try await bob.comment(on: id, text: "new")
    try await bob.perform(.star(id, true))
    let expected: [Notice] = [
      .comment(id, title: "mine", by: Author(uid: "bob", name: "bob")),
      .star(id, title: "mine", count: 2),
    ]
    try await alice.wait("two notices") { $0.notices.count >= 2 }
    #expect(alice.notices == expected)
  }
}
