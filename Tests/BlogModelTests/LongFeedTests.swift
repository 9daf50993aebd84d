import BlogModel
import NIOConcurrencyHelpers
import RealtimeDatabase
import Testing

/// A page costs the same at any position in a list of any length, in terms of what is sent to the
/// server, what it returns, and what is kept.
@Suite("Long list")
struct LongFeedTests {
  /// The cost of some pages.
  private struct Cost: Equatable {
    var queries = 0
    var ended = 0
    var childEvents = 0
    var kept = 0
  }

  private final class Meter: Sendable {
    private let cost = NIOLockedValueBox(Cost())

    init(_ database: Database) {
      database.observeDiagnostics { [cost] diagnostic in
        cost.withLockedValue { cost in
          switch diagnostic.kind {
          case .observing: cost.queries += 1
          case .stopped: cost.ended += 1
          case .event: cost.childEvents += 1
          case .sent, .received, .writing, .written, .transaction, .connection: break
          }
        }
      }
    }

    /// Returns the cost since the last call.
    func take() -> Cost {
      cost.withLockedValue { cost in
        defer { cost = Cost() }
        return cost
      }
    }
  }

  private func seed(_ count: Int, _ server: BlogServer) async throws {
    let posts = try server.database().reference(withPath: "posts")
    for start in stride(from: 1, through: count, by: 1_000) {
      var values: [String: Any] = [:]
      for number in start..<min(start + 1_000, count + 1) {
        values[BlogServer.key(number)] = [
          "uid": "o", "author": "o", "title": "\(number)", "body": "b",
        ]
      }
      try await posts.updateChildValues(values)
    }
  }

  /// Reads further pages, and returns their total cost.
  private func read(_ pages: Int, _ screen: ScreenProbe, _ meter: Meter) async throws -> Cost {
    _ = meter.take()
    var kept = 0
    for _ in 0..<pages {
      let last = try #require(screen.posts(.recent)?.last?.id)
      screen.blog.request(.read(.recent, at: last))
      try await screen.wait("posts below \(last)") { $0.posts(.recent)?.last?.id != last }
      kept = max(kept, screen.posts(.recent)?.count ?? 0)
    }
    var cost = meter.take()
    cost.kept = kept
    return cost
  }

  @Test("A list by stars starts with one page, even if posts with fewer stars are cached")
  func afterRecent() async throws {
    let server = try await BlogServer()
    try await server.seed(0..<2_000)
    let alice = try server.screen("alice")
    alice.blog.request(.follow(.recent))
    try await alice.wait("the newest posts") { $0.posts(.recent)?.count == 100 }
    alice.blog.request(.follow(.top))
    let top = try await server.blog("bob").posts(.top).map(\.id)
    try await alice.wait("the top posts") { $0.posts(.top)?.map(\.id) == top }
    alice.blog.search(1, in: .top, withComments: false) { _, _ in false }
    try await alice.wait("the end of the search") { probe in
      probe.all.contains { event in
        if case .found(let progress) = event { progress.end != nil } else { false }
      }
    }
    #expect(alice.lists(.top).allSatisfy { $0.count <= 100 })
    #expect(alice.posts(.top)?.map(\.id) == top)
  }

  @Test("Eight pages cost and keep no more at the fortieth than near the start")
  func pages() async throws {
    let server = try await BlogServer()
    try await seed(5_200, server)
    let database = try server.database()
    let meter = Meter(database)
    let alice = try server.screen("alice", on: database)
    alice.keep(20)
    alice.blog.request(.follow(.recent))
    try await alice.wait("the list") { $0.posts(.recent)?.count == 100 }
    // Until the list has grown to its limit.
    let first = try await read(9, alice, meter)
    let early = try await read(8, alice, meter)
    let before = try await server.listens().now
    let between = try await read(20, alice, meter)
    let late = try await read(8, alice, meter)
    #expect(late.kept <= 900)
    #expect(abs(late.kept - early.kept) <= 100)
    #expect(early.queries <= 8 && late.queries <= 8)
    // A listen may end a little after the page that replaces it has arrived, so all are counted.
    #expect([first, early, between, late].reduce(0) { $0 + $1.ended } <= 45)
    #expect(abs(late.childEvents - early.childEvents) <= early.childEvents / 4)
    #expect(try await server.listens().now <= before + 2)
  }
}
