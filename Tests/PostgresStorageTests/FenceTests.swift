import Dispatch
import Foundation
import HearthLab
import PostgresTestSupport
import RealtimeCore
import TestSupport
import Testing

@testable import PostgresStorage
@testable import RealtimeServer

@Suite("PostgresTreeStores: fencing", .needsPostgres, .timeLimit(.minutes(2)))
struct FenceTests {
  private let url: String
  private let stores: PostgresTreeStores

  init() throws {
    url = try PostgresServer.shared.get().makeDatabase()
    stores = PostgresTreeStores(at: PostgresAddress(url))
    _ = try stores.create("test")
  }

  /// Takes the lease from its holder, as after it has been seen for a whole duration.
  private func takeOver(by server: ServerID) throws -> Lease {
    let view = try stores.view()
    let held = try #require(view.leases.first { $0.database == "test" })
    return try stores.acquire(
      "test",
      by: server,
      for: .seconds(60),
      insteadOf: LeaseMark(held, in: view.history),
      knowing: nil
    )
  }

  // MARK: What is known

  /// A store with so many commits, and what it held after the first two.
  private func store(commits: Int64) throws -> (store: any TreeStore, known: StoredTree) {
    let lease = try stores.acquire("test", by: ServerID("a"), for: .seconds(60))
    let store = try stores.open(lease)
    try store.commit(batch(1))
    try store.commit(batch(2))
    let known = try store.load()
    for revision in 3...commits { try store.commit(batch(revision)) }
    return (store, known)
  }

  @Test("A reader that knows an earlier commit loads only the later ones and the other state")
  func known() throws {
    let (store, earlier) = try store(commits: 5)
    var known = earlier
    // What was read at that time is used, whatever the nodes say.
    known.root = known.root.setting(Path(wire: "known"), to: .bool(true))
    let read = try store.load(since: known)
    #expect(read.root[Path(wire: "known")] == .bool(true))
    #expect(read.root[Path(wire: "at5")] == .integer(5))
    #expect(read.revision == 5)
    #expect(read.ledger.map(\.upTo) == [5])
    #expect(read.lineage == known.lineage && known.lineage != nil)
    // The same for tools, and for servers that follow.
    #expect(try stores.database("test").load(since: known) == read)
    known.revision = 5
    known.root = read.root
    #expect(try store.load(since: known) == read)
    try store.close()
  }

  @Test("Data from another history or of a later commit is not used")
  func unknown() throws {
    let (store, earlier) = try store(commits: 4)
    let mark = Path(wire: "known")
    var known = earlier
    known.root = known.root.setting(mark, to: .bool(true))
    for (lineage, revision) in [
      (nil, Int64(2)), ("\(earlier.lineage ?? "")1", 2), (earlier.lineage, 9),
    ] {
      (known.lineage, known.revision) = (lineage, revision)
      let read = try store.load(since: known)
      #expect(read == (try store.load()), "\(lineage ?? "none") \(revision)")
      #expect(read.root[mark].isEmpty)
    }
    // Once the log has been folded, what came after is no longer there one by one.
    (known.lineage, known.revision) = (earlier.lineage, 2)
    try store.close()
    let next = try stores.open(try takeOver(by: ServerID("b")))
    #expect(try next.load(since: known).root[mark].isEmpty)
    #expect(try next.load(since: known) == (try next.load()))
    try next.close()
  }

  @Test("A database recreated under the same name shares nothing with its predecessor")
  func renewed() throws {
    let (store, known) = try store(commits: 4)
    try store.close()
    _ = try stores.create("other")
    let lease = try stores.acquire("other", by: ServerID("a"), for: .seconds(60))
    let other = try stores.open(lease)
    for revision: Int64 in 1...4 { try other.commit(batch(revision, 7)) }
    #expect(try other.load().lineage != known.lineage)
    #expect(try other.load(since: known).root[Path(wire: "at1")] == .integer(7))
    try other.close()
  }

  // MARK: Leases

  @Test("A lease has one holder, and each new lease gets a new ID and a higher epoch")
  func leases() throws {
    let (a, b) = (ServerID("a"), ServerID("b"))
    let first = try stores.acquire("test", by: a, for: .seconds(60))
    #expect(first.holder == a && first.duration == .seconds(60))
    let refused = try stores.acquire("test", by: b, for: .seconds(60))
    #expect(refused.holder == a && refused.id == first.id)
    let again = try stores.acquire("test", by: a, for: .seconds(60))
    #expect(again.holder == a && again.epoch > first.epoch && again.id != first.id)
    let second = try takeOver(by: b)
    #expect(second.holder == b && second.epoch > again.epoch && second.id != again.id)
    try stores.release(again, to: nil)
    #expect(try stores.acquire("test", by: a, for: .seconds(60)).holder == b)
    try stores.release(second, to: nil)
    let third = try stores.acquire("test", by: a, for: .seconds(60))
    #expect(third.holder == a && third.epoch > second.epoch)
  }

  @Test("A lease renewed since it was last seen is not taken over")
  func renewal() throws {
    let (a, b) = (ServerID("a"), ServerID("b"))
    _ = try stores.acquire("test", by: a, for: .milliseconds(1))
    let view = try stores.view()
    let mark = LeaseMark(try #require(view.leases.first), in: view.history)
    func take(_ mark: LeaseMark) throws -> ServerID {
      try stores.acquire("test", by: b, for: .seconds(9), insteadOf: mark, knowing: nil).holder
    }
    _ = try stores.announce(ClusterServer(id: a, host: "a:1"), for: .milliseconds(1))
    #expect(try take(mark) == a, "it was renewed")
    let now = LeaseMark(try #require(stores.view().leases.first), in: view.history)
    for history in [
      StorageHistory(timeline: view.history.timeline + 1, start: view.history.start),
      StorageHistory(timeline: view.history.timeline, start: "another"),
    ] {
      var other = now
      other.history = history
      #expect(try take(other) == a, "it was seen in another history")
    }
    #expect(try take(now) == b)
  }

  @Test("PostgreSQL's clock neither ends nor extends a lease")
  func clock() throws {
    let (a, b) = (ServerID("a"), ServerID("b"))
    for way in ["-", "+"] {
      _ = try stores.acquire("test", by: a, for: .seconds(4))
      _ = try PostgresServer.shared.get().sql(
        "UPDATE hearth.leases SET renewed = now() \(way) interval '1 year'",
        at: url
      )
      #expect(try stores.acquire("test", by: b, for: .seconds(4)).holder == a)
      #expect(try takeOver(by: b).holder == b)
      #expect(try takeOver(by: a).holder == a)
    }
  }

  @Test("A released lease goes to its named successor")
  func successor() throws {
    let (a, b, c) = (ServerID("a"), ServerID("b"), ServerID("c"))
    let first = try stores.acquire("test", by: a, for: .seconds(60))
    let store = try stores.open(first)
    try stores.move("test", to: b)
    #expect(try stores.view().leases.map(\.wanted) == [b])
    try stores.release(first, to: b)
    expectError(\StoreError.kind, .superseded) { try store.commit(batch(1)) }
    try store.close()
    #expect(try stores.acquire("test", by: c, for: .seconds(60)).holder == b)
    #expect(try stores.acquire("test", by: a, for: .seconds(60)).holder == b)
    let view = try stores.announce(ClusterServer(id: c, host: "c:1"), for: .seconds(60))
    #expect(view.leases.map(\.holder) == [b] && view.leases[0].wanted == nil)
    let second = try stores.acquire("test", by: b, for: .seconds(60))
    #expect(second.holder == b && second.epoch > first.epoch)
    try stores.release(second, to: a)
    #expect(try takeOver(by: c).holder == c)
  }

  @Test("Announced servers are listed and their leases renewed")
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
    #expect(view.leases[0].id == lease.id && view.leases[0].renewal == 1)
    #expect(view.leases[0].duration == .seconds(600))
    #expect(view.announcements == [a: 0, b: 0])
    try stores.withdraw(a)
    let later = try stores.announce(ClusterServer(id: b, host: "b:3"), for: .seconds(600))
    #expect(later.servers == [ClusterServer(id: b, host: "b:3")])
    #expect(later.leases.map(\.holder) == [a])
  }

  @Test("One of several concurrent requests gets the lease")
  func contention() throws {
    for round in 0..<5 {
      let url = url
      let record = Record<Lease>()
      DispatchQueue.concurrentPerform(iterations: 8) { index in
        let own = PostgresTreeStores(at: PostgresAddress(url))
        let lease = try? own.acquire("test", by: ServerID("s\(round)-\(index)"), for: .seconds(60))
        if let lease { record.append(lease) }
      }
      let leases = record.elements
      #expect(leases.count == 8)
      #expect(Set(leases.map(\.holder)).count == 1)
      #expect(Set(leases.map(\.id)).count == 1)
      try stores.release(leases[0], to: nil)
    }
  }

  // MARK: Commits

  @Test("A deposed leader commits nothing: no data, ledger entries, sessions or rules")
  func deposed() throws {
    let (a, b) = (ServerID("a"), ServerID("b"))
    let first = try stores.open(stores.acquire("test", by: a, for: .seconds(60)))
    try first.commit(batch(1))
    try first.commit(batch(2))
    let second = try stores.open(takeOver(by: b))
    let late = CommitBatch(
      commits: batch(3).commits,
      ledger: [LedgerEntry(client: "late", upTo: 1, lastSeen: .max)],
      sessions: [SessionUpdate(StoredSession(id: 1, changes: [Change("x", to: .integer(1))]))],
      rules: "{}"
    )
    for batch in [late, CommitBatch(commits: [], rules: "{}"), late] {
      let error = expectError(\StoreError.kind, .superseded) { try first.commit(batch) }
      #expect(error?.hasStoredNothing == true)
    }
    try second.commit(batch(3, 7))
    let tree = try second.load()
    #expect(tree.revision == 3)
    #expect(tree.root == (try Node(json: JSONParser.parse(#"{"at1":1,"at2":2,"at3":7}"#))))
    #expect(tree.ledger.map(\.client) == ["c"])
    #expect(tree.sessions.isEmpty && tree.rules == nil)
    try first.close()
    try second.close()
  }

  @Test("A stale lease cannot open a store")
  func stale() throws {
    let lease = try stores.acquire("test", by: ServerID("a"), for: .seconds(60))
    _ = try takeOver(by: ServerID("b"))
    expectError(\StoreError.kind, .superseded) { try stores.open(lease) }
  }

  @Test("A reused epoch does not revive the lease that had it first")
  func sameNumber() throws {
    let server = try PostgresServer.shared.get()
    let lost = try stores.acquire("test", by: ServerID("a"), for: .seconds(60))
    let store = try stores.open(lost)
    try store.commit(batch(1))
    // As on a standby that never received the first grant, and with the same number of batches.
    _ = try server.sql("UPDATE hearth.leases SET epoch = epoch - 1, holder = NULL", at: url)
    let lease = try stores.acquire("test", by: ServerID("b"), for: .seconds(60))
    #expect(lease.epoch == lost.epoch && lease.id != lost.id)
    expectError(\StoreError.kind, .superseded) { try store.commit(batch(2)) }
    #expect(throws: StoreError.self) { try stores.open(lost) }
    try store.close()
  }

  @Test("A batch must follow the exact batch it was made for, not another with the same number")
  func sameCount() throws {
    let server = try PostgresServer.shared.get()
    let store = try stores.open(stores.acquire("test", by: ServerID("a"), for: .seconds(60)))
    for revision in 1...2 as ClosedRange<Int64> { try store.commit(batch(revision)) }
    // As after a failover that lost the second batch, and another in its place.
    _ = try server.sql(
      "UPDATE hearth.log SET id = gen_random_uuid(), written = gen_random_uuid() WHERE revision = 2",
      at: url
    )
    expectError(\StoreError.hasStoredNothing, false) { try store.commit(batch(3)) }
    #expect(try stores.database("test").load().revision == 2)
    try store.close()
  }

  @Test("No row is updated by every commit, so an open snapshot does not slow commits down")
  func noHotRow() throws {
    let server = try PostgresServer.shared.get()
    let store = try stores.open(stores.acquire("test", by: ServerID("a"), for: .seconds(60)))
    for revision in 1...40 as ClosedRange<Int64> {
      try store.commit(CommitBatch(commits: batch(revision).commits))
    }
    let rows = try server.sql(
      "SELECT count(*), count(DISTINCT xmin::text) FROM hearth.log",
      at: url
    )
    #expect(rows.hasSuffix("|\(rows.split(separator: "|")[0])"), "a transaction for each row")
    let newest = "(SELECT max(xmin::text::bigint) FROM hearth.log)"
    let changed = try server.sql(
      """
      SELECT (SELECT count(*) FROM hearth.leases WHERE xmin::text::bigint >= \(newest))
        + (SELECT count(*) FROM hearth.folds WHERE xmin::text::bigint >= \(newest))
        + (SELECT count(*) FROM hearth.databases WHERE xmin::text::bigint >= \(newest))
        + (SELECT count(*) FROM hearth.log WHERE xmin::text::bigint >= \(newest))
      """,
      at: url
    )
    #expect(changed == "1", "only the new row")
    try store.close()
    let left = try server.sql("SELECT count(*), max(revision) FROM hearth.log", at: url)
    #expect(left == "1|40", "the last row stays when the log is folded")
  }

  @Test(
    "A commit waits for the local disk and the synchronous standby, whatever the setting",
    arguments: [
      ("off", "on"), ("local", "on"), ("remote_write", "on"), ("on", "on"),
      ("remote_apply", "remote_apply"),
    ]
  )
  func synchronousCommit(setting: String, used: String) throws {
    let name = url.split(separator: "/").last ?? ""
    _ = try PostgresServer.shared.get().sql(
      "ALTER DATABASE \(name) SET synchronous_commit = '\(setting)'",
      at: url
    )
    let connection = try PostgresConnection(to: PostgresAddress(url))
    let rows = try connection.query(
      "SELECT current_setting('synchronous_commit')",
      within: .seconds(5)
    )
    #expect(rows.text(0, column: 0) == used)
    connection.close()
  }

  @Test("A database whose sessions read backslashes as escapes is prepared and used")
  func backslashes() throws {
    let server = try PostgresServer.shared.get()
    let url = try server.makeDatabase()
    let name = try #require(url.split(separator: "/").last)
    _ = try server.sql("ALTER DATABASE \(name) SET standard_conforming_strings = off", at: url)
    let stores = PostgresTreeStores(at: PostgresAddress(url))
    #expect(try stores.create("escaped"))
    let lease = try stores.acquire("escaped", by: ServerID("a"), for: .seconds(60))
    let store = try stores.open(lease)
    try store.commit(batch(1))
    try store.close()
    #expect(try stores.database("escaped").load().revision == 1)
  }

  @Test("Two stores opened with the same lease fence each other off")
  func twins() throws {
    let lease = try stores.acquire("test", by: ServerID("a"), for: .seconds(60))
    let first = try stores.open(lease)
    let second = try stores.open(lease)
    expectError(\StoreError.kind, .locked) { try first.commit(batch(1)) }
    #expect(throws: StoreError.self) { try first.commit(batch(1)) }
    // The first store has checked who replaced it, which also refused the second: one of them has
    // to end.
    #expect(throws: StoreError.self) { try second.commit(batch(1)) }
    #expect(try second.load() == StoredTree())
    try first.close()
    try second.close()
  }
}
