import BlogModel
import RealtimeDatabase
import Testing

/// The features and the mistakes of the published samples, as a list.
@Suite("Published sample")
struct SampleParityTests {
  private let server: BlogServer

  init() async throws { server = try await BlogServer() }

  @Test("Layout: comments are stored under their post, oldest first, with uid, author and text")
  func comments() async throws {
    let blog = try server.blog("alice")
    let id = try await blog.post(title: "t", body: "b")
    for text in ["one", "two"] { _ = try await blog.comment(on: id, text: text) }
    #expect(try await blog.comments(on: id).map(\.text) == ["one", "two"])
    let place = try await server.database().reference(withPath: "post-comments/\(id)").getData()
    #expect(place.childSnapshots.first?.json == #"{"author":"alice","text":"one","uid":"alice"}"#)
  }

  @Test("A post without starCount and stars has no stars and can be starred")
  func missingCount() async throws {
    let root = try server.database().reference()
    let post = ["uid": "bob", "author": "bob", "title": "t", "body": "b"]
    try await root.updateChildValues(["posts/p": post, "user-posts/bob/p": post])
    let alice = try server.blog("alice")
    #expect(try await alice.post("p").starCount == 0)
    try await alice.perform(.star("p", true))
    #expect(try await server.check().faults == [])
  }

  @Test("Defects 2 and 3: a star given in a list is read back as the user's own")
  func starIsRead() async throws {
    let alice = try server.screen("alice")
    let id = alice.blog.post(title: "t", body: "b")
    alice.blog.request(.follow(.recent))
    alice.blog.perform(.star(id, true))
    try await alice.wait("the star") { $0.posts(.recent)?.first?.stars == ["alice"] }
    let other = try server.screen("alice")
    other.blog.request(.follow(.recent))
    try await other.wait("the star") { $0.posts(.recent)?.first?.stars == ["alice"] }
  }

  @Test("Defect 4: deleting a comment twice, or one that never existed, does no harm")
  func unknownComment() async throws {
    let id = try await server.blog("bob").post(title: "t", body: "b")
    let alice = try server.screen("alice")
    alice.blog.request(.open(id))
    let comment = alice.blog.comment(on: id, text: "x")
    alice.blog.perform(.deleteComment(id, commentID: comment))
    alice.blog.perform(.deleteComment(id, commentID: comment))
    alice.blog.perform(.deleteComment(id, commentID: "never"))
    try await alice.wait("all answered") { probe in
      probe.all.count { if case .succeeded(.deleteComment) = $0 { true } else { false } } == 3
    }
    #expect(alice.comments(id) == [])
  }

  @Test("Defects 5 and 9: a star is acknowledged once, and both counts agree")
  func starIsAnswered() async throws {
    let id = try await server.blog("alice").post(title: "t", body: "b")
    for name in ["bob", "carol"] { try await server.blog(name).perform(.star(id, true)) }
    let check = try await server.check()
    #expect(check.faults == [])
    #expect(check.starCount == 2)
    #expect(try await server.blog("alice").posts(.myTop).first?.starCount == 2)
  }

  @Test("Defects 6 and 8: both top lists are descending, and a star moves a post up immediately")
  func top() async throws {
    let alice = try server.screen("alice")
    let ids = (1...3).map { alice.blog.post(title: "\($0)", body: "b") }
    alice.blog.request(.follow(.top))
    alice.blog.request(.follow(.myTop))
    try await alice.wait("three") { $0.posts(.myTop)?.count == 3 && $0.posts(.top)?.count == 3 }
    // Alice sees her posts before the server has them, where bob looks for them.
    try await alice.wait("three are stored") { probe in
      probe.all.count { if case .succeeded(.post) = $0 { true } else { false } } == 3
    }
    try await server.blog("bob").perform(.star(ids[0], true))
    let order = [ids[0], ids[2], ids[1]]
    try await alice.wait("the starred one first") {
      $0.posts(.top)?.map(\.id) == order && $0.posts(.myTop)?.map(\.id) == order
    }
  }

  @Test("Defect 10: a list that becomes empty is shown as empty")
  func emptied() async throws {
    let alice = try server.screen("alice")
    let id = alice.blog.post(title: "t", body: "b")
    alice.blog.request(.follow(.recent))
    try await alice.wait("a post") { $0.posts(.recent)?.count == 1 }
    alice.blog.perform(.deletePost(id))
    try await alice.wait("no post") { $0.posts(.recent) == [] }
  }

  @Test("Defect 10: the author is the chosen name", arguments: ["alice", "Ann Lee", "美玲"])
  func authorName(name: String) async throws {
    let blog = try server.blog(name)
    let id = try await blog.post(title: "t", body: "b")
    #expect(try await blog.post(id).author == name)
  }

  @Test(
    "A post or comment without text is rejected before anything is sent",
    arguments: ["", " \n"]
  )
  func empty(text: String) async throws {
    let blog = try server.blog("alice")
    await #expect(throws: BlogError.invalidText("Neither title nor body can be empty.")) {
      try await blog.post(title: text, body: "b")
    }
    await #expect(throws: BlogError.invalidText("Neither title nor body can be empty.")) {
      try await blog.post(title: "t", body: text)
    }
    let id = try await blog.post(title: "t", body: "b")
    await #expect(throws: BlogError.invalidText("A comment cannot be empty.")) {
      try await blog.comment(on: id, text: text)
    }
  }
}
