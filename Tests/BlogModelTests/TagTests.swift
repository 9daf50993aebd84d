import BlogModel
import Foundation
import RealtimeDatabase
import RealtimeServer
import Testing

@Suite("Tags and followed users", .timeLimit(.minutes(1)))
struct TagTests {
  private static let rules = ["blog.json", "blog-transactions.json"]

  @Test("The list of a tag follows edits, stars and deletions", arguments: rules)
  func tags(rules: String) async throws {
    let server = try await BlogServer(shippedRules: rules)
    let bob = try server.signedInBlog("bob")
    let one = try await bob.post(title: "One #Tea", body: "b")
    let screen = try server.signedInScreen("alice")
    let list = FeedKind.tag("tea")
    screen.blog.request(.follow(list))
    try await screen.wait("the first") { $0.posts(list)?.map(\.id) == [one] }
    let two = try await bob.post(title: "Two", body: "more #tea, no #teapot")
    _ = try await bob.post(title: "Three", body: "#teapot")
    try await screen.wait("the second, newest first") { $0.posts(list)?.map(\.id) == [two, one] }
    try await bob.perform(.star(one, true))
    try await screen.wait("its star") { $0.posts(list)?.last?.starCount == 1 }
    try await bob.perform(.edit(two, title: "Two", body: "coffee"))
    try await screen.wait("one again") { $0.posts(list)?.map(\.id) == [one] }
    // Another program may leave an entry for a post that no longer has the tag; it is not shown.
    try await server.administer(["tags/tea/\(two)": "bob"])
    try await bob.perform(.edit(two, title: "Two", body: "coffee and #tea"))
    try await screen.wait("two again") { $0.posts(list)?.map(\.id) == [two, one] }
    #expect(try await bob.posts(list).map(\.id) == [two, one])
    try await bob.perform(.deletePost(one))
    try await bob.perform(.deletePost(two))
    try await screen.wait("none") { $0.posts(list) == [] }
    screen.blog.request(.stopFollowing(list))
    let database = try server.database(as: "bob")
    #expect(try await BlogCheck(reading: database.reference()).faults == [])
  }

  @Test("The posts of followed users and the users themselves are live lists", arguments: rules)
  func following(rules: String) async throws {
    let server = try await BlogServer(shippedRules: rules)
    let bob = try server.signedInBlog("bob")
    let carol = try server.signedInBlog("carol")
    let one = try await bob.post(title: "One", body: "b")
    let two = try await carol.post(title: "Two", body: "b")
    let screen = try server.signedInScreen("alice")
    screen.blog.request(.hearNotices(true))
    screen.blog.request(.follow(.following))
    try await screen.wait("nobody") { $0.posts(.following) == [] }
    screen.blog.perform(.follow(uid: "bob", true))
    try await screen.wait("bob") { $0.posts(.following)?.map(\.id) == [one] }
    screen.blog.perform(.follow(uid: "carol", true))
    try await screen.wait("both") { $0.posts(.following)?.map(\.id) == [two, one] }
    try await screen.wait("who they are") { $0.followed == ["bob", "carol"] }
    let three = try await bob.post(title: "Three", body: "b")
    try await screen.wait("a new one") { $0.posts(.following)?.first?.id == three }
    screen.blog.perform(.follow(uid: "bob", false))
    try await screen.wait("carol alone") { $0.posts(.following)?.map(\.id) == [two] }
    #expect(screen.refusals.isEmpty)
    // Another of my terminals knows them, but no other user may.
    let other = try server.signedInBlog("alice")
    #expect(try await other.posts(.following).map(\.id) == [two])
    let stranger = try server.database(as: "bob").reference()
    await #expect(throws: DatabaseError.self) {
      _ = try await stranger.child("following/alice").getData()
    }
    // A user who does not exist cannot be followed, which is reported.
    screen.blog.perform(.follow(uid: "nobody", true))
    try await screen.wait("a refusal") { !$0.refusals.isEmpty }
  }

  @Test("Nobody follows, mutes or blocks themselves")
  func oneself() async throws {
    let server = try await BlogServer(shippedRules: "blog.json")
    let bob = try server.signedInBlog("bob")
    _ = try await bob.post(title: "One", body: "b")
    for action in [
      BlogAction.follow(uid: "bob", true), .mute(uid: "bob", true), .block(uid: "bob", true),
    ] {
      await #expect(throws: BlogError.oneself) { try await bob.perform(action) }
    }
    try await bob.perform(.mute(uid: "bob", false))
  }

  private func seed(
    _ server: BlogServer,
    _ numbers: some Sequence<Int>,
    by uid: String
  ) async throws {
    var values: [String: Any] = ["following/alice/\(uid)": true]
    for number in numbers {
      let id = BlogServer.key(number)
      let post: [String: Any] = [
        "uid": uid, "author": uid, "title": "\(number)", "body": "#tea", "starCount": 0,
      ]
      values["posts/\(id)"] = post
      values["user-posts/\(uid)/\(id)"] = post
      values["tags/tea/\(id)"] = uid
    }
    try await server.administer(values)
  }

  /// Reads a list to its end and back to its beginning; at no time may anything be missing,
  /// duplicated or out of order.
  private func readAll(_ list: FeedKind, of count: Int, on screen: ScreenProbe) async throws {
    screen.blog.request(.follow(list))
    let observer = FeedObserver(list, untouched: 0..<count)
    try await screen.wait("the first page") { $0.posts(list)?.isEmpty == false }
    #expect(screen.posts(list)?.first?.id == BlogServer.key(count - 1))
    while screen.extent(list)?.hasOlder == true {
      guard let last = screen.posts(list)?.last?.id else { break }
      screen.blog.request(.read(list, at: last))
      try await screen.wait("older than \(last)") {
        $0.posts(list)?.last?.id != last || $0.extent(list)?.hasOlder == false
      }
    }
    #expect(screen.posts(list)?.last?.id == BlogServer.key(0))
    #expect((screen.posts(list)?.count ?? 0) < count)
    while screen.extent(list)?.hasNewer == true {
      guard let first = screen.posts(list)?.first?.id else { break }
      screen.blog.request(.read(list, at: first))
      try await screen.wait("newer than \(first)") {
        $0.posts(list)?.first?.id != first || $0.extent(list)?.hasNewer == false
      }
    }
    #expect(screen.posts(list)?.first?.id == BlogServer.key(count - 1))
    #expect(observer.fault(in: screen) == nil)
    // And to the beginning at once, from the end.
    screen.blog.request(.stopFollowing(list))
  }

  @Test("Both lists load on demand while the user scrolls and keep few posts")
  func pages() async throws {
    let server = try await BlogServer()
    // Carol writes seldom, and most posts in between are Bob's.
    let carol = Set(stride(from: 0, to: 700, by: 50))
    try await seed(server, (0..<700).filter { !carol.contains($0) }, by: "bob")
    try await seed(server, carol, by: "carol")
    let screen = try server.screen("alice")
    try await readAll(.tag("tea"), of: 700, on: screen)
    try await readAll(.following, of: 700, on: screen)
  }

  @Test("A combined list takes a bounded number of listeners and leaves none behind")
  func cost() async throws {
    let server = try await BlogServer()
    var values: [String: Any] = [:]
    for number in 0..<150 {
      let id = BlogServer.key(number)
      let post: [String: Any] = [
        "uid": "u\(number)", "author": "u", "title": "t", "body": "#tea", "starCount": 0,
      ]
      values["posts/\(id)"] = post
      values["user-posts/u\(number)/\(id)"] = post
      values["tags/tea/\(id)"] = "u\(number)"
      values["following/alice/u\(number)"] = true
    }
    try await server.administer(values)
    let screen = try server.screen("alice")
    try await server.waitForListens(2, "the people and what was read")
    let before = try await server.listens().now
    for list in [FeedKind.tag("tea"), .following] {
      screen.blog.request(.follow(list))
      try await screen.wait("a hundred posts") { $0.posts(list)?.count == 100 }
      #expect(try await server.listens().now - before <= 101)
      screen.blog.request(.stopFollowing(list))
      try await server.waitForListens(before, "nothing is left behind")
    }
  }
}
