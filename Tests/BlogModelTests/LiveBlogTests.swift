import BlogModel
import Testing

@Suite("A live blog")
struct LiveBlogTests {
  @Test("tells of posts, stars and comments of others as they happen")
  func live() async throws {
    let server = try await BlogServer()
    let alice = try server.screen("alice")
    let bob = try server.screen("bob")
    alice.blog.follow(.recent)
    bob.blog.follow(.recent)
    bob.blog.follow(.top)
    try await alice.wait("an empty list") { $0.posts(.recent)?.isEmpty == true }

    let first = alice.blog.post(title: "first", body: "b")
    let second = alice.blog.post(title: "second", body: "b")
    try await bob.wait("both posts") { $0.posts(.recent)?.map(\.id) == [second, first] }

    bob.blog.setStar(first, to: true)
    try await alice.wait("the star") { $0.posts(.recent)?.last?.stars == ["bob"] }
    try await bob.wait("the starred post moves up") {
      $0.posts(.top)?.map(\.id) == [first, second]
    }

    alice.blog.open(first)
    let comment = bob.blog.comment(on: first, text: "hello")
    try await alice.wait("the comment") { $0.comments(first)?.map(\.text) == ["hello"] }
    bob.blog.deleteComment(comment, on: first)
    try await alice.wait("no comment") { $0.comments(first)?.isEmpty == true }

    alice.blog.deletePost(first)
    try await bob.wait("one post") { $0.posts(.recent)?.map(\.id) == [second] }
    try await alice.wait("the open post is gone") { $0.all.contains(.post(first, nil)) }
  }

  @Test("shows my own writes at once and reports when they are stored")
  func local() async throws {
    let server = try await BlogServer()
    let alice = try server.screen("alice")
    alice.blog.follow(.mine)
    let id = alice.blog.post(title: "t", body: "b")
    try await alice.wait("the post is stored") {
      $0.all.contains(.succeeded(.post(id, title: "t", body: "b")))
    }
    let shown = alice.all.firstIndex { event in
      if case .feed(.mine, let posts) = event { posts.map(\.id) == [id] } else { false }
    }
    let stored = alice.all.firstIndex(of: .succeeded(.post(id, title: "t", body: "b")))
    #expect(try #require(shown) < (try #require(stored)))
    alice.blog.setStar(id, to: true)
    alice.blog.setStar(id, to: false)
    alice.blog.setStar(id, to: true)
    try await alice.wait("three answers") { probe in
      probe.all.count { event in
        if case .succeeded(.star) = event { true } else { false }
      } == 3
    }
    #expect(alice.posts(.mine)?.first?.stars == ["alice"])
    #expect(try await server.check().faults == [])
    try await alice.wait("nothing waits") {
      $0.all.last { event in
        if case .pendingWrites = event { true } else { false }
      } == .pendingWrites(0)
    }
  }

  @Test("shows a list whole at first, not piece by piece")
  func wholeList() async throws {
    let server = try await BlogServer()
    let writer = try server.blog("writer")
    for number in 1...20 { _ = try await writer.post(title: "\(number)", body: "b") }
    let alice = try server.screen("alice")
    alice.blog.follow(.recent)
    try await alice.wait("the list") { $0.posts(.recent) != nil }
    let sizes = alice.all.compactMap { event in
      if case .feed(.recent, let posts) = event { posts.count } else { nil }
    }
    #expect(sizes == [20])
  }

  @Test("survives ids that no post can have, whoever sent them", arguments: ["a.b", "a\u{1}b", ""])
  func illegalID(id: String) async throws {
    let server = try await BlogServer()
    let alice = try server.screen("alice")
    alice.blog.open(id)
    alice.blog.setStar(id, to: true)
    alice.blog.deleteComment(id, on: id)
    try await alice.wait("the star fails") { probe in
      probe.all.contains { event in
        if case .failed(.star(id, true), _) = event { true } else { false }
      }
    }
    alice.blog.close(id)
    #expect(try await server.check().faults == [])
  }

  @Test("says that a post is gone when it is starred too late")
  func tooLate() async throws {
    let server = try await BlogServer()
    let alice = try server.screen("alice")
    alice.blog.setStar("gone", to: true)
    try await alice.wait("a failure") { probe in
      probe.all.contains { event in
        if case .failed(.star("gone", true), _) = event { true } else { false }
      }
    }
  }
}
