import BlogModel
import Foundation
import RealtimeDatabase
import TestSupport
import Testing

@Suite("List under random changes")
struct RandomFeedTests {
  /// The current posts, and those that were never changed.
  private struct Blog {
    let kind: FeedKind
    let server: BlogServer
    var random: SplitMix64
    var stars: [Int: Int] = [:]
    var untouched: Set<Int> = []

    /// The numbers of all posts, in list order.
    var order: [Int] {
      stars.sorted { left, right in
        kind.isByStars
          ? (left.value, left.key) > (right.value, right.key) : left.key > right.key
      }.map(\.key)
    }

    mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }

    mutating func add(_ numbers: some Sequence<Int>) async throws {
      let new = numbers.filter { stars[$0] == nil }
      for number in new { stars[number] = number % 50 }
      if !new.isEmpty { try await server.seed(new) }
    }

    mutating func change(_ numbers: some Sequence<Int>, stars count: (Int) -> Int?) async throws {
      var values: [String: Any] = [:]
      for number in numbers {
        stars[number] = count(number)
        untouched.remove(number)
        let key = BlogServer.key(number)
        values[stars[number] == nil ? key : "\(key)/starCount"] = stars[number] ?? NSNull()
      }
      guard !values.isEmpty else { return }
      try await server.database().reference(withPath: "posts").updateChildValues(values)
    }

    /// Writes something, usually to many neighbours at once.
    mutating func write() async throws {
      let order = order
      let place = number(0...order.count - 1)
      let many = number(0...3) == 0 ? 1 : number(1...130)
      switch number(0...4) {
      case 0: try await add([(order.max() ?? 0) + number(1...30)])
      case 1:
        // Between neighbours by age; in a list by stars, those with the same count.
        let step = kind.isByStars ? 50 : 1
        try await add((1...min(99, many)).map { order[place] + $0 * step })
      case 2 where order.count > 300, 3 where order.count > 300:
        try await change(order[place...].prefix(many)) { _ in nil }
      default:
        var random = random
        let top = order[(number(0...1) == 0 ? 0 : place)...].prefix(min(20, many))
        try await change(top) { _ in Int.random(in: 0...60, using: &random) }
      }
    }
  }

  @Test(
    "The list has no gaps or duplicates, whatever is added, moved or deleted around the reader",
    arguments: [FeedKind.recent, .top],
    Thoroughness.seeds(4)
  )
  func anything(kind: FeedKind, seed: UInt64) async throws {
    let server = try await BlogServer()
    var blog = Blog(kind: kind, server: server, random: SplitMix64(seed: seed))
    try await blog.add(stride(from: 10, through: 6_000, by: 10))
    blog.untouched = Set(blog.stars.keys)
    let database = try server.database()
    let alice = try server.screen("alice", on: database)
    alice.blog.request(.follow(kind))
    try await alice.wait("the list") { $0.posts(kind)?.count == 100 }
    for _ in 1...60 {
      switch blog.number(0...9) {
      case 0...3: try await blog.write()
      case 4:
        database.goOffline()
        for _ in 0...blog.number(0...2) { try await blog.write() }
        database.goOnline()
      default:
        let shown = alice.posts(kind) ?? []
        let place = [0, shown.count - 1, blog.number(0...max(0, shown.count - 1))]
        guard let number = place.randomElement(using: &blog.random), shown.indices.contains(number)
        else { continue }
        alice.blog.request(.read(kind, at: shown[number].id))
        _ = try await server.listens()
      }
    }
    try await Self.waitForPart(of: blog.order.map(BlogServer.key), kind, alice)
    let observer = FeedObserver(kind, untouched: blog.untouched)
    #expect(observer.fault(in: alice) == nil)
    try await Self.readToEnd(of: blog.order.map(BlogServer.key), kind, alice)
  }

  /// Waits until the reported posts are a contiguous part of the list.
  private static func waitForPart(
    of order: [PostID],
    _ kind: FeedKind,
    _ alice: ScreenProbe
  ) async throws {
    try await alice.wait("a part without gaps") { probe in
      guard let shown = probe.posts(kind)?.map(\.id), let first = shown.first,
        let start = order.firstIndex(of: first), start + shown.count <= order.count
      else { return false }
      let isWhole =
        (probe.extent(kind)?.hasOlder == true || start + shown.count == order.count)
        && (probe.extent(kind)?.hasNewer == true || start == 0)
      return isWhole && Array(order[start..<(start + shown.count)]) == shown
    }
  }

  /// Reads on to the last post, regardless of the shape of the pages.
  private static func readToEnd(
    of order: [PostID],
    _ kind: FeedKind,
    _ alice: ScreenProbe
  ) async throws {
    while alice.posts(kind)?.last?.id != order.last {
      let last = try #require(alice.posts(kind)?.last?.id)
      alice.blog.request(.read(kind, at: last))
      try await alice.wait("more below \(last)") { $0.posts(kind)?.last?.id != last }
    }
    try await waitForPart(of: order, kind, alice)
  }
}
