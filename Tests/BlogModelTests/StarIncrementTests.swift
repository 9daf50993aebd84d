import BlogModel
import Foundation
import RealtimeCore
import RealtimeDatabase
import RealtimeServer
import Testing

@Suite("Star by a single multi-path update", .timeLimit(.minutes(1)))
struct StarIncrementTests {
  /// A server with rules from `assets/rules` and a post by bob.
  private func server(_ rules: String = "blog.json") async throws -> (BlogServer, PostID) {
    let server = try await BlogServer(shippedRules: rules)
    let id = try await server.signedInBlog("bob").post(title: "t", body: "b")
    return (server, id)
  }

  /// The post, provided that the blog has no faults.
  private func post(_ server: BlogServer, _ id: PostID) async throws -> Post {
    let database = try server.database(as: "reader")
    let check = try await BlogCheck(reading: database.reference())
    #expect(check.faults == [])
    #expect(check.postCount == 1)
    return try await Blog(database: database, me: try Author(userName: "reader")).post(id)
  }

  @Test("A star can be set and removed repeatedly and counts once")
  func setting() async throws {
    let (server, id) = try await server()
    let alice = try server.signedInBlog("alice")
    for isStarred in [true, true, false, false, true] {
      try await alice.perform(.star(id, isStarred))
      #expect(try await post(server, id).starCount == (isStarred ? 1 : 0))
    }
    try await server.signedInBlog("bob").perform(.star(id, true))
    #expect(try await post(server, id).stars == ["alice", "bob"])
  }

  @Test("A star already given on another terminal is not a failure, even if the owner is unknown")
  func twice() async throws {
    let (server, id) = try await server()
    try await server.signedInBlog("alice").perform(.star(id, true))
    let alice = try server.signedInBlog("alice")
    for owner in ["bob", nil] {
      let error = await withCheckedContinuation { continuation in
        alice.star(true, on: id, owner: owner) { continuation.resume(returning: $0) }
      }
      #expect(error == nil)
    }
    #expect(try await post(server, id).starCount == 1)
  }

  @Test("After quick toggles the last state wins, even offline")
  func quick() async throws {
    let (server, id) = try await server()
    let database = try server.database(as: "alice")
    let alice = try server.screen("alice", on: database, stars: .increment)
    alice.blog.request(.follow(.recent))
    try await alice.wait("the list") { $0.posts(.recent)?.count == 1 }
    for isStarred in [true, false, true] { alice.blog.perform(.star(id, isStarred)) }
    try await alice.wait("three answers") {
      $0.all.count { $0 == .succeeded(.star(id, true)) } == 2
    }
    #expect(try await post(server, id).stars == ["alice"])
    database.goOffline()
    alice.blog.perform(.star(id, false))
    try await alice.wait("it is shown") { $0.posts(.recent)?.first?.starCount == 0 }
    database.goOnline()
    try await alice.wait("the answer") { $0.all.contains(.succeeded(.star(id, false))) }
    #expect(try await post(server, id).stars == [])
    #expect(alice.refusals == [])
  }

  @Test("Starring a deleted post fails with notFound")
  func deleted() async throws {
    let (server, id) = try await server()
    try await server.signedInBlog("bob").perform(.deletePost(id))
    let alice = try server.signedInBlog("alice")
    await #expect(throws: BlogError.notFound(id)) { try await alice.perform(.star(id, true)) }
    let error = await withCheckedContinuation { continuation in
      alice.star(true, on: id, owner: "bob") { continuation.resume(returning: $0) }
    }
    #expect(error as? BlogError == .notFound(id))
  }

  @Test("A star missing only from the copy is added to the copy")
  func drift() async throws {
    let (server, id) = try await server()
    try await server.administer(["posts/\(id)/stars/alice": true, "posts/\(id)/starCount": 1])
    let alice = try server.signedInBlog("alice")
    let error = await withCheckedContinuation { continuation in
      alice.star(true, on: id, owner: "bob") { continuation.resume(returning: $0) }
    }
    #expect(error == nil)
    #expect(try await post(server, id).starCount == 1)
  }

  @Test("Only blog-transactions.json allows stars by transaction")
  func transactions() async throws {
    let (strict, first) = try await server()
    await #expect(throws: DatabaseError.self) {
      try await strict.signedInBlog("alice", stars: .transaction).perform(.star(first, true))
    }
    #expect(try await post(strict, first).starCount == 0)
    let (friendly, second) = try await server("blog-transactions.json")
    try await friendly.signedInBlog("alice", stars: .transaction).perform(.star(second, true))
    try await friendly.signedInBlog("carol").perform(.star(second, true))
    #expect(try await post(friendly, second).starCount == 2)
  }

  @Test("Presence, read marks, edits and deletions work under the rules of a shared blog")
  func screen() async throws {
    let (server, id) = try await server()
    let alice = try server.screen("alice", on: try server.database(as: "alice"), terminal: "t1")
    try await alice.wait("I am here") { $0.people?.map(\.person.name) == ["alice"] }
    try await alice.wait("a beginning") { $0.readState != nil }
    for mark in [ReadState.Mark.read(lastComment: "c"), .unread] {
      alice.blog.mark(.post(id, mark))
      try await alice.wait("the mark") { $0.readState?.marks == [id: mark] }
    }
    let mine = alice.blog.post(title: "mine", body: "b")
    alice.blog.perform(.edit(mine, title: "edited", body: "b"))
    let comment = alice.blog.comment(on: id, text: "c")
    alice.blog.perform(.editComment(id, commentID: comment, text: "d"))
    alice.blog.perform(.deleteComment(id, commentID: comment))
    alice.blog.perform(.deletePost(mine))
    alice.blog.mark(.allRead)
    try await alice.wait("all is deleted") { $0.all.contains(.succeeded(.deletePost(mine))) }
    try await alice.wait("nothing is marked") { $0.readState?.marks.isEmpty == true }
    #expect(alice.refusals == [])
    let bob = try server.database(as: "bob")
    await #expect(throws: DatabaseError.self) {
      try await bob.reference().child("seen/alice").getData()
    }
    await #expect(throws: DatabaseError.self) { try await bob.reference().getData() }
  }
}
