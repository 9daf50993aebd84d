import Dispatch
import Foundation
import HearthLab
import PostgresTestSupport
import RealtimeCore
import RealtimeServer
import TestSupport
import Testing

@testable import PostgresStorage

@Suite("Connections lost during a commit", .needsPostgres, .timeLimit(.minutes(3)))
struct LostConnectionTests {
  private let server: PostgresServer
  private let url: String
  private let proxy: FaultyNetwork
  private let events = EventLog()

  init() throws {
    server = try PostgresServer.shared.get()
    url = try server.makeDatabase()
    proxy = try FaultyNetwork(to: server.port)
    _ = try PostgresTreeStores(at: PostgresAddress(url)).create("test")
  }

  private func stores(
    limit: Duration = .seconds(30),
    _ adjust: (inout PostgresStoreOptions) -> Void = { _ in }
  ) -> PostgresTreeStores {
    var options = PostgresStoreOptions()
    adjust(&options)
    options.commitLimit = limit
    options.report = { [events] in events.append($0) }
    return PostgresTreeStores(at: PostgresAddress(proxy.url(of: url)), options: options)
  }

  private func open(_ stores: PostgresTreeStores) throws -> any TreeStore {
    try stores.open(stores.acquire("test", by: ServerID("a"), for: .seconds(600)))
  }

  private func count(_ table: String) throws -> String {
    try server.sql("SELECT count(payload) FROM hearth.\(table)", at: url)
  }

  private func terminateBackends() throws {
    _ = try server.sql(
      """
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid()
      """,
      at: url
    )
  }

  @Test("A transaction whose number a crash of PostgreSQL has lost was not committed")
  func lostNumber() throws {
    let connection = try PostgresConnection(to: PostgresAddress(url))
    defer { connection.close() }
    let mark = PostgresPort.TransactionMark(number: "4611686018427388904", life: "")
    let status = try PostgresPort.status(of: mark, through: connection, within: .seconds(10))
    #expect(status == "aborted")
  }

  @Test("A change that a crash has lost is not acknowledged for another with its number")
  func numberGivenAgain() throws {
    // PostgreSQL may write what is not committed at any time, and then does not give the number again.
    for _ in 1...5 { if try loseNumber() { return } }
    Issue.record("no number was given again")
  }

  @Test("A change in doubt is not called undone because its outcome cannot be read")
  func outcomeRefused() throws {
    let options = PostgresStoreOptions()
    let port = PostgresPort(to: PostgresAddress(proxy.url(of: url)), options: options)
    try port.prepare()
    // The outcome is refused to everybody but the transaction itself, which lingers at its end.
    _ = try server.sql(
      """
      ALTER FUNCTION hearth.history() RENAME TO true_history;
      CREATE FUNCTION hearth.history(OUT timeline bigint, OUT start text) LANGUAGE plpgsql AS $$
      BEGIN
        IF pg_current_xact_id_if_assigned() IS NULL THEN
          RAISE EXCEPTION 'cancelled' USING ERRCODE = 'query_canceled';
        END IF;
        SELECT h.timeline, h.start INTO timeline, start FROM hearth.true_history() h;
      END $$;
      CREATE TABLE public.changes (number integer);
      CREATE FUNCTION public.linger() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN PERFORM pg_sleep(1); RETURN NULL; END $$;
      CREATE CONSTRAINT TRIGGER linger AFTER INSERT ON public.changes
        DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION public.linger()
      """,
      at: url
    )
    DispatchQueue.global().async { [server, url, proxy] in
      let lingering = """
        SELECT count(*) FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event = 'PgSleep'
        """
      while (try? server.sql(lingering, at: url)) != "1" {}
      proxy.set(.cut)
      proxy.set(.sound)
    }
    expectError(\StoreError.hasStoredNothing, false) {
      try port.transact { connection throws(PostgresFailure) in
        try connection.query("INSERT INTO public.changes VALUES (1)", within: .seconds(10))
      }
    }
    // PostgreSQL has not noticed that the connection is lost.
    while try server.sql("SELECT count(*) FROM public.changes", at: url) != "1" {}
    port.close()
  }

  /// Loses the number of a change by a crash, and returns whether the next transaction got it.
  private func loseNumber() throws -> Bool {
    // What is not committed stays in memory for as long as possible.
    let own = try PostgresServer(settings: ["wal_writer_delay=10s"])
    let url = own.url(of: "postgres")
    let proxy = try FaultyNetwork(to: own.port)
    var options = PostgresStoreOptions()
    options.commitLimit = .seconds(120)
    let port = PostgresPort(to: PostgresAddress(proxy.url(of: url)), options: options)
    try port.prepare()
    _ = try own.sql(
      """
      CREATE TABLE public.changes (number integer);
      CREATE FUNCTION public.linger() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN PERFORM pg_sleep(600); RETURN NULL; END $$;
      CREATE CONSTRAINT TRIGGER linger AFTER INSERT ON public.changes
        DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION public.linger()
      """,
      at: url
    )
    DispatchQueue.global().async {
      let sleeping = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'"
      while (try? own.sql(sleeping, at: url)) != "1" { usleep(10_000) }
      proxy.set(.cut)
      own.stop(isCrash: true)
      try? own.start()
      // This is the next transaction.
      _ = try? own.sql("ALTER TABLE public.changes DISABLE TRIGGER linger", at: url)
      proxy.set(.sound)
    }
    var numbers: [String] = []
    let outcome = Result {
      try port.transact { connection throws(PostgresFailure) in
        let insert = "INSERT INTO public.changes VALUES (1) RETURNING pg_current_xact_id()::text"
        numbers.append(try connection.query(insert, within: .seconds(10)).text(0, column: 0))
      }
    }
    let isAcknowledged = (try? outcome.get()) != nil
    let count = try own.sql("SELECT count(*) FROM public.changes", at: url)
    #expect(count == (isAcknowledged ? "1" : "0"))
    let next = try own.sql("SELECT xmin FROM pg_trigger WHERE tgname = 'linger'", at: url)
    port.close()
    own.stop()
    return numbers.first == next
  }

  @Test("A connection lost between two commits is reopened")
  func idle() throws {
    let store = try open(stores())
    try store.commit(batch(1))
    try terminateBackends()
    try store.commit(batch(2))
    try terminateBackends()
    try store.commit(CommitBatch(commits: [], rules: "r"))
    let tree = try store.load()
    #expect(tree.revision == 2 && tree.rules == "r")
    #expect(try count("log") == "2")
    try store.close()
  }

  @Test("A commit finds that PostgreSQL has gone back, and does not call its data damaged")
  func wentBack() throws {
    let store = try open(stores())
    try store.commit(batch(1))
    try store.commit(batch(2))
    _ = try server.sql("DELETE FROM hearth.log WHERE revision = 2", at: url)
    try terminateBackends()
    expectError(\StoreError.kind, .outdated) { try store.commit(batch(3)) }
    #expect(try count("log") == "1")
    try store.close()
  }

  @Test("A commit whose response is lost is stored exactly once")
  func lostAnswer() throws {
    let store = try open(stores())
    try store.commit(batch(1))
    proxy.set(.losingReplies)
    try store.commit(batch(2))
    #expect(events.reconnections == [true])
    try store.commit(batch(3))
    #expect(try store.load().revision == 3)
    #expect(try count("log") == "3")
    try store.close()
  }

  @Test("A commit whose backend dies before storing is retried")
  func endedBefore() throws {
    let store = try open(stores())
    try store.commit(batch(1))
    nonisolated(unsafe) let holder = try PostgresConnection.holdingNextRow(at: url)
    DispatchQueue.global().async { [server, url] in
      server.terminateWaitingCommit(at: url)
      holder.close()
    }
    try store.commit(batch(2))
    #expect(events.reconnections == [false])
    #expect(try store.load().revision == 2)
    #expect(try count("log") == "2")
    try store.close()
  }

  @Test("A commit still running when its connection is lost is awaited or refused")
  func underWay() throws {
    let store = try open(stores())
    try store.commit(batch(1))
    nonisolated(unsafe) let holder = try PostgresConnection.holdingNextRow(at: url)
    DispatchQueue.global().async { [server, url, proxy] in
      server.waitForLock(at: url)
      // The client's side is cut, and PostgreSQL continues with the statement.
      proxy.set(.cut)
      proxy.set(.sound)
      server.waitForLock(in: "add_barrier", at: url)
      holder.close()
    }
    try store.commit(batch(2))
    #expect(events.reconnections.count == 1)
    try store.commit(batch(3))
    #expect(try store.load().revision == 3)
    #expect(try count("log") == "3")
    try store.close()
  }

  @Test("While PostgreSQL is unreachable, a commit fails in time and reports what is known")
  func unreachable() throws {
    let store = try open(stores(limit: .seconds(1)))
    try store.commit(batch(1))
    proxy.set(.cut)
    let start = ContinuousClock.now
    let refused = #expect(throws: StoreError.self) { try store.commit(batch(2)) }
    #expect(ContinuousClock.now - start < .seconds(20))
    // The end of the connection may have been noticed only after something was sent.
    if refused?.hasStoredNothing == true {
      proxy.set(.sound)
      try store.commit(batch(2))
      #expect(try store.load().revision == 2)
    }
    proxy.set(.sound)
    try store.close()
  }

  @Test("A hanging PostgreSQL blocks a commit no longer than its time limit")
  func hangs() throws {
    let store = try open(stores(limit: .seconds(1)))
    try store.commit(batch(1))
    proxy.set(.silent)
    let start = ContinuousClock.now
    let error = #expect(throws: StoreError.self) { try store.commit(batch(2)) }
    #expect(ContinuousClock.now - start < .seconds(30))
    #expect(error?.hasStoredNothing == false)
    // An unknown outcome stays unknown, even after PostgreSQL is back.
    proxy.set(.sound)
    #expect(throws: StoreError.self) { try store.commit(batch(2)) }
    try store.close()
    let again = try open(stores())
    let revision = try again.load().revision
    #expect(revision == 1 || revision == 2)
    try again.commit(batch(revision + 1))
    try again.close()
  }

  @Test("A store reports when it cannot renew its lease and when it can again")
  func renewedAgain() throws {
    let stores = stores { $0.ownLease = .milliseconds(600) }
    let store = try #require(try stores.open("test"))
    proxy.set(.cut)
    events.wait { $0.renewals.first == false }
    proxy.set(.sound)
    events.wait { $0.renewals.contains(true) }
    #expect(events.renewals == [false, true])
    try store.close()
  }

  @Test("A commit waits for PostgreSQL to restart", arguments: [false, true])
  func restart(isCrash: Bool) throws {
    let own = try PostgresServer()
    let address = PostgresAddress(own.url(of: "postgres"))
    var options = PostgresStoreOptions()
    options.commitLimit = .seconds(60)
    let stores = PostgresTreeStores(at: address, options: options)
    _ = try stores.create("test")
    let store = try stores.open(stores.acquire("test", by: ServerID("a"), for: .seconds(600)))
    for revision in 1...5 as ClosedRange<Int64> { try store.commit(batch(revision)) }
    own.stop(isCrash: isCrash)
    DispatchQueue.global().asyncAfter(deadline: .now() + 0.5) { try? own.start() }
    for revision in 6...9 as ClosedRange<Int64> { try store.commit(batch(revision)) }
    let tree = try store.load()
    #expect(tree.revision == 9)
    #expect(tree.root.childCount == 9)
    try store.close()
    own.stop()
  }
}

/// Several batches under way at once.
extension LostConnectionTests {
  /// Gives a store the first three batches, all of which it sends before it waits for an answer.
  private func sendThree(to store: any TreeStore) -> BatchQueue {
    let queue = BatchQueue((1...3).map { batch($0) })
    Thread.detachNewThread { store.commitAll(from: queue.next) { queue.settled($0) } }
    return queue
  }

  @Test("Batches are sent behind one that is not stored, and acknowledged in order once they are")
  func sideBySide() throws {
    let store = try open(stores { $0.batchesUnderWay = 4...4 })
    let holder = try PostgresConnection.holdingNextRow(at: url)
    let queue = sendThree(to: store)
    queue.wait { $0.taken == 3 }
    queue.append(batch(4))
    store.batchWaits()
    queue.wait { $0.taken == 4 }
    server.waitForLock(at: url)
    #expect(queue.outcomes.isEmpty)
    holder.close()
    queue.wait { $0.settled == 4 }
    for outcome in queue.outcomes { try outcome.get() }
    #expect(try store.load().revision == 4)
    #expect(try count("log") == "4")
    try store.close()
  }

  @Test("A batch that fails when it is committed takes those behind it along")
  func failure() throws {
    _ = try server.sql(
      """
      CREATE FUNCTION public.refuse() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN RAISE EXCEPTION 'no room' USING ERRCODE = 'disk_full'; END $$;
      CREATE CONSTRAINT TRIGGER refuse AFTER INSERT ON hearth.log DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW WHEN (NEW.revision = 2) EXECUTE FUNCTION public.refuse()
      """,
      at: url
    )
    let store = try open(stores { $0.batchesUnderWay = 4...4 })
    let queue = sendThree(to: store)
    queue.wait { $0.settled == 2 }
    try queue.outcomes[0].get()
    expectError(\StoreError.kind, .full) { try queue.outcomes[1].get() }
    #expect(try store.load().revision == 1)
    _ = try server.sql("DROP TRIGGER refuse ON hearth.log", at: url)
    for revision in 2...3 as ClosedRange<Int64> { try store.commit(batch(revision)) }
    #expect(queue.outcomes.count == 2)
    #expect(try store.load().root.childCount == 3)
    try store.close()
  }

  @Test("Batches whose answers are lost are stored exactly once and in order")
  func lostAnswers() throws {
    let store = try open(stores { $0.batchesUnderWay = 4...4 })
    proxy.set(.losingReplies)
    let queue = sendThree(to: store)
    queue.wait { $0.settled == 3 }
    for outcome in queue.outcomes { try outcome.get() }
    #expect(events.reconnections.count == 1)
    #expect(try store.load().revision == 3)
    #expect(try count("log") == "3")
    try store.close()
  }

  @Test("Batches whose backend dies before storing are sent again in order")
  func endedWithBatchesBehind() throws {
    let store = try open(stores { $0.batchesUnderWay = 4...4 })
    let holder = try PostgresConnection.holdingNextRow(at: url)
    let queue = sendThree(to: store)
    server.terminateWaitingCommit(at: url)
    holder.close()
    queue.wait { $0.settled == 3 }
    for outcome in queue.outcomes { try outcome.get() }
    #expect(events.reconnections.first == false)
    #expect(try store.load().revision == 3)
    #expect(try count("log") == "3")
    try store.close()
  }

  @Test("Batches that another lease overtakes are refused together")
  func overtaken() throws {
    let store = try open(stores { $0.batchesUnderWay = 4...4 })
    // What the holder stores is the row of another lease.
    let holder = try PostgresConnection.holdingNextRow(at: url)
    let queue = sendThree(to: store)
    server.waitForLock(at: url)
    try holder.run("COMMIT", within: .seconds(5))
    queue.wait { $0.settled > 0 }
    expectError(\StoreError.kind, .superseded) { try queue.outcomes[0].get() }
    #expect(try count("log") == "0")
    #expect(throws: StoreError.self) { try store.commit(batch(1)) }
    #expect(queue.outcomes.count == 1)
    try store.close()
  }
}

/// Batches for a store, and what became of them.
private final class BatchQueue: @unchecked Sendable {
  // Safety: everything is used with the lock held.
  private let condition = NSCondition()
  private var waiting: [CommitBatch]
  private var taken = 0
  private var results: [Result<Void, any Error>] = []

  init(_ batches: [CommitBatch]) { waiting = batches }

  var outcomes: [Result<Void, any Error>] { condition.withLock { results } }

  func append(_ batch: CommitBatch) { condition.withLock { waiting.append(batch) } }

  func next() -> CommitBatch? {
    condition.withLock {
      guard !waiting.isEmpty else { return nil }
      taken += 1
      condition.broadcast()
      return waiting.removeFirst()
    }
  }

  func settled(_ outcome: Result<Void, any Error>) {
    condition.withLock {
      results.append(outcome)
      condition.broadcast()
    }
  }

  /// Waits until the numbers of batches taken and settled satisfy a condition.
  func wait(until isFulfilled: (_ counts: (taken: Int, settled: Int)) -> Bool) {
    condition.withLock { while !isFulfilled((taken, results.count)) { condition.wait() } }
  }
}

/// The events that a store reports.
private final class EventLog: @unchecked Sendable {
  // Safety: the events are used with the lock held.
  private let lock = NSCondition()
  private var events: [PostgresStoreEvent] = []

  func append(_ event: PostgresStoreEvent) {
    lock.withLock {
      events.append(event)
      lock.broadcast()
    }
  }

  /// Waits until the events satisfy a condition, or for half a minute.
  func wait(until isFulfilled: (EventLog) -> Bool) {
    let deadline = Date() + 30
    while !isFulfilled(self), Date() < deadline {
      _ = lock.withLock { lock.wait(until: Date() + 0.1) }
    }
  }

  /// Whether the lease could be renewed, each time that this had changed.
  var renewals: [Bool] {
    lock.withLock {
      var changes: [Bool] = []
      for event in events {
        switch event {
        case .renewalFailed: if changes.last != false { changes.append(false) }
        case .renewedAgain: changes.append(true)
        case .loading, .loaded, .foldFailed, .foldedAgain, .reconnected: break
        }
      }
      return changes
    }
  }

  /// Whether each commit whose connection was lost turned out to be stored.
  var reconnections: [Bool] {
    lock.withLock {
      events.compactMap { if case .reconnected(_, let wasStored) = $0 { wasStored } else { nil } }
    }
  }
}
