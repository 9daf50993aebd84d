import BlogModel
import Foundation
import RealtimeDatabase
import RealtimeHub
import RealtimeServer
import Testing

@Suite("A star on a screen", .timeLimit(.minutes(1)))
struct StarGestureTests {
  /// Stores that take a while to make anything durable.
  private struct SlowStores: TreeStores {
    struct Store: TreeStore {
      let store: any TreeStore

      func load() throws -> StoredTree { try store.load() }

      func commit(_ batch: CommitBatch) throws {
        usleep(400_000)
        try store.commit(batch)
      }

      func close() throws { try store.close() }
    }

    private let stores = MemoryTreeStores()

    func names() -> [String] { stores.names() }
    func open(_ name: String) -> (any TreeStore)? { stores.open(name).map(Store.init) }
    func create(_ name: String) -> Bool { stores.create(name) }
  }

  /// A screen of alice with a post by bob in its list, of which everything is known.
  private func screen(
    on server: BlogServer
  ) async throws -> (screen: ScreenProbe, post: PostID) {
    let bob = Blog(database: try server.database(as: "bob"), me: try Author(userName: "bob"))
    let id = try await bob.post(title: "t", body: "b")
    let alice = try server.screen(
      "alice",
      on: try server.database(as: "alice"),
      stars: .increment
    )
    alice.blog.follow(.recent)
    try await alice.wait("the list") { $0.posts(.recent)?.count == 1 }
    try await alice.wait("the pulse") {
      $0.all.contains { if case .roundTrip = $0 { true } else { false } }
    }
    return (alice, id)
  }

  @Test("is one request: nothing is listened to or read for it")
  func request() async throws {
    let rules = DatabaseServer.Rules.source(try StarIncrementTests.rules("blog.json"))
    let server = try await BlogServer(rules: rules, isEmulator: true)
    let (alice, id) = try await screen(on: server)
    for isStarred in [true, false] {
      let before = try await server.requests()
      alice.blog.setStar(id, to: isStarred)
      try await alice.wait("the answer") { $0.all.contains(.succeeded(.star(id, isStarred))) }
      let after = try await server.requests()
      let added = after.merging(before, uniquingKeysWith: -).filter { $0.value != 0 }
      #expect(added == ["write": 1])
      #expect(alice.posts(.recent)?.first?.starCount == (isStarred ? 1 : 0))
    }
  }

  @Test("shows at once, also where the server takes 400 ms to store it")
  func slowStore() async throws {
    let rules = DatabaseServer.Rules.source(try StarIncrementTests.rules("blog.json"))
    let server = try await BlogServer(rules: rules, isEmulator: true, stores: SlowStores())
    let (alice, id) = try await screen(on: server)
    let clock = ContinuousClock()
    let start = clock.now
    alice.blog.setStar(id, to: true)
    let called = clock.now - start
    try await alice.wait("it is shown") { $0.posts(.recent)?.first?.starCount == 1 }
    let shown = clock.now - start
    #expect(!alice.all.contains(.succeeded(.star(id, true))))
    try await alice.wait("the answer") { $0.all.contains(.succeeded(.star(id, true))) }
    #expect(clock.now - start >= .milliseconds(400))
    #expect(called < .milliseconds(100))
    #expect(shown < .milliseconds(300))
  }
}
