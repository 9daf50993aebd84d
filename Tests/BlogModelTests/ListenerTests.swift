import Dispatch
import RealtimeDatabase
import Testing

@testable import BlogModel

/// Defect 11 of the published sample: listeners that accumulate.
///
/// The tests count the server's listens.
@Suite("Listener counts")
struct ListenerTests {
  /// A terminal that shows a list with posts in it.
  private func terminal(_ server: BlogServer, on database: Database) async throws -> ScreenProbe {
    let screen = try server.screen("alice", on: database)
    screen.blog.request(.follow(.recent))
    try await screen.wait("the list") { $0.posts(.recent)?.isEmpty == false }
    try await screen.wait("the marks") { $0.readState != nil }
    return screen
  }

  @Test("A list of a hundred posts needs as many listeners as a list of one")
  func cards() async throws {
    let few = try await BlogServer()
    let many = try await BlogServer()
    try await few.seed(1...1)
    try await many.seed(1...100)
    _ = try await terminal(few, on: try few.database())
    _ = try await terminal(many, on: try many.database())
    let count = try await few.listens().now
    try await many.waitForListens(count, "a list is one listener")
    #expect(count <= 4)
  }

  @Test("Opening and closing a post a hundred times leaves no extra listeners")
  func posts() async throws {
    let server = try await BlogServer()
    try await server.seed(1...3)
    let alice = try await terminal(server, on: try server.database())
    let before = try await server.listens()
    for turn in 1...100 {
      let id = BlogServer.key(turn % 3 + 1)
      alice.blog.request(.open(id))
      try await alice.wait("the comments of turn \(turn)") { probe in
        probe.all.count { if case .comments = $0 { true } else { false } } == turn
      }
      alice.blog.request(.close(id))
    }
    try await server.waitForListens(before.now, "every listener of a post has ended")
    // A post, its comments, and the typing state: the same each time, or fewer where one is known.
    #expect(try await server.listens().sinceStart - before.sinceStart <= 300)
  }

  @Test("Switching lists a hundred times adds one listener per list, removed with the list")
  func tabs() async throws {
    let server = try await BlogServer()
    try await server.seed(1...3, by: "alice")
    let alice = try await terminal(server, on: try server.database())
    let before = try await server.listens().now
    for _ in 1...100 {
      for kind in FeedKind.tabs { alice.blog.request(.follow(kind)) }
    }
    try await alice.wait("all lists") { probe in
      FeedKind.tabs.allSatisfy { probe.posts($0)?.count == 3 }
    }
    try await server.waitForListens(before + 3, "one for each list that was not followed before")
    for kind in FeedKind.tabs where kind != .recent { alice.blog.request(.stopFollowing(kind)) }
    try await server.waitForListens(before, "those of the lists have ended")
  }

  @Test("Watching new comments takes one listener per post in view, however long it runs")
  func watching() async throws {
    let server = try await BlogServer()
    try await server.seed(1...9)
    let alice = try await terminal(server, on: try server.database())
    let before = try await server.listens().now
    for turn in 0..<100 {
      alice.blog.request(.watchComments((1...3).map { BlogServer.key($0 + turn % 6) }))
    }
    try await server.waitForListens(before + 3, "three posts are in view")
    alice.blog.request(.watchComments([]))
    try await server.waitForListens(before, "none is")
  }

  @Test("Paging past posts takes no listener for their comments until the reader rests")
  func pagingPast() async throws {
    let server = try await BlogServer()
    try await server.seed(1...9)
    let alice = try await terminal(server, on: try server.database())
    let before = try await server.listens()
    // All of it happens at once, however busy the machine is.
    alice.blog.queue.suspend()
    for turn in 0..<100 {
      alice.blog.request(.watchComments((1...3).map { BlogServer.key($0 + turn % 7) }))
    }
    alice.blog.request(.watchComments([BlogServer.key(9)]))
    alice.blog.queue.resume()
    try await server.waitForListens(before.now + 1, "one post is in view at last")
    #expect(try await server.listens().sinceStart == before.sinceStart + 1)
  }

  @Test("Signing out ends all listeners, and signing in again needs as many as before")
  func signingOut() async throws {
    let server = try await BlogServer()
    try await server.seed(1...3)
    let first = try server.database()
    let alice = try await terminal(server, on: first)
    alice.blog.request(.open(BlogServer.key(1)))
    try await alice.wait("the comments") { $0.comments(BlogServer.key(1)) != nil }
    alice.blog.request(.close(BlogServer.key(1)))
    let count = 3
    try await server.waitForListens(count, "the list, who is here, and what was read")
    await first.close()
    try await server.waitForListens(0, "nobody is here")
    let second = try server.database()
    _ = try await terminal(server, on: second)
    try await server.waitForListens(count, "as at first")
    await second.close()
  }
}
