import BlogModel
import Foundation
import RealtimeDatabase
import RealtimeServer
import TestSupport
import Testing

@Suite("Post search", .timeLimit(.minutes(3)))
struct PostSearchTests {
  private static let length = 3_000

  /// All reports of a search, once it has ended.
  private func reports(
    of number: Int,
    _ probe: ScreenProbe,
    in feed: FeedKind = .recent,
    _ matches: @escaping @Sendable (Post) -> Bool
  ) async throws -> [SearchProgress] {
    probe.blog.search(number, in: feed, withComments: false) { post, _ in matches(post) }
    try await probe.wait("the end of search \(number)") { probe in
      Self.reports(of: number, probe).last?.end != nil
    }
    return Self.reports(of: number, probe)
  }

  private static func reports(of number: Int, _ probe: ScreenProbe) -> [SearchProgress] {
    probe.all.compactMap { event in
      if case .found(let progress) = event, progress.number == number { progress } else { nil }
    }
  }

  @Test("A search reads every post once, page by page, and keeps only matches")
  func whole() async throws {
    let server = try await BlogServer()
    try await server.seed(0..<Self.length)
    let probe = try server.screen("ann")
    let all = try await reports(of: 1, probe) { $0.title.hasSuffix("7") }
    #expect(all.last?.end == .complete)
    #expect(all.last?.searched == Self.length)
    #expect(all.count > 3)
    #expect(zip(all, all.dropFirst()).allSatisfy { $0.searched <= $1.searched })
    let found = all.flatMap(\.found).map(\.id)
    let expected = (0..<Self.length).reversed().filter { $0 % 10 == 7 }.map(BlogServer.key)
    #expect(found == expected)
    // The search listens to no list, and leaves no page with a listener.
    #expect(try await server.requests()["get"] ?? 0 >= all.count)
  }

  @Test("A search covers every kind of list, even if it is not followed")
  func feeds() async throws {
    let server = try await BlogServer()
    try await server.seed(0..<300, by: "ann")
    try await server.seed(1_000..<1_250, by: "bob")
    let probe = try server.screen("ann")
    for (number, (feed, count)) in [
      (FeedKind.recent, 550), (.top, 550), (.mine, 300), (.myTop, 300), (.author(uid: "bob"), 250),
    ].enumerated() {
      let all = try await reports(of: number + 1, probe, in: feed) { _ in false }
      #expect(all.last?.searched == count, "\(feed.name)")
      #expect(all.last?.end == .complete)
    }
  }

  @Test("A search ends when it finds too much or another one replaces it")
  func bounds() async throws {
    let server = try await BlogServer()
    try await server.seed(0..<Self.length)
    let probe = try server.screen("ann")
    let all = try await reports(of: 1, probe) { _ in true }
    #expect(all.last?.end == .full)
    #expect(all.flatMap(\.found).count == 2_000)
    probe.blog.search(2, in: .recent, withComments: true) { _, _ in false }
    _ = try await reports(of: 3, probe) { _ in false }
    #expect(Self.reports(of: 2, probe).last?.end == nil)
  }

  @Test("A search reads comments with their posts, page by page")
  func comments() async throws {
    let server = try await BlogServer()
    try await server.seed(0..<500)
    let blog = try server.blog("ann")
    let commented = [3, 250, 499].map(BlogServer.key)
    for post in commented { _ = try await blog.comment(on: post, text: "A zebra") }
    let found = try await blog.search(.recent) { _, comments in
      comments.contains { $0.text.contains("zebra") }
    }
    #expect(found.map(\.id) == commented.reversed())
  }

  @Test("A search of an unreadable list reports the reason")
  func refused() async throws {
    let server = try await BlogServer(rules: .source(#"{"rules":{"users":{".read":true}}}"#))
    let probe = try server.screen("ann")
    let all = try await reports(of: 1, probe) { _ in true }
    guard case .failed(let reason) = all.last?.end
    else { throw Unexpected("it ended with \(String(describing: all.last?.end))") }
    #expect(reason.lowercased().contains("permission denied"))
  }
}
