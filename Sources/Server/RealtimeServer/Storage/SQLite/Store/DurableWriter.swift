import GRDB
import GRDBSQLite
import Glibc

/// A connection whose transactions are on the disk once they have returned.
///
/// When the disk is full, a transaction is refused: its end is missing in the log, so none of it
/// counts, and the next one may succeed. After any other failure of a write or a sync the outcome
/// is unknown, and the next sync may succeed without writing what was lost. So the first such
/// failure finishes the writer, and the next process that opens the file recovers what is on the
/// disk. So does a file that is no longer at its path, where nobody would look for what is written.
///
/// State: inherited (the log of an earlier process has not been copied into the file yet) → ready →
/// finished. The owner ensures that only one thread at a time uses it.
final class DurableWriter {
  private enum State {
    case inherited
    case ready
    case finished(StoreError)
  }

  let queue: DatabaseQueue
  private let path: String
  private var state = State.inherited
  /// Whether the log does not say which file it belongs to, as far as is known.
  private var needsBinding = true
  /// How many pages are written before the log is copied into the file; nil if the owner does that.
  private let checkpointPages: Int32?
  private var copiedPages: Int32 = 0

  /// Opens a file, and copies into it what an earlier process left in the write-ahead log.
  ///
  /// While the disk is full or another process reads the file, this connection can only read it;
  /// the first transaction tries to copy the log again.
  ///
  /// - Throws: Any error of `open`, and ``StoreError`` when the log cannot be copied for another
  ///   reason.
  init(
    path: String,
    checkpointPages: Int32? = nil,
    _ open: () throws -> DatabaseQueue
  ) throws {
    self.path = path
    self.checkpointPages = checkpointPages
    queue = try open()
    do throws(StoreError) {
      try requireReady()
    } catch {
      guard case .finished = state else { return }
      try? close()
      throw error
    }
  }

  /// Makes changes in one transaction, and returns once it is on the disk.
  ///
  /// The patience is how many milliseconds another program may keep the file locked.
  ///
  /// - Throws: Any error of the body, with nothing stored, and errors of the database and damage as
  ///   ``StoreError``. Unless an error of the database is a refusal, such as a full disk, the
  ///   writer is finished.
  func write(
    patience: Int32 = StoreSchema.patience,
    _ body: (Database) throws -> Void
  ) throws {
    try requireReady()
    do {
      if needsBinding {
        queue.inDatabase { $0.setPatience(patience) }
        defer { queue.inDatabase { $0.setPatience(StoreSchema.patience) } }
        try bindLog()
      }
      try queue.writeWithoutTransaction { database in
        database.setPatience(patience)
        defer { database.setPatience(StoreSchema.patience) }
        try database.inTransaction {
          try body(database)
          try requirePlace(of: database)
          return .commit
        }
      }
      if checkpointPages != nil { copyLongLog() }
    } catch let error as DatabaseError {
      throw failure(of: queue, error)
    } catch let error as DamagedData {
      throw StoreError(error, at: path)
    }
  }

  /// Ensures that whoever opens the file next finds this one: it has not been moved, deleted or
  /// replaced.
  private func requirePlace(of database: Database) throws(StoreError) {
    var hasMoved: Int32 = 0
    sqlite3_file_control(database.sqliteConnection, "main", SQLITE_FCNTL_HAS_MOVED, &hasMoved)
    guard hasMoved != 0 else { return }
    // SQLite also says so if it cannot look, as while a directory above may not be searched.
    var status = stat()
    if stat(path, &status) != 0, ![ENOENT, ENOTDIR, ELOOP].contains(errno) { return }
    throw finish(
      StoreError(
        .failed,
        description: "\(path): the file was moved, deleted or replaced while it was in use"
      )
    )
  }

  /// Copies the log into the file once it has become long; a failure leaves that to the next one.
  private func copyLongLog() {
    try? queue.writeWithoutTransaction { database in
      var (pages, peak): (Int32, Int32) = (0, 0)
      let connection = database.sqliteConnection
      sqlite3_db_status(connection, SQLITE_DBSTATUS_CACHE_WRITE, &pages, &peak, 0)
      guard let checkpointPages, pages - copiedPages >= checkpointPages else { return }
      needsBinding = true
      _ = try database.checkpoint(.passive)
      copiedPages = pages
    }
  }

  /// Records that the log has been copied into the file, so that another one may begin.
  func logWasCopied() { needsBinding = true }

  /// Records, before anything else in a log, which file it belongs to; see ``LogIdentity``.
  private func bindLog() throws {
    var previous: LogIdentity?
    var isStore = false
    try queue.read { database in
      isStore = try Int32.fetchOne(database, sql: "PRAGMA application_id") != 0
      previous = try LogIdentity(database)
    }
    guard isStore else { return }
    if previous == nil {
      // The file itself gets a name, which the next log names.
      let first = LogIdentity(after: nil)
      try queue.write { try first.save($0) }
      try queue.writeWithoutTransaction { _ = try $0.checkpoint(.passive) }
      previous = first
    }
    try queue.write { try LogIdentity(after: previous).save($0) }
    needsBinding = false
  }

  /// Judges an error of this connection or of another one to the file, before the next transaction.
  ///
  /// Unless the error is a refusal, the writer is finished.
  func failure(of connection: DatabaseQueue, _ error: DatabaseError) -> StoreError {
    let error = Self.explained(error, of: connection)
    let failure = StoreError(error, at: path)
    return error.isRefusal ? failure : finish(failure)
  }

  /// Ensures that a transaction may be written: the writer is not finished, and can start.
  func requireReady() throws(StoreError) {
    switch state {
    case .ready: return
    case .finished(let failure): throw failure
    case .inherited: try restartLog()
    }
  }

  /// Ensures that the writer is not finished, or throws the error that finished it.
  func requireUnfinished() throws(StoreError) {
    if case .finished(let failure) = state { throw failure }
  }

  /// Stops all writing after a failure, and returns the first one.
  private func finish(_ failure: StoreError) -> StoreError {
    if case .finished(let first) = state { return first }
    state = .finished(failure)
    return failure
  }

  /// Makes the log of an earlier process durable and copies it into the file, so that the next
  /// transaction restarts it.
  private func restartLog() throws(StoreError) {
    do {
      try queue.writeWithoutTransaction { database in
        try Self.rewriteLog(of: database)
        _ = try database.checkpoint(.restart)
      }
      state = .ready
    } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
      throw StoreError(
        .busy,
        description:
          "\(path): cannot copy the log of an earlier server into the file while another process,"
          + " such as a backup, reads it; writes are accepted once that ends"
      )
    } catch let error as DatabaseError {
      throw failure(of: queue, error)
    } catch {
      throw finish(StoreError(error, at: path))
    }
  }

  /// Writes the bytes of the log to the disk again, in place, and syncs them.
  ///
  /// The system shows a process everything that an earlier one has written, even what the disk
  /// failed to keep, and another sync may succeed without writing it. If only part of the log were
  /// on the disk, a recovery after a power failure would mix an older state into the file.
  private static func rewriteLog(of database: Database) throws {
    // The log is open once something has been read.
    _ = try Int.fetchOne(database, sql: "SELECT COUNT(*) FROM sqlite_master")
    guard let log = try log(of: database) else { return }
    var size: Int64 = 0
    try check(log.methods.xFileSize(log.file, &size))
    // SQLite reads and writes less than 128 KiB at a time.
    var buffer = [UInt8](repeating: 0, count: 64 * 1_024)
    for offset in stride(from: 0, to: size, by: buffer.count) {
      let count = Int32(min(size - offset, Int64(buffer.count)))
      try check(log.methods.xRead(log.file, &buffer, count, offset))
      try check(log.methods.xWrite(log.file, &buffer, count, offset))
    }
    if size > 0 { try check(log.methods.xSync(log.file, SQLITE_SYNC_NORMAL)) }
  }

  /// Recognizes a full disk that SQLite takes for a broken one: a quota is exceeded, or a file has
  /// reached its maximum size.
  ///
  /// - Returns: `SQLITE_FULL` for such a disk, otherwise the same error.
  private static func explained(
    _ error: DatabaseError,
    of connection: DatabaseQueue
  ) -> DatabaseError {
    guard error.extendedResultCode == .SQLITE_IOERR_WRITE,
      let reasons = try? connection.inDatabase(systemErrors), let reason = reasons.first,
      reasons.allSatisfy([ENOSPC, EDQUOT, EFBIG].contains)
    else { return error }
    return DatabaseError(resultCode: .SQLITE_FULL, message: String(cString: strerror(reason)))
  }

  /// Why the file and its log could not be written the last time, as far as that ever happened.
  private static func systemErrors(of database: Database) throws -> [Int32] {
    var (ofFile, ofLog): (Int32, Int32) = (0, 0)
    let connection = database.sqliteConnection
    try check(sqlite3_file_control(connection, "main", SQLITE_FCNTL_LAST_ERRNO, &ofFile))
    if let log = try log(of: database) {
      try check(log.methods.xFileControl(log.file, SQLITE_FCNTL_LAST_ERRNO, &ofLog))
    }
    return [ofFile, ofLog].filter { $0 != 0 }
  }

  /// The file of the write-ahead log, as SQLite has opened it.
  private typealias LogFile = (
    file: UnsafeMutablePointer<sqlite3_file>, methods: sqlite3_io_methods
  )

  /// The log of a connection that has read or written something.
  private static func log(of database: Database) throws -> LogFile? {
    var file: UnsafeMutablePointer<sqlite3_file>?
    let connection = database.sqliteConnection
    try check(sqlite3_file_control(connection, "main", SQLITE_FCNTL_JOURNAL_POINTER, &file))
    guard let file, let methods = file.pointee.pMethods?.pointee else { return nil }
    return (file, methods)
  }

  private static func check(_ code: Int32) throws {
    guard code != SQLITE_OK else { return }
    throw DatabaseError(
      resultCode: ResultCode(rawValue: code),
      message: sqlite3_errstr(code).map { String(cString: $0) }
    )
  }

  var isFinished: Bool { if case .finished = state { true } else { false } }

  // MARK: Closing

  /// Closes the connection after the other one; if there was a failure, without writing anything.
  func close(after other: DatabaseQueue? = nil) throws {
    guard case .finished = state else {
      try other?.close()
      return try queue.close()
    }
    // When the last connection closes, SQLite copies the log into the file, unless that connection
    // is read-only. But the disk may have lost part of the log, which the next process recovers.
    let reader = try? StoreSchema.openReader(path: path)
    _ = try? reader?.read { try Int.fetchOne($0, sql: "PRAGMA user_version") }
    try? other?.close()
    try? queue.close()
    try? reader?.close()
  }
}

extension DatabaseError {
  /// Whether SQLite reports the error before the end of a transaction is in the log, so that none
  /// of it counts.
  var isRefusal: Bool { [.SQLITE_FULL, .SQLITE_BUSY, .SQLITE_CONSTRAINT].contains(resultCode) }

  /// Whether the file differs from what was written, which is detected while reading it.
  var isDamage: Bool { resultCode == .SQLITE_CORRUPT || resultCode == .SQLITE_NOTADB }
}

/// The connections and the lock of an open store.
struct StoreConnections {
  let lock: DirectoryLock
  let writer: DurableWriter
  /// Folds without waiting for the disk: what is lost can be folded again.
  let folder: LogFolder
  /// The connection of the folder, also used for checkpoints.
  let maintainer: DatabaseQueue

  /// Opens the file of a store, which may be new.
  init(to file: String, lock: DirectoryLock, options: StoreOptions) throws {
    self.lock = lock
    writer = try DurableWriter(path: file) {
      try StoreSchema.identify(at: file)
      return try StoreSchema.openWriter(path: file, synchronous: "FULL", expecting: 2)
    }
    try StoreSchema.migrator.migrate(writer.queue)
    maintainer = try StoreSchema.openWriter(path: file, synchronous: "NORMAL", expecting: 1)
    folder = try LogFolder(
      maintainer,
      changesPerTurn: options.foldChangesPerTurn,
      pagesPerChange: options.foldPagesPerChange,
      mark: options.logMark
    )
  }
}

extension Database {
  fileprivate func setPatience(_ milliseconds: Int32) {
    sqlite3_busy_timeout(sqliteConnection, milliseconds)
  }
}
