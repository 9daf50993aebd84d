import BlogModel
import RealtimeDatabase
import RealtimeServer
import Testing

@Suite("Edits and deletions")
struct ChangingTests {
  private let server: BlogServer

  init() async throws { server = try await BlogServer() }

  @Test("An edit changes both copies at once, keeps the stars and is allowed to the owner only")
  func edit() async throws {
    let alice = try server.screen("alice")
    let bob = try server.screen("bob")
    let id = alice.blog.post(title: "t", body: "b")
    bob.blog.request(.follow(.recent))
    try await bob.wait("the post") { $0.posts(.recent)?.count == 1 }
    bob.blog.perform(.star(id, true))
    alice.blog.perform(.edit(id, title: "new", body: "text"))
    try await bob.wait("the edit and the star") {
      $0.posts(.recent)?.first.map { $0.title == "new" && $0.stars == ["bob"] } == true
    }
    try await alice.wait("an acknowledgement") {
      $0.all.contains(.succeeded(.edit(id, title: "new", body: "text")))
    }
    try await bob.wait("the star is stored") { $0.all.contains(.succeeded(.star(id, true))) }
    #expect(try await server.check().faults == [])
    await #expect(throws: BlogError.notMine("post \(id)", owner: "alice")) {
      try await server.blog("bob").perform(.edit(id, title: "x", body: "y"))
    }
  }

  @Test("The title changed on one terminal and the text on another both stay")
  func editOfParts() async throws {
    let first = try server.screen("alice")
    let second = try server.screen("alice")
    let id = first.blog.post(title: "t", body: "b #tea")
    second.blog.request(.follow(.recent))
    try await second.wait("the post") { $0.posts(.recent)?.count == 1 }
    first.blog.perform(.edit(id, title: "new"))
    second.blog.perform(.edit(id, body: "text"))
    try await second.wait("both changes") {
      $0.posts(.recent)?.first.map { $0.title == "new" && $0.body == "text" } == true
    }
    #expect(try await server.check().faults == [])
  }

  @Test("Editing a post that another terminal deleted leaves no data, even without rules")
  func editOfDeleted() async throws {
    let first = try server.screen("alice")
    let second = try server.screen("alice")
    let id = first.blog.post(title: "t", body: "b")
    second.blog.request(.follow(.recent))
    try await second.wait("the post") { $0.posts(.recent)?.count == 1 }
    first.blog.perform(.deletePost(id))
    // At the same moment, before the second screen can know of it, and again once it does.
    second.blog.perform(.edit(id, title: "late", body: "x"))
    let late = BlogEvent.succeeded(.edit(id, title: "late", body: "x"))
    // The edit may have reached the server before the deletion, which then removes it as well.
    try await second.wait("an answer") { $0.all.contains(late) || $0.refusals.count == 1 }
    try await first.wait("the deletion is stored") { $0.all.contains(.succeeded(.deletePost(id))) }
    let before = second.refusals.count
    second.blog.perform(.edit(id, title: "later", body: "x"))
    try await second.wait("a refusal") { $0.refusals.count == before + 1 }
    #expect(second.refusals.allSatisfy { $0.contains("deleted") })
    #expect(try await server.database().reference().getData().hasChild("posts/\(id)") == false)
    #expect(try await server.database().reference().child("user-posts").getData().exists() == false)
    try await second.wait("an empty list") { $0.posts(.recent)?.isEmpty == true }
  }

  @Test("An offline edit of a post deleted in the meantime leaves no data")
  func offlineEditOfDeleted() async throws {
    let first = try server.screen("alice")
    let database = try server.database()
    let second = try server.screen("alice", on: database)
    let id = first.blog.post(title: "t", body: "b")
    let comment = first.blog.comment(on: id, text: "c")
    second.blog.request(.follow(.recent))
    try await second.wait("the post") { $0.posts(.recent)?.count == 1 }
    database.goOffline()
    second.blog.perform(.edit(id, title: "late", body: "x"))
    second.blog.perform(.editComment(id, commentID: comment, text: "late"))
    try await second.wait("the edit is shown") { $0.posts(.recent)?.first?.title == "late" }
    first.blog.perform(.deletePost(id))
    try await first.wait("the deletion is stored") { $0.all.contains(.succeeded(.deletePost(id))) }
    database.goOnline()
    try await second.wait("two refusals") { $0.refusals.count == 2 }
    #expect(
      try await server.database().reference().getData().childSnapshots.map(\.key) == [
        "deleted", "seen", "users",
      ]
    )
  }

  @Test("Fragments of the user's own posts from an earlier run are removed")
  func sweep() async throws {
    let alice = try server.blog("alice")
    let whole = try await alice.post(title: "t", body: "b")
    let root = try server.database().reference()
    try await root.updateChildValues([
      "posts/gone/title": "late", "user-posts/alice/gone/title": "late",
    ])
    await alice.removeFragments()
    #expect(try await root.child("posts").getData().childSnapshots.map(\.key) == [whole])
    #expect(try await root.child("user-posts/alice").getData().childSnapshots.map(\.key) == [whole])
  }

  @Test("A comment edited or deleted by another user changes in place")
  func comments() async throws {
    let id = try await server.blog("owner").post(title: "t", body: "b")
    let alice = try server.screen("alice")
    let bob = try server.screen("bob")
    alice.blog.request(.open(id))
    let comments = ["one", "two", "three"].map { bob.blog.comment(on: id, text: $0) }
    try await alice.wait("three") { $0.comments(id)?.count == 3 }
    bob.blog.perform(.editComment(id, commentID: comments[1], text: "changed"))
    try await alice.wait("the change") {
      $0.comments(id)?.map(\.text) == ["one", "changed", "three"]
    }
    bob.blog.perform(.deleteComment(id, commentID: comments[0]))
    try await alice.wait("the deletion") { $0.comments(id)?.map(\.text) == ["changed", "three"] }
  }
}
