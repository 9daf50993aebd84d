import Dispatch
import Foundation
import LocalPostgres
import PostgresTestSupport
import RealtimeCore
import RealtimeHub
import RealtimeServer
import Testing

@testable import PostgresStorage

/// Where PostgreSQL is not installed, these tests are skipped; `isInstalled` prints a message.
@Suite(
  "The fence of PostgresTreeStores",
  .enabled(if: PostgresServer.isInstalled),
  .timeLimit(.minutes(2))
)
struct FenceTests {
  private let url: String
  private let stores: PostgresTreeStores

  init() throws {
    url = try PostgresServer.shared.get().makeDatabase()
    stores = PostgresTreeStores(at: PostgresAddress(url))
    _ = try stores.create("test")
  }

  private func batch(_ revision: Int64, _ value: Int64 = 0) -> CommitBatch {
    CommitBatch(
      commits: [
        Commit(
          revision: revision,
          timestamp: 0,
          changes: [Change(Path(wire: "at\(revision)"), to: .integer(value))]
        )
      ],
      ledger: [LedgerEntry(client: "c", upTo: revision, lastSeen: .max)]
    )
  }

  private func end(_ server: ServerID) throws {
    _ = try PostgresServer.shared.get().sql(
      "UPDATE hearth.leases SET expires = clock_timestamp() WHERE holder = '\(server)'",
      at: url
    )
  }

  // MARK: Leases

  @Test("A lease is for one server, and each new one has a greater epoch")
  func leases() throws {
    let (a, b) = (ServerID("a"), ServerID("b"))
    let first = try stores.acquire("test", by: a, for: .seconds(60))
    #expect(first.holder == a)
    #expect(first.remaining > .seconds(50) && first.remaining <= .seconds(60))
    let refused = try stores.acquire("test", by: b, for: .seconds(60))
    #expect(refused.holder == a && refused.epoch == first.epoch)
    let renewed = try stores.acquire("test", by: a, for: .seconds(60))
    #expect(renewed.holder == a && renewed.epoch > first.epoch)
    try end(a)
    let second = try stores.acquire("test", by: b, for: .seconds(60))
    #expect(second.holder == b && second.epoch > renewed.epoch)
    try stores.release(renewed, to: nil)
    #expect(try stores.acquire("test", by: a, for: .seconds(60)).holder == b)
    try stores.release(second, to: nil)
    let third = try stores.acquire("test", by: a, for: .seconds(60))
    #expect(third.holder == a && third.epoch > second.epoch)
  }

  @Test("A lease that is handed over is its successor's, for as long as it would have counted")
  func successor() throws {
    let (a, b, c) = (ServerID("a"), ServerID("b"), ServerID("c"))
    let first = try stores.acquire("test", by: a, for: .seconds(60))
    let store = try stores.open(first)
    try stores.move("test", to: b)
    #expect(try stores.view().leases.map(\.wanted) == [b])
    try stores.release(first, to: b)
    let error = #expect(throws: StoreError.self) { try store.commit(batch(1)) }
    #expect(error?.kind == .superseded)
    try store.close()
    #expect(try stores.acquire("test", by: c, for: .seconds(60)).holder == b)
    #expect(try stores.acquire("test", by: a, for: .seconds(60)).holder == b)
    let view = try stores.announce(ClusterServer(id: c, host: "c:1"), for: .seconds(60))
    #expect(view.leases.map(\.holder) == [b] && view.leases[0].wanted == nil)
    let second = try stores.acquire("test", by: b, for: .seconds(60))
    #expect(second.holder == b && second.epoch > first.epoch)
    try stores.release(second, to: a)
    try end(a)
    #expect(try stores.acquire("test", by: c, for: .seconds(60)).holder == c)
  }

  @Test("Servers that announce themselves are seen, with their leases renewed")
  func announcing() throws {
    let (a, b) = (ServerID("a"), ServerID("b"))
    _ = try stores.create("other")
    let lease = try stores.acquire("test", by: a, for: .milliseconds(60_000))
    _ = try stores.announce(ClusterServer(id: b, host: "b:2"), for: .seconds(600))
    let view = try stores.announce(ClusterServer(id: a, host: "a:1"), for: .seconds(600))
    #expect(
      view.servers == [ClusterServer(id: a, host: "a:1"), ClusterServer(id: b, host: "b:2")]
    )
    #expect(view.leases.map(\.database) == ["test"])
    #expect(view.leases[0].epoch == lease.epoch)
    #expect(view.leases[0].remaining > .seconds(590))
    try stores.withdraw(a)
    let later = try stores.announce(ClusterServer(id: b, host: "b:3"), for: .seconds(600))
    #expect(later.servers == [ClusterServer(id: b, host: "b:3")])
    #expect(later.leases.map(\.holder) == [a])
  }

  @Test("Of many that ask at once, one gets the lease")
  func contention() throws {
    for round in 0..<5 {
      let url = url
      let winners = (0..<8).map { _ in
        Lease(database: "", epoch: 0, holder: ServerID(""), remaining: .zero)
      }
      let box = LeaseBox(winners)
      DispatchQueue.concurrentPerform(iterations: 8) { index in
        let own = PostgresTreeStores(at: PostgresAddress(url))
        let lease = try? own.acquire("test", by: ServerID("s\(round)-\(index)"), for: .seconds(60))
        box.set(lease, at: index)
      }
      let leases = box.values
      #expect(leases.count == 8)
      #expect(Set(leases.map(\.holder)).count == 1)
      #expect(Set(leases.map(\.epoch)) == [Int64(round + 1)])
      try end(leases[0].holder)
    }
  }

  // MARK: Commits

  @Test("A deposed leader commits nothing: neither data nor ledger, sessions or rules")
  func deposed() throws {
    let (a, b) = (ServerID("a"), ServerID("b"))
    let first = try stores.open(stores.acquire("test", by: a, for: .seconds(60)))
    try first.commit(batch(1))
    try end(a)
    // No other server has taken its place, so it may continue.
    try first.commit(batch(2))
    let second = try stores.open(stores.acquire("test", by: b, for: .seconds(60)))
    let late = CommitBatch(
      commits: batch(3).commits,
      ledger: [LedgerEntry(client: "late", upTo: 1, lastSeen: .max)],
      sessions: [SessionUpdate(StoredSession(id: 1, changes: [Change("x", to: .integer(1))]))],
      rules: "{}"
    )
    for batch in [late, CommitBatch(commits: [], rules: "{}"), late] {
      let error = #expect(throws: StoreError.self) { try first.commit(batch) }
      #expect(error?.kind == .superseded)
      #expect(error?.hasStoredNothing == true)
    }
    try second.commit(batch(3, 7))
    let tree = try second.load()
    #expect(tree.revision == 3)
    #expect(tree.root == (try Node(json: JSONParser.parse(#"{"at1":0,"at2":0,"at3":7}"#))))
    #expect(tree.ledger.map(\.client) == ["c"])
    #expect(tree.sessions.isEmpty && tree.rules == nil)
    try first.close()
    try second.close()
  }

  @Test("A lease that does not count any more opens nothing")
  func stale() throws {
    let lease = try stores.acquire("test", by: ServerID("a"), for: .seconds(60))
    try end(lease.holder)
    let error = #expect(throws: StoreError.self) { try stores.open(lease) }
    #expect(error?.kind == .superseded)
    _ = try stores.acquire("test", by: ServerID("b"), for: .seconds(60))
    #expect(throws: StoreError.self) { try stores.open(lease) }
  }

  @Test("Of two stores with one lease, the later one commits")
  func twins() throws {
    let lease = try stores.acquire("test", by: ServerID("a"), for: .seconds(60))
    let first = try stores.open(lease)
    let second = try stores.open(lease)
    let error = #expect(throws: StoreError.self) { try first.commit(batch(1)) }
    #expect(error?.kind == .locked)
    #expect(throws: StoreError.self) { try first.commit(batch(1)) }
    // The first store has checked who replaced it, which also refused the second: one of them has
    // to end.
    #expect(throws: StoreError.self) { try second.commit(batch(1)) }
    #expect(try second.load() == StoredTree())
    try first.close()
    try second.close()
  }
}

/// Leases that several threads report.
private final class LeaseBox: @unchecked Sendable {
  // Safety: the values are used with the lock held.
  private let lock = NSLock()
  private var leases: [Lease?]

  init(_ leases: [Lease]) { self.leases = Array(repeating: nil, count: leases.count) }

  func set(_ lease: Lease?, at index: Int) { lock.withLock { leases[index] = lease } }

  var values: [Lease] { lock.withLock { leases.compactMap(\.self) } }
}
