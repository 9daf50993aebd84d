import Dispatch
import Foundation
import GRDB
package import RealtimeCore
package import RealtimeSync

/// A store in one SQLite file, which one database of one process has at a time.
///
/// Changes are written on a queue of its own, all that wait in one transaction. With pending writes
/// among them the transaction waits for the disk; otherwise it only outlives the process, not a loss
/// of power. Data of a query are a whole and the changes since, which become the whole when they are
/// larger than it.
///
/// State: open, until ``close()``, damage, or more failures than it can wait for; then it keeps
/// nothing and has nothing.
package final class SQLiteOfflineStore: OfflineStore, @unchecked Sendable {
  // Safety: every mutable property is used only on `turns`; the others are Sendable.

  private struct Connection {
    let lock: OfflineFileLock
    let queue: DatabaseQueue
  }

  /// The changes that wait at most for a disk that refuses them.
  private static let changeLimit = 100_000
  /// The size of changes below which they are not made the whole, in bytes.
  private static let foldBytes = 16_384
  /// The size of the write-ahead log from which on it is copied into the file, in bytes.
  private static let logBytes = 1_048_576

  private let file: OfflineFile
  private let observers: OfflineStoreObservers
  private let turns = DispatchQueue(label: "SQLiteOfflineStore")
  private var connection: Connection?
  private var waiting: [OfflineChange] = []
  private var isCommitScheduled = false
  private var waiters: [@Sendable (OfflineStoreError?) -> Void] = []
  private var sizes: [Int64: PieceTable.Size] = [:]
  /// The data that were read last.
  private var lastRead: (query: Int64, node: Node)?
  private var size: Int64 = -1
  private var failure: OfflineStoreError?
  /// Whether the disk may have failed to keep what is in the write-ahead log, as it may have before the
  /// file was opened: it says so only once, so nothing that is waited for may lie behind it.
  private var isLogInDoubt = true

  /// Opens the store of a database, and makes it where there is none.
  ///
  /// A damaged file is set aside and reported, and the store is empty.
  ///
  /// - Parameters:
  ///   - file: The file.
  ///   - observers: Take what it has to tell.
  /// - Returns: The store, and what it kept.
  /// - Throws: ``OfflineStoreError``: `inUse`, or `unavailable`.
  package static func open(
    _ file: OfflineFile,
    observers: OfflineStoreObservers
  ) throws(OfflineStoreError) -> (store: SQLiteOfflineStore, state: OfflineState) {
    try file.create()
    let lock = try OfflineFileLock(file)
    do throws(OfflineStoreError) {
      return try open(file, lock, observers)
    } catch {
      guard error.kind == .damaged else { throw error }
      let target = try file.setAside()
      let report = OfflineStoreError(.damaged, "\(error); it has been renamed to \(target)")
      try file.create()
      let opened = try open(file, lock, observers)
      observers.onProblem(report)
      return opened
    }
  }

  private static func open(
    _ file: OfflineFile,
    _ lock: OfflineFileLock,
    _ observers: OfflineStoreObservers
  ) throws(OfflineStoreError) -> (store: SQLiteOfflineStore, state: OfflineState) {
    do {
      let queue = try OfflineSchema.open(file.path)
      let (state, sizes) = try queue.read { database in
        (
          OfflineState(
            writes: try WriteTable(database).all(),
            queries: try QueryTable(database).all()
          ),
          try PieceTable(database).sizes()
        )
      }
      let connection = Connection(lock: lock, queue: queue)
      return (SQLiteOfflineStore(file, connection, sizes, observers), state)
    } catch {
      throw OfflineStoreError(error, at: file.path)
    }
  }

  private init(
    _ file: OfflineFile,
    _ connection: Connection,
    _ sizes: [Int64: PieceTable.Size],
    _ observers: OfflineStoreObservers
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
        let node = try queue.read { try PieceTable($0).data(of: query) }
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

  /// Lets the file grow to so many pages at most, as a disk does.
  func limitPages(_ count: Int) {
    turns.sync {
      try? connection?.queue.writeWithoutTransaction {
        try $0.execute(sql: "PRAGMA max_page_count = \(count)")
      }
    }
  }

  // MARK: On the queue

  /// Has the changes written after those calls that are waiting already, all together.
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
        if isLogInDoubt { try copyLog(database) }
        try setDurability(of: changes, database)
        try database.inTransaction {
          for change in changes { try carryOut(change, database) }
          return .commit
        }
        try measure(database)
      }
      waiting = []
      failure = nil
    } catch {
      // A disk that is full says so before it takes anything.
      if (error as? GRDB.DatabaseError)?.resultCode != .SQLITE_FULL { isLogInDoubt = true }
      return fail(error)
    }
    guard file.logBytes > Self.logBytes else { return }
    do {
      try queue.writeWithoutTransaction { try copyLog($0) }
    } catch {
      isLogInDoubt = true
    }
  }

  /// Copies the write-ahead log into the file, and begins it anew.
  private func copyLog(_ database: GRDB.Database) throws {
    _ = try database.checkpoint(.truncate)
    isLogInDoubt = false
  }

  /// Only what a person wrote is worth waiting for the disk.
  private func setDurability(of changes: [OfflineChange], _ database: GRDB.Database) throws {
    let hasWrites = changes.contains { if case .saveWrite = $0 { true } else { false } }
    try database.execute(sql: "PRAGMA synchronous = \(hasWrites ? "FULL" : "NORMAL")")
  }

  private func carryOut(_ change: OfflineChange, _ database: GRDB.Database) throws {
    switch change {
    case .saveWrite(let write): try WriteTable(database).save(write)
    case .removeWrite(let number): try WriteTable(database).remove(number)
    case .track(let query): try QueryTable(database).save(query)
    case .replace(let query, let node): try replace(query, with: node, database)
    case .update(let query, let change): try update(query, change, database)
    case .amend(let query, let change):
      guard let key = change.path.first,
        try PieceTable(database).data(of: query)?.hasChild(key) == true
      else { return }
      try update(query, change, database)
    case .forget(let query):
      try QueryTable(database).remove(query)
      try PieceTable(database).remove(query)
      sizes[query] = nil
      forgetRead(query)
    }
  }

  private func replace(_ query: Int64, with node: Node, _ database: GRDB.Database) throws {
    sizes[query] = PieceTable.Size(whole: try PieceTable(database).replace(query, with: node))
    forgetRead(query)
  }

  private func update(_ query: Int64, _ change: Change, _ database: GRDB.Database) throws {
    let table = PieceTable(database)
    sizes[query, default: PieceTable.Size()].changes += try table.append(query, change)
    forgetRead(query)
    guard let size = sizes[query], size.changes > max(size.whole, Self.foldBytes) else { return }
    try replace(query, with: try table.data(of: query) ?? .empty, database)
  }

  private func forgetRead(_ query: Int64) {
    if lastRead?.query == query { lastRead = nil }
  }

  /// Gives free pages back, and tells the size when it is another one.
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
    if problem.kind == .damaged { return giveUp(setAside(problem)) }
    if waiting.count > Self.changeLimit { return giveUp(problem) }
    // What waits is tried again with the next change: there may be space again by then.
    if failure == nil { observers.onProblem(problem) }
    failure = problem
  }

  private func setAside(_ problem: OfflineStoreError) -> OfflineStoreError {
    do throws(OfflineStoreError) {
      let target = try file.setAside()
      return OfflineStoreError(.damaged, "\(problem); it has been renamed to \(target)")
    } catch {
      return OfflineStoreError(.damaged, "\(problem); \(error)")
    }
  }

  private func giveUp(_ problem: OfflineStoreError) {
    failure = problem
    waiting = []
    try? connection?.queue.close()
    connection = nil
    observers.onProblem(problem)
  }
}
