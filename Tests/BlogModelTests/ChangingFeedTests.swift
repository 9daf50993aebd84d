import BlogModel
import Foundation
import RealtimeDatabase
import TestSupport
import Testing

@Suite("Changes to a followed list")
struct ChangingFeedTests {
  private static func keys(_ numbers: some Sequence<Int>) -> [PostID] {
    numbers.map(BlogServer.key)
  }

  /// Deletes many posts in one update.
  private func delete(_ numbers: some Sequence<Int>, _ server: BlogServer) async throws {
    var values: [String: Any] = [:]
    for number in numbers { values[BlogServer.key(number)] = NSNull() }
    try await server.database().reference(withPath: "posts").updateChildValues(values)
  }

  /// A screen that has read this many pages of the even posts, from 800 down.
  private func reader(
    _ server: BlogServer,
    pages: Int
  ) async throws -> (screen: ScreenProbe, database: Database) {
    try await server.seed(stride(from: 2, through: 800, by: 2))
    let database = try server.database()
    let alice = try server.screen("alice", on: database)
    alice.blog.request(.follow(.recent))
    try await alice.wait("the newest") { $0.posts(.recent)?.count == 100 }
    for page in 1..<pages {
      alice.blog.request(.read(.recent, at: try #require(alice.posts(.recent)?.last?.id)))
      try await alice.wait("page \(page)") { $0.posts(.recent)?.count == 100 * (page + 1) }
    }
    return (alice, database)
  }

  @Test(
    "Posts inserted between loaded ones while offline push none of them out",
    arguments: [(1, 700), (2, 500), (3, 700), (3, 500), (3, 300)]
  )
  func between(pages: Int, place: Int) async throws {
    let server = try await BlogServer()
    let (alice, database) = try await reader(server, pages: pages)
    let shown = Set(stride(from: 802 - pages * 200, through: 800, by: 2))
    let new = Set((0..<99).map { place + 1 - 2 * ($0 % 40) + 2 * ($0 / 40) * 40 })
    database.goOffline()
    try await server.seed(new)
    database.goOnline()
    let expected = Self.keys(shown.union(new).sorted(by: >))
    try await alice.wait("old and new ones") { screen in
      screen.posts(.recent).map { Array($0.map(\.id).prefix(expected.count)) == expected } == true
    }
    let observer = FeedObserver(.recent, untouched: stride(from: 2, through: 800, by: 2))
    #expect(observer.fault(in: alice) == nil)
    let lowest = BlogServer.key(802 - pages * 200)
    let full = alice.lists(.recent).drop { $0.count < pages * 100 }
    #expect(!full.isEmpty)
    for list in full {
      #expect(list.contains { $0.id == lowest })
    }
    alice.blog.request(.read(.recent, at: try #require(alice.posts(.recent)?.last?.id)))
    try await alice.wait("what is below") { $0.posts(.recent)?.last?.id ?? "" < lowest }
  }

  @Test(
    "Deleting many adjacent posts at once neither duplicates nor drops a post",
    arguments: [600...700, 450...650, 302...698, 210...400]
  )
  func neighbours(gone: ClosedRange<Int>) async throws {
    let server = try await BlogServer()
    let (alice, _) = try await reader(server, pages: 4)
    let all = Array(stride(from: 2, through: 800, by: 2))
    let left = all.filter { !gone.contains($0) }
    try await delete(all.filter(gone.contains), server)
    try await alice.wait("the others") { screen in
      guard let posts = screen.posts(.recent)?.map(\.id) else { return false }
      return posts == Self.keys(left.reversed())
    }
    // Wherever the remaining pages meet, each post takes part in changes once.
    try await server.seed(gone.lowerBound..<gone.lowerBound + 3)
    try await delete([gone.lowerBound - 2, gone.upperBound + 2], server)
    let now = Set(left + Array(gone.lowerBound..<gone.lowerBound + 3))
      .subtracting([gone.lowerBound - 2, gone.upperBound + 2])
    try await alice.wait("what is there now") {
      $0.posts(.recent)?.map(\.id) == Self.keys(now.sorted(by: >))
    }
    let untouched = Set(left).subtracting([gone.lowerBound - 2, gone.upperBound + 2])
    #expect(FeedObserver(.recent, untouched: untouched).fault(in: alice) == nil)
  }

  @Test("In a list by stars, a post that moves appears once, and its neighbours stay")
  func reordered() async throws {
    let server = try await BlogServer()
    try await server.seed(0..<400)
    let alice = try server.screen("alice")
    alice.blog.request(.follow(.top))
    for count in [100, 200, 300] {
      try await alice.wait("\(count) posts") { $0.posts(.top)?.count == count }
      if let last = alice.posts(.top)?.last { alice.blog.request(.read(.top, at: last.id)) }
    }
    try await alice.wait("all") { $0.posts(.top)?.count == 400 }
    let moved = Set((0..<400).filter { $0 % 9 == 4 })
    var values: [String: Any] = [:]
    var stars = Dictionary(uniqueKeysWithValues: (0..<400).map { ($0, $0 % 50) })
    for number in moved {
      stars[number] = (number * 7) % 61
      values["\(BlogServer.key(number))/starCount"] = stars[number]
    }
    try await server.database().reference(withPath: "posts").updateChildValues(values)
    let order = stars.sorted { ($0.value, $0.key) > ($1.value, $1.key) }.map(\.key)
    try await alice.wait("the new order") { $0.posts(.top)?.map(\.id) == Self.keys(order) }
    let untouched = Set(0..<400).subtracting(moved)
    #expect(FeedObserver(.top, untouched: untouched).fault(in: alice) == nil)
  }
}
