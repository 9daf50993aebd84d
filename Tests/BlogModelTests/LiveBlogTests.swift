import BlogModel
import NIOConcurrencyHelpers
import Testing

@Suite("Live blog")
struct LiveBlogTests {
  @Test("reports other users' posts, stars and comments live")
  func live() async throws {
    let server = try await BlogServer()
    let alice = try server.screen("alice")
    let bob = try server.screen("bob")
    alice.blog.request(.follow(.recent))
    bob.blog.request(.follow(.recent))
    bob.blog.request(.follow(.top))
    try await alice.wait("an empty list") { $0.posts(.recent)?.isEmpty == true }

    let first = alice.blog.post(title: "first", body: "b")
    let second = alice.blog.post(title: "second", body: "b")
    try await bob.wait("both posts") { $0.posts(.recent)?.map(\.id) == [second, first] }

    bob.blog.perform(.star(first, true))
    try await alice.wait("the star") { $0.posts(.recent)?.last?.stars == ["bob"] }
    try await bob.wait("the starred post moves up") {
      $0.posts(.top)?.map(\.id) == [first, second]
    }

    alice.blog.request(.open(first))
    let comment = bob.blog.comment(on: first, text: "hello")
    try await alice.wait("the comment") { $0.comments(first)?.map(\.text) == ["hello"] }
    bob.blog.perform(.deleteComment(first, commentID: comment))
    try await alice.wait("no comment") { $0.comments(first)?.isEmpty == true }

    alice.blog.perform(.deletePost(first))
    try await bob.wait("one post") { $0.posts(.recent)?.map(\.id) == [second] }
    try await alice.wait("the open post is gone") { $0.all.contains(.post(first, nil)) }
  }

  @Test("loads the newest of many comments, and twice as many on each request")
  func manyComments() async throws {
    let server = try await BlogServer()
    let alice = try server.screen("alice")
    let bob = try server.blog("bob")
    let post = try await bob.post(title: "t", body: "b")
    var values: [String: Any] = [:]
    for number in 0..<1_200 {
      values["post-comments/\(post)/\(BlogServer.key(number))"] = [
        "uid": "bob", "author": "bob", "text": "\(number)",
      ]
    }
    try await server.administer(values)
    let short = try await bob.post(title: "short", body: "b")
    alice.blog.request(.open(short))
    try await alice.wait("no comments") { $0.comments(short)?.isEmpty == true }
    alice.blog.request(.close(short))
    alice.blog.request(.open(post))
    @Sendable func has(_ count: Int, _ probe: ScreenProbe, earlier: Bool) -> Bool {
      probe.comments(post)?.count == count
        && probe.all.last { if case .hasEarlierComments = $0 { true } else { false } }
          == .hasEarlierComments(post, earlier)
    }
    try await alice.wait("the newest") { has(500, $0, earlier: true) }
    #expect(alice.comments(post)?.last?.text == "1199")
    // A new one takes the place of the oldest.
    let new = try await bob.comment(on: post, text: "new")
    try await alice.wait("the new one") { $0.comments(post)?.last?.id == new }
    #expect(alice.comments(post)?.first?.text == "701")
    alice.blog.request(.showEarlierComments(post))
    alice.blog.request(.showEarlierComments(post))
    try await alice.wait("twice as many") { has(1_000, $0, earlier: true) }
    try await bob.perform(.deleteComment(post, commentID: new))
    try await alice.wait("the new one is gone") { $0.comments(post)?.last?.text == "1199" }
    #expect(alice.comments(post)?.count == 1_000)
    alice.blog.request(.showEarlierComments(post))
    try await alice.wait("all") { has(1_200, $0, earlier: false) }
    // There was never a moment with fewer than were there before.
    let counts = alice.all.compactMap { event in
      if case .comments(post, let comments) = event { comments.count } else { nil }
    }
    #expect(zip(counts.drop { $0 < 500 }, counts.drop { $0 < 500 }.dropFirst()).allSatisfy(<=))
    // Memory is released each time that more comments have taken the place of fewer, and at the end.
    alice.blog.request(.close(post))
    let known = alice.all.count { $0 == .comments(short, []) }
    alice.blog.request(.open(short))
    try await alice.wait("no comments") { $0.all.count { $0 == .comments(short, []) } > known }
    #expect(server.releases.withLockedValue(\.self) == 3)
  }

  @Test("shows local writes at once and reports when they are stored")
  func local() async throws {
    let server = try await BlogServer()
    let alice = try server.screen("alice")
    alice.blog.request(.follow(.mine))
    let id = alice.blog.post(title: "t", body: "b")
    try await alice.wait("the post is stored") {
      $0.all.contains(.succeeded(.post(id, title: "t", body: "b")))
    }
    let shown = alice.all.firstIndex { event in
      if case .feed(.mine, let posts) = event { posts.map(\.id) == [id] } else { false }
    }
    let stored = alice.all.firstIndex(of: .succeeded(.post(id, title: "t", body: "b")))
    #expect(try #require(shown) < (try #require(stored)))
    alice.blog.perform(.star(id, true))
    alice.blog.perform(.star(id, false))
    alice.blog.perform(.star(id, true))
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

  @Test("first reports a list as a whole, not post by post")
  func wholeList() async throws {
    let server = try await BlogServer()
    let writer = try server.blog("writer")
    for number in 1...20 { _ = try await writer.post(title: "\(number)", body: "b") }
    let alice = try server.screen("alice")
    alice.blog.request(.follow(.recent))
    try await alice.wait("the list") { $0.posts(.recent) != nil }
    let sizes = alice.all.compactMap { event in
      if case .feed(.recent, let posts) = event { posts.count } else { nil }
    }
    #expect(sizes == [20])
  }

  @Test("tolerates invalid post IDs", arguments: ["a.b", "a\u{1}b", ""])
  func illegalID(id: String) async throws {
    let server = try await BlogServer()
    let alice = try server.screen("alice")
    alice.blog.request(.open(id))
    alice.blog.perform(.star(id, true))
    alice.blog.perform(.deleteComment(id, commentID: id))
    try await alice.wait("the star fails") { probe in
      probe.all.contains { event in
        if case .failed(.star(id, true), _) = event { true } else { false }
      }
    }
    alice.blog.request(.close(id))
    #expect(try await server.check().faults == [])
  }
}
