import BlogModel
import RealtimeDatabase
import TestSupport
import Testing

@Suite("Followed list")
struct FollowedFeedTests {
  private let server: BlogServer

  init() async throws { server = try await BlogServer() }

  private static func keys(_ numbers: some Sequence<Int>) -> [PostID] {
    numbers.map(BlogServer.key)
  }

  @Test("starts with the newest hundred posts and loads more near the end until the last")
  func older() async throws {
    try await server.seed(1...330)
    let alice = try server.screen("alice")
    alice.blog.request(.follow(.recent))
    try await alice.wait("the newest hundred") {
      $0.posts(.recent)?.map(\.id) == Self.keys((231...330).reversed())
    }
    #expect(alice.extent(.recent)?.hasOlder == true)
    #expect(alice.extent(.recent)?.hasNewer == false)
    for lowest in [131, 31, 1] {
      alice.blog.request(.read(.recent, at: try #require(alice.posts(.recent)?.last?.id)))
      try await alice.wait("the posts down to \(lowest)") {
        $0.posts(.recent)?.map(\.id) == Self.keys((lowest...330).reversed())
      }
    }
    try await alice.wait("the end") { $0.extent(.recent)?.hasOlder == false }
  }

  @Test("loads more below posts with equal stars, ordered by stars and key")
  func olderByStars() async throws {
    try await server.seed(0..<250)
    let order = (0..<250).sorted { ($0 % 50, $0) > ($1 % 50, $1) }.map(BlogServer.key)
    let alice = try server.screen("alice")
    alice.blog.request(.follow(.top))
    try await alice.wait("the first hundred") {
      $0.posts(.top)?.map(\.id) == Array(order.prefix(100))
    }
    alice.blog.request(.read(.top, at: order[99]))
    try await alice.wait("two hundred") { $0.posts(.top)?.map(\.id) == Array(order.prefix(200)) }
    alice.blog.request(.read(.top, at: order[199]))
    try await alice.wait("all") { $0.posts(.top)?.map(\.id) == order }

    // A star moves a post from the third page to the first.
    let root = try server.database().reference()
    try await root.child("posts/\(order[249])/starCount").setValue(1_000)
    try await alice.wait("the moved post") {
      $0.posts(.top)?.map(\.id) == [order[249]] + order.dropLast()
    }
  }

  @Test("keeps the post being read while a thousand arrive above it")
  func insertsAbove() async throws {
    try await server.seed(1...100)
    let alice = try server.screen("alice")
    alice.keep(20)
    alice.blog.request(.follow(.recent))
    let read = BlogServer.key(7)
    try await alice.wait("the list") { $0.posts(.recent)?.count == 100 }
    alice.blog.request(.read(.recent, at: read))
    for start in stride(from: 101, through: 1_001, by: 100) {
      try await server.seed(start..<(start + 100))
      try await alice.wait("the posts up to \(start + 99)") {
        $0.posts(.recent)?.first?.id == BlogServer.key(start + 99)
      }
      let posts = try #require(alice.posts(.recent)).map(\.id)
      #expect(posts.contains(read))
      #expect(posts == posts.sorted(by: >))
    }
    try await alice.wait("nothing lost") { $0.posts(.recent)?.count == 1_100 }
  }

  @Test("drops distant pages to bound memory and reloads them on the way back")
  func bounded() async throws {
    for start in stride(from: 1, through: 2_501, by: 500) {
      try await server.seed(start..<(start + 500))
    }
    let alice = try server.screen("alice")
    alice.keep(20)
    alice.blog.request(.follow(.recent))
    try await alice.wait("the list") { $0.posts(.recent)?.count == 100 }
    var longest = 0
    while alice.extent(.recent)?.hasOlder == true {
      let last = try #require(alice.posts(.recent)?.last?.id)
      alice.blog.request(.read(.recent, at: last))
      try await alice.wait("more below \(last)") {
        $0.posts(.recent).map { $0.last?.id != last } == true
          || $0.extent(.recent)?.hasOlder == false
      }
      longest = max(longest, alice.posts(.recent)?.count ?? 0)
    }
    #expect(alice.posts(.recent)?.last?.id == BlogServer.key(1))
    #expect(longest <= 900)
    #expect(alice.extent(.recent)?.hasNewer == true)

    // Back up, page by page, without a gap.
    while alice.extent(.recent)?.hasNewer == true {
      let first = try #require(alice.posts(.recent)?.first?.id)
      alice.blog.request(.read(.recent, at: first))
      try await alice.wait("more above \(first)") {
        $0.posts(.recent).map { $0.first?.id != first } == true
          || $0.extent(.recent)?.hasNewer == false
      }
      let posts = try #require(alice.posts(.recent)).compactMap { Int($0.title) }
      let top = try #require(posts.first)
      #expect(posts == Array((top - posts.count + 1...top).reversed()))
    }
    #expect(alice.posts(.recent)?.first?.id == BlogServer.key(3_000))
  }

  @Test("returns to its start at once from anywhere")
  func showFirst() async throws {
    for start in stride(from: 1, through: 1_501, by: 500) {
      try await server.seed(start..<(start + 500))
    }
    let alice = try server.screen("alice")
    alice.blog.request(.follow(.recent))
    try await alice.wait("the list") { $0.posts(.recent)?.count == 100 }
    while alice.extent(.recent)?.hasNewer != true {
      let last = try #require(alice.posts(.recent)?.last?.id)
      alice.blog.request(.read(.recent, at: last))
      try await alice.wait("more") { $0.posts(.recent)?.last?.id != last }
    }
    alice.blog.request(.showFirst(.recent))
    try await alice.wait("the newest") {
      $0.posts(.recent)?.map(\.id) == Self.keys((1_901...2_000).reversed())
        && $0.extent(.recent) == FeedExtent(hasOlder: true)
    }
  }

  @Test("tolerates children that are not posts, even at a page boundary")
  func garbage() async throws {
    try await server.seed(1...250)
    let root = try server.database().reference()
    try await root.child("posts/\(BlogServer.key(151))").setValue("nothing")
    try await root.child("posts/\(BlogServer.key(150))/starCount").setValue(["a": 1])
    let alice = try server.screen("alice")
    alice.blog.request(.follow(.recent))
    alice.blog.request(.follow(.top))
    try await alice.wait("the lists") {
      $0.posts(.recent)?.count == 99 && $0.posts(.top)?.count == 100
    }
    alice.blog.request(.read(.top, at: try #require(alice.posts(.top)?.last?.id)))
    for count in [199, 249] {
      alice.blog.request(.read(.recent, at: try #require(alice.posts(.recent)?.last?.id)))
      try await alice.wait("\(count) posts") { $0.posts(.recent)?.count == count }
    }
  }
}
