import Foundation
import HearthLab
import PostgresTestSupport
import RealtimeCore
import RealtimeServer
import TestSupport
import Testing

@testable import PostgresStorage

@Suite("A failover to an asynchronous standby", .needsPostgres, .timeLimit(.minutes(3)))
struct FailoverTests {
  /// Waits until the standby has everything.
  private func waitForStandby(of primary: PostgresServer) throws {
    let deadline = ContinuousClock.now + .seconds(30)
    let query = "SELECT pg_current_wal_lsn() = replay_lsn FROM pg_stat_replication"
    while try primary.sql(query, at: primary.url(of: "postgres")) != "t" {
      try #require(ContinuousClock.now < deadline)
      usleep(20_000)
    }
  }

  @Test("A primary whose synchronous standby has been promoted renews leases for nobody")
  func promotedBehindItsBack() throws {
    let primary = try PostgresServer(settings: ["synchronous_standby_names=*"])
    let standby = try PostgresServer(standbyOf: primary)
    var options = PostgresStoreOptions()
    options.leaseLimit = .seconds(1)
    options.commitLimit = .seconds(1)
    let old = PostgresTreeStores(
      at: PostgresAddress(primary.url(of: "postgres")),
      options: options
    )
    _ = try old.create("test")
    let (a, b) = (ClusterServer(id: ServerID("a"), host: "a:1"), ServerID("b"))
    let store = try old.open(old.acquire("test", by: a.id, for: .seconds(4)))
    try store.commit(batch(1))
    _ = try old.announce(a, for: .seconds(4))
    try standby.promote()
    // Another server may lead there after the duration of a lease, and nothing tells the old leader.
    let new = PostgresTreeStores(at: PostgresAddress(standby.url(of: "postgres")))
    let view = try new.view()
    let lease = try new.acquire(
      "test",
      by: b,
      for: .seconds(4),
      insteadOf: LeaseMark(try #require(view.leases.first), in: view.history),
      knowing: view.history
    )
    #expect(lease.holder == b)
    let next = try new.open(lease)
    try next.commit(batch(2))
    // So the old leader must not be able to go on for longer than that.
    #expect(throws: StoreError.self) { try old.announce(a, for: .seconds(4)) }
    #expect(throws: StoreError.self) { try store.commit(batch(2)) }
    primary.stop(isCrash: true)
    try? store.close()
    try next.close()
    standby.stop()
  }

  @Test("A failover that loses a lease and commits is reported, recorded and fenced")
  func lostGrant() throws {
    let primary = try PostgresServer()
    let standby = try PostgresServer(standbyOf: primary)
    let hosts = "127.0.0.1:\(primary.port),127.0.0.1:\(standby.port)"
    let stores = PostgresTreeStores(
      at: PostgresAddress("postgres://hearth@\(hosts)/postgres?target_session_attrs=read-write")
    )
    let (a, b, c) = (ServerID("a"), ServerID("b"), ServerID("c"))
    _ = try stores.create("test")
    let replicated = try stores.open(stores.acquire("test", by: a, for: .seconds(60)))
    try replicated.commit(batch(1))
    try waitForStandby(of: primary)
    standby.stop()

    // From here on, only the primary knows: the lease of b, and two batches.
    func mark(in view: ClusterView) throws -> LeaseMark {
      LeaseMark(try #require(view.leases.first), in: view.history)
    }
    let before = try stores.view()
    let lost = try stores.acquire(
      "test",
      by: b,
      for: .seconds(60),
      insteadOf: mark(in: before),
      knowing: nil
    )
    let store = try stores.open(lost)
    for revision in 2...3 as ClosedRange<Int64> { try store.commit(batch(revision)) }
    var watcher = Leadership(ClusterServer(id: c, host: "c:1"))
    _ = watcher.handle(.time, at: .zero)
    let seen = try stores.announce(ClusterServer(id: c, host: "c:1"), for: .seconds(4))
    #expect(seen.positions["test"]?.revision == 3)
    #expect(watcher.handle(.announced(.success(seen)), at: .milliseconds(10)) == [])
    primary.stop(isCrash: true)
    try standby.start()
    try standby.promote()

    // Every server that has seen more says so at its next announcement.
    let found = try stores.announce(ClusterServer(id: c, host: "c:1"), for: .seconds(4))
    #expect(found.history.timeline == seen.history.timeline + 1)
    #expect(!found.isSettled)
    _ = watcher.handle(.time, at: .seconds(1))
    let loss = StorageLoss(
      "test",
      seen: try #require(seen.positions["test"]),
      found: found.positions["test"],
      oldTimeline: seen.history.timeline,
      newTimeline: found.history.timeline
    )
    #expect(loss.commits == 2 && loss.batches >= 2)
    let outputs = watcher.handle(.announced(.success(found)), at: .milliseconds(1_010))
    #expect(outputs == [.report(loss)])
    for _ in 1...2 { try stores.record(loss) }
    let recorded = try stores.losses()
    #expect(recorded.map(\.database) == ["test"] && recorded.map(\.commits) == [2])
    #expect(recorded.map(\.batches) == [loss.batches])

    // Nobody gets a lease before every lease that was lost has ended.
    for server in [a, b, c] {
      expectError(\StoreError.kind, .busy) {
        let lease = try stores.acquire(
          "test",
          by: server,
          for: .seconds(60),
          insteadOf: mark(in: found),
          knowing: seen.history
        )
        guard lease.holder == server else { throw StoreError(.busy, description: "not given") }
      }
    }
    let lease = try stores.acquire(
      "test",
      by: c,
      for: .seconds(60),
      insteadOf: mark(in: found),
      knowing: found.history
    )
    #expect(lease.holder == c && lease.epoch == lost.epoch && lease.id != lost.id)
    let next = try stores.open(lease)
    for revision in 2...3 as ClosedRange<Int64> { try next.commit(batch(revision)) }
    // The same number of the lease and of the last commit, yet another history.
    #expect(throws: StoreError.self) { try store.commit(batch(4)) }
    #expect(throws: StoreError.self) { try replicated.commit(batch(2)) }
    #expect(throws: StoreError.self) { try stores.open(lost) }
    try next.commit(batch(4))
    #expect(try stores.database("test").load().revision == 4)
    for store in [next, store, replicated] { try store.close() }
    standby.stop()
  }
}
