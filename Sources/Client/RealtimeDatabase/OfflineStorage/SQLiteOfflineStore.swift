#if OfflineStorage
import Dispatch
import Foundation
import GRDB
package import RealtimeCore

/// A store in one SQLite file, which only one database of one process uses at a time.
///
/// Calls may come from any thread; all work is done on one serial queue. Changes that are waiting
/// are written together in one transaction. A transaction with pending writes waits for the disk;
/// one that only has data from the server survives the process, but not a power loss.
///
/// The data of a query is stored as a base and the changes since. When the changes have grown
/// larger than the base, they are merged into it.
///
/// State: open, until ``close()`` or a failure. A full or busy disk does not count as a failure: it
/// refused the transaction, so the changes wait and are retried with the next ones. After any other
/// error, the contents of the disk are unknown. The store then reports the error and does not touch
/// the file again; the next process that opens it determines its contents. A file that turns out to
/// be damaged is replaced by a new one, once, which gets the writes.
package final class SQLiteOfflineStore: OfflineStore, @unchecked Sendable {
  // Safety: every mutable property is used only on `turns`; the others are Sendable.

  private struct Connection {
    let lock: OfflineFileLock
    let queue: DatabaseQueue
  }

  /// The number of changes that may wait for a disk that refuses them.
  private static let changeLimit = 100_000
  /// The size of changes, in bytes, up to which they are not merged into the base.
  private static let foldBytes = 16_384
  /// The size of the write-ahead log, in bytes, above which it is copied into the file.
  private static let logBytes = 1_048_576

  private let file: OfflineFile
  private let observers: OfflineStoreObservers
  private let turns = DispatchQueue(label: "SQLiteOfflineStore")
  private var connection: Connection?
  private var waiting: [OfflineChange] = []
  private var isCommitScheduled = false
  private var waiters: [@Sendable (OfflineStoreError?) -> Void] = []
  private var sizes: [Int64: PieceTable.Size] = [:]
  /// The data that was read last.
  private var lastRead: (query: Int64, node: Node)?
  private var size: Int64 = -1
  /// Why some changes are not on disk, or nil.
  private var failure: OfflineStoreError?
  /// Whether the file has replaced a damaged one; it has no data, on which the engine's changes of
  /// data are based.
  private var keepsOnlyWrites = false

  /// Opens the store of a database, and creates it if it does not exist.
  ///
  /// A damaged file is set aside and reported; the store then has only the writes that could be read.
  ///
  /// - Throws: ``OfflineStoreError`` of kind `inUse` or `unavailable`.
  package static func open(
    _ file: OfflineFile,
    observers: OfflineStoreObservers
  ) throws(OfflineStoreError) -> (store: SQLiteOfflineStore, state: OfflineState) {
    try file.create()
    let lock = try OfflineFileLock(file)
    do throws(OfflineStoreError) {
      return try open(file, lock: lock, observers: observers)
    } catch {
      guard error.kind == .damaged else { throw error }
      let writes = OfflineSchema.readableWrites(of: file.path)
      let report = try file.setAside(because: error)
      try file.create()
      var opened = try open(file, lock: lock, observers: observers)
      opened.store.perform(writes.map { .saveWrite($0) })
      opened.state.writes = writes
      observers.onProblem(report)
      return opened
    }
  }

  private static func open(
    _ file: OfflineFile,
    lock: OfflineFileLock,
    observers: OfflineStoreObservers
  ) throws(OfflineStoreError) -> (store: SQLiteOfflineStore, state: OfflineState) {
    do {
      let queue = try OfflineSchema.open(file.path)
      let (state, sizes) = try queue.read { database in
        (
          OfflineState(
            writes: try WriteTable(database: database).all(),
            queries: try QueryTable(database: database).all()
          ),
          try PieceTable(database: database).sizes()
        )
      }
      let connection = Connection(lock: lock, queue: queue)
      let store = SQLiteOfflineStore(
        file,
        connection: connection,
        sizes: sizes,
        observers: observers
      )
      return (store, state)
    } catch let error as GRDB.DatabaseError where error.resultCode == .SQLITE_ERROR {
      // The statements are always the same, so the tables or their format must have changed.
      throw OfflineStoreError(.damaged, description: "\(file.path): \(error.message ?? "")")
    } catch {
      throw OfflineStoreError(error, at: file.path)
    }
  }

  private init(
    _ file: OfflineFile,
    connection: Connection,
    sizes: [Int64: PieceTable.Size],
    observers: OfflineStoreObservers
  ) {
    self.file = file
    self.connection = connection
    self.sizes = sizes
    self.observers = observers
  }

  // MARK: The port

  package func perform(_ changes: [OfflineChange]) {
    turns.async {
      guard self.connection != nil else { return }
      self.waiting += changes
      self.scheduleCommit()
    }
  }

  package func data(of query: Int64) -> Node? {
    turns.sync {
      commit()
      if let lastRead, lastRead.query == query { return lastRead.node }
      guard let queue = connection?.queue else { return nil }
      do {
        let node = try queue.read { try PieceTable(database: $0).data(of: query) }
        lastRead = node.map { (query, $0) }
        return node
      } catch {
        fail(error)
        return nil
      }
    }
  }

  package func flush(_ block: @escaping @Sendable (OfflineStoreError?) -> Void) {
    turns.async {
      self.waiters.append(block)
      self.scheduleCommit()
    }
  }

  package func close() {
    turns.sync {
      commit()
      try? connection?.queue.close()
      connection = nil
    }
  }

  /// Limits the number of pages in the file, to simulate a full disk.
  func limitPages(_ count: Int) {
    turns.sync {
      try? connection?.queue.writeWithoutTransaction {
        try $0.execute(sql: "PRAGMA max_page_count = \(count)")
      }
    }
  }

  // MARK: On the queue

  /// Schedules one commit for all changes that wait by the time it runs.
  private func scheduleCommit() {
    guard !isCommitScheduled else { return }
    isCommitScheduled = true
    turns.async { self.commit() }
  }

  private func commit() {
    isCommitScheduled = false
    defer {
      let answered = waiters
      waiters = []
      for waiter in answered { waiter(failure) }
    }
    guard let queue = connection?.queue, !waiting.isEmpty else { return }
    do {
      let changes = waiting
      try queue.writeWithoutTransaction { database in
        try setDurability(of: changes, in: database)
        try database.inTransaction {
          for change in changes where !keepsOnlyWrites || change.isOfWrite {
            try carryOut(change, in: database)
          }
          return .commit
        }
      }
      waiting = []
      failure = nil
      try maintain(queue)
    } catch {
      fail(error)
    }
  }

  /// Cleans up after a transaction; work that the disk refuses is left for the next time.
  private func maintain(_ queue: DatabaseQueue) throws {
    do {
      try queue.writeWithoutTransaction { database in
        try measure(database)
        // SQLite's automatic checkpoint would not report a failure.
        if file.logBytes > Self.logBytes { _ = try database.checkpoint(.truncate) }
      }
    } catch  where Self.isRefusal(error) {
      return
    }
  }

  /// Waits for the disk only if the changes include a user's writes.
  private func setDurability(of changes: [OfflineChange], in database: GRDB.Database) throws {
    let hasWrites = changes.contains { if case .saveWrite = $0 { true } else { false } }
    try database.execute(sql: "PRAGMA synchronous = \(hasWrites ? "FULL" : "NORMAL")")
  }

  private func carryOut(_ change: OfflineChange, in database: GRDB.Database) throws {
    switch change {
    case .saveWrite(let write): try WriteTable(database: database).save(write)
    case .removeWrite(let number): try WriteTable(database: database).remove(number)
    case .track(let query): try QueryTable(database: database).save(query)
    case .replace(let query, let node): try replace(query, with: node, in: database)
    case .update(let query, let change): try update(query, by: change, in: database)
    case .amend(let query, let change):
      guard let key = change.path.first,
        try PieceTable(database: database).data(of: query)?.hasChild(key) == true
      else { return }
      try update(query, by: change, in: database)
    case .forget(let query):
      try QueryTable(database: database).remove(query)
      try PieceTable(database: database).remove(query)
      sizes[query] = nil
      forgetRead(query)
    }
  }

  private func replace(_ query: Int64, with node: Node, in database: GRDB.Database) throws {
    let whole = try PieceTable(database: database).replace(query, with: node)
    sizes[query] = PieceTable.Size(whole: whole)
    forgetRead(query)
  }

  private func update(_ query: Int64, by change: Change, in database: GRDB.Database) throws {
    let table = PieceTable(database: database)
    sizes[query, default: PieceTable.Size()].changes += try table.append(change, to: query)
    forgetRead(query)
    guard let size = sizes[query], size.changes > max(size.whole, Self.foldBytes),
      let whole = try table.data(of: query)
    else { return }
    try replace(query, with: whole, in: database)
  }

  private func forgetRead(_ query: Int64) {
    if lastRead?.query == query { lastRead = nil }
  }

  /// Returns free pages to the disk, and reports the size if it changed.
  private func measure(_ database: GRDB.Database) throws {
    try database.execute(sql: "PRAGMA incremental_vacuum")
    let pages = try Int64.fetchOne(database, sql: "PRAGMA page_count") ?? 0
    let bytes = try Int64.fetchOne(database, sql: "PRAGMA page_size") ?? 0
    guard pages * bytes != size else { return }
    size = pages * bytes
    observers.onSize(size)
  }

  // MARK: Failures

  private func fail(_ error: any Error) {
    let problem = OfflineStoreError(error, at: file.path)
    lastRead = nil
    guard Self.isRefusal(error), waiting.count <= Self.changeLimit else {
      return problem.kind == .damaged ? replaceFile(because: problem) : stop(problem)
    }
    // There may be space again by the time of the next change, which retries the waiting ones.
    if failure == nil { observers.onProblem(problem) }
    failure = problem
  }

  /// Whether an error means that nothing was changed and that a retry may help.
  private static func isRefusal(_ error: any Error) -> Bool {
    switch (error as? GRDB.DatabaseError)?.resultCode {
    case ResultCode.SQLITE_FULL?, ResultCode.SQLITE_BUSY?: true
    case nil, _?: false
    }
  }

  /// Sets a damaged file aside, and goes on with a new one that has its writes.
  private func replaceFile(because damage: OfflineStoreError) {
    guard let lock = connection?.lock, !keepsOnlyWrites else { return stop(damage) }
    try? connection?.queue.close()
    connection = nil
    let writes = OfflineSchema.readableWrites(of: file.path)
    do {
      observers.onProblem(try file.setAside(because: damage))
      try file.create()
      connection = Connection(lock: lock, queue: try OfflineSchema.open(file.path))
    } catch {
      return stop(OfflineStoreError(error, at: file.path))
    }
    keepsOnlyWrites = true
    waiting = writes.map { .saveWrite($0) } + waiting
    commit()
  }

  /// Reports an error and does not touch the file again.
  private func stop(_ problem: OfflineStoreError) {
    failure = problem
    waiting = []
    try? connection?.queue.close()
    connection = nil
    observers.onProblem(problem)
  }
}

extension OfflineChange {
  /// Whether it concerns a write, and not data.
  fileprivate var isOfWrite: Bool {
    switch self {
    case .saveWrite, .removeWrite: true
    case .track, .replace, .update, .amend, .forget: false
    }
  }
}
#endif
