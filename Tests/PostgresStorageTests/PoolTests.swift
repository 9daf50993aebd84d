import Dispatch
import Foundation
import HearthLab
import NIOConcurrencyHelpers
import PostgresTestSupport
import RealtimeCore
import RealtimeServer
import Testing

@testable import PostgresStorage

@Suite("Many databases share few connections", .needsPostgres, .timeLimit(.minutes(3)))
struct PoolTests {
  private let server: PostgresServer
  private let url: String
  private let me = ServerID("a")

  init() throws {
    server = try PostgresServer.shared.get()
    url = try server.makeDatabase()
  }

  private func stores(_ connections: Int) -> PostgresTreeStores {
    var options = PostgresStoreOptions()
    options.connections = connections
    // Every commit is followed by a fold.
    options.foldBatches = 0
    // PostgreSQL counts a connection that was given up until its process has ended.
    options.attemptLimit = .seconds(30)
    return PostgresTreeStores(at: PostgresAddress(url), options: options)
  }

  private func open(_ name: String, of stores: PostgresTreeStores) throws -> any TreeStore {
    try stores.open(stores.acquire(name, by: me, for: .seconds(600)))
  }

  /// Counts the connections to the databases, through one that is to another database.
  private func connectionCount(_ observer: PostgresConnection) throws -> Int {
    let name = url.split(separator: "/").last ?? ""
    let rows = try observer.query(
      "SELECT count(*) FROM pg_stat_activity WHERE datname = $1::text",
      with: [.text(String(name))],
      within: .seconds(10)
    )
    return Int(rows.integer(0, column: 0))
  }

  @Test("However many databases are written and folded, the bound holds", arguments: [4, 9])
  func bound(connections: Int) throws {
    let stores = stores(connections)
    let names = (0..<60).map { "db-\($0)" }
    for name in names { #expect(try stores.create(name)) }
    let failures = NIOLockedValueBox<[String]>([])
    let group = DispatchGroup()
    for name in names {
      group.enter()
      Thread.detachNewThread {
        defer { group.leave() }
        do {
          let store = try open(name, of: stores)
          for revision in 1...5 as ClosedRange<Int64> { try store.commit(batch(revision)) }
          let tree = try store.load()
          if tree.revision != 5 { throw StoreError(.failed, description: "\(tree.revision)") }
          try store.close()
        } catch {
          failures.withLockedValue { $0.append("\(name): \(error)") }
        }
      }
    }
    let observer = try PostgresConnection(to: PostgresAddress(server.url(of: "postgres")))
    var most = 0
    while group.wait(timeout: .now() + .milliseconds(5)) == .timedOut {
      most = max(most, try connectionCount(observer))
    }
    #expect(failures.withLockedValue { $0 }.isEmpty)
    // One more is for accounts, which are not opened here.
    #expect((2...connections - 1).contains(most), "\(most)")
    for name in names { #expect(try stores.database(name).load().revision == 5) }
  }

  @Test("A blocked commit does not delay leases, nor other databases for long")
  func fairness() throws {
    let stores = stores(4)
    for name in ["held", "free"] { _ = try stores.create(name) }
    let held = try open("held", of: stores)
    let free = try open("free", of: stores)
    let holder = try PostgresConnection.holdingNextRow(of: "held", at: url)
    let commit = batch(1)
    // A thread of its own: a task might wait for that of this test, which blocks.
    let queue = DispatchQueue(label: "test.commit")
    nonisolated(unsafe) var stuck: Result<Void, any Error>?
    queue.async { stuck = Result { try held.commit(commit) } }
    server.waitForLock(at: url)
    // The only connection for commits is in use now.
    let view = try stores.announce(ClusterServer(id: me, host: "s-1"), for: .seconds(600))
    #expect(view.leases.allSatisfy { $0.renewal > 0 } && view.leases.count == 2)
    try free.commit(commit)
    #expect(try free.load().revision == 1)
    holder.close()
    try #require(queue.sync { stuck }).get()
    #expect(try held.load().revision == 1)
    try held.close()
    try free.close()
  }

  @Test("A failing fold is reported, and so is its recovery")
  func foldedAgain() throws {
    let events = NIOLockedValueBox<[String]>([])
    var options = PostgresStoreOptions()
    options.foldBatches = 0
    options.report = { event in
      switch event {
      case .foldFailed(let database, _): events.withLockedValue { $0.append("failed \(database)") }
      case .foldedAgain(let database): events.withLockedValue { $0.append("again \(database)") }
      case .loading, .loaded, .reconnected, .renewalFailed, .renewedAgain: break
      }
    }
    let stores = PostgresTreeStores(at: PostgresAddress(url), options: options)
    _ = try stores.create("test")
    let store = try open("test", of: stores)
    let deadline = ContinuousClock.now + .seconds(30)
    var revision: Int64 = 0
    func commitUntil(_ event: String) throws {
      while events.withLockedValue({ $0.last != event }) {
        try #require(ContinuousClock.now < deadline)
        revision += 1
        try store.commit(batch(revision))
      }
    }
    _ = try server.sql("ALTER TABLE hearth.folds RENAME TO away", at: url)
    try commitUntil("failed test")
    _ = try server.sql("ALTER TABLE hearth.away RENAME TO folds", at: url)
    try commitUntil("again test")
    let told = events.withLockedValue { $0.filter { $0 == "again test" }.count }
    #expect(told == 1)
    try store.close()
  }
}
