import BlogModel
import Foundation
import RealtimeDatabase
import RealtimeServer
import TestSupport
import Testing

@Suite("Star on a screen", .timeLimit(.minutes(1)))
struct StarGestureTests {
  /// A screen of alice with a post by bob in its list, of which everything is known.
  private func screen(
    on server: BlogServer
  ) async throws -> (screen: ScreenProbe, post: PostID) {
    let id = try await server.signedInBlog("bob").post(title: "t", body: "b")
    let database = try server.database(as: "alice")
    let alice = try server.screen("alice", on: database, stars: .increment)
    alice.blog.request(.follow(.recent))
    try await alice.wait("the list") { $0.posts(.recent)?.count == 1 }
    try await alice.wait("the pulse") {
      $0.all.contains { if case .roundTrip = $0 { true } else { false } }
    }
    try await alice.wait("what was read") {
      $0.all.contains { if case .readState = $0 { true } else { false } }
    }
    // The read state begins with a write, which the server has counted once it answers a later read.
    _ = try await database.reference(withPath: "users/bob/username").getData()
    return (alice, id)
  }

  @Test("takes a single write request, without reads or listeners")
  func request() async throws {
    let server = try await BlogServer(shippedRules: "blog.json")
    let (alice, id) = try await screen(on: server)
    for isStarred in [true, false] {
      let before = try await server.requests()
      alice.blog.perform(.star(id, isStarred))
      try await alice.wait("the answer") { $0.all.contains(.succeeded(.star(id, isStarred))) }
      let after = try await server.requests()
      let added = after.merging(before, uniquingKeysWith: -).filter { $0.value != 0 }
      #expect(added == ["write": 1])
      #expect(alice.posts(.recent)?.first?.starCount == (isStarred ? 1 : 0))
    }
  }

  @Test("appears at once, even before the server has stored it")
  func slowStore() async throws {
    let rules = DatabaseServer.Rules.source(try PackageFiles.text("assets/rules/blog.json"))
    let stores = GatedStores()
    let server = try await BlogServer(rules: rules, isEmulator: true, stores: stores)
    let (alice, id) = try await screen(on: server)
    stores.gate.setOpen(false)
    defer { stores.gate.setOpen(true) }
    alice.blog.perform(.star(id, true))
    try await alice.wait("it is shown") { $0.posts(.recent)?.first?.starCount == 1 }
    #expect(!alice.all.contains(.succeeded(.star(id, true))))
    stores.gate.setOpen(true)
    try await alice.wait("the answer") { $0.all.contains(.succeeded(.star(id, true))) }
  }
}
