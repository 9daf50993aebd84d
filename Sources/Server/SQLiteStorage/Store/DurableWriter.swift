import GRDB
import RealtimeHub

/// A connection whose transactions are on the disk once they are done, and not in the file once they have
/// failed.
///
/// A device that fails in the middle may have taken what it says it has not: whoever opens the file next
/// would find it. So something is written over it before anyone is told; only where that fails as well,
/// the error says that the transaction is in doubt.
///
/// State: open → failed (what the disk has of a transaction is not settled; the next one does that first,
/// and is refused when it does not work) → open. The owner sees to it that one thread at a time uses it.
final class DurableWriter {
  /// What a file that is opened anew is checked for.
  typealias Check = (Database) throws -> Void

  /// The connection.
  private(set) var queue: DatabaseQueue
  /// What went wrong, when what the disk has of it is yet to be settled.
  private var failure: StoreError?
  /// Whether the disk may have the whole of a transaction that failed.
  private var isInDoubt = false
  private let path: String
  private let open: () throws -> DatabaseQueue

  /// Opens a file, and copies into it what an earlier process has left in the write-ahead log.
  ///
  /// What that process wrote the disk may have failed to keep, which it says only once; what is committed
  /// from now on must not lie behind it. Where it does not work, since somebody reads the file for example,
  /// the file can be read, and the next transaction does it first.
  ///
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - open: Opens it, now and after each failure, while the connection before is still open.
  /// - Throws: What it throws.
  init(path: String, _ open: @escaping () throws -> DatabaseQueue) throws {
    self.path = path
    self.open = open
    queue = try open()
    do {
      try restartLog(queue)
    } catch {
      failure = StoreError(error, at: path)
    }
  }

  /// Makes changes in one transaction, and returns when the disk has it.
  ///
  /// - Throws: ``StoreError``; then nothing of it is stored, unless the error says that this is in doubt.
  func write(
    expecting check: Check = { _ in },
    _ body: (Database) throws -> Void
  ) throws(StoreError) {
    try settleEarlier(expecting: check)
    do {
      try queue.write(body)
    } catch {
      throw settled(StoreError(error, at: path), expecting: check)
    }
  }

  /// Settles what became of an earlier transaction, if that is yet to be done.
  ///
  /// - Throws: ``StoreError`` when it does not work.
  func settleEarlier(expecting check: Check = { _ in }) throws(StoreError) {
    guard let failure else { return }
    do {
      try settle(failure, check)
    } catch {
      throw StoreError(error.kind, error.description, doubt: isInDoubt ? .earlierBatch : nil)
    }
  }

  /// Notes what went wrong with another connection, so that no transaction builds on what is in the
  /// write-ahead log and perhaps not on the disk.
  func note(_ error: StoreError) { failure = failure ?? error }

  // MARK: Settling

  /// Settles what became of a transaction that could not be stored, and says whether that worked.
  func settled(_ error: StoreError, expecting check: Check) -> StoreError {
    if error.kind == .full {
      settleFull()
      return error
    }
    failure = error
    // Only a device that fails can have taken what it says it has not.
    isInDoubt = error.kind == .failed
    do {
      try settle(error, check)
      return error
    } catch {
      return StoreError(error.kind, error.description, doubt: isInDoubt ? .thisBatch : nil)
    }
  }

  /// Writes over what is left of a transaction for which there was no space, if there is space for that.
  ///
  /// Its end is missing, without which it is none; but what was there before may look like that end.
  private func settleFull() {
    do {
      try Self.writeOver(queue)
    } catch {
      let storeError = StoreError(error, at: path)
      if storeError.kind != .full { failure = storeError }
    }
  }

  /// Commits something where the next transaction would begin, which changes nothing.
  private static func writeOver(_ queue: DatabaseQueue) throws {
    try queue.write { database in
      let version = try Int32.fetchOne(database, sql: "PRAGMA user_version") ?? 0
      try database.execute(sql: "PRAGMA user_version = \(version)")
    }
  }

  /// Opens the file anew after a failure, and writes over what was left of the last transaction; the file
  /// of a damaged store stays closed.
  ///
  /// The last connection stays open meanwhile, and with it the index of the write-ahead log, in which the
  /// failed transaction never was: whatever of it has reached the disk, the next one is written over it.
  /// All that was acknowledged lies before it, and was on the disk already.
  ///
  /// What other connections have written since, as folding does, is not: a disk that has failed to keep it
  /// may say the next time that it has. So all is copied into the file first, and the write-ahead log begins
  /// anew.
  private func settle(_ failure: StoreError, _ check: Check) throws(StoreError) {
    if failure.kind == .damaged { throw failure }
    do {
      let new = try open()
      try new.read(check)
      try restartLog(new)
      try Self.writeOver(new)
      let old = queue
      queue = new
      self.failure = nil
      isInDoubt = false
      try? old.close()
    } catch {
      let storeError = StoreError(error, at: path)
      self.failure = storeError
      throw storeError
    }
  }

  /// Copies the write-ahead log into the file, so that the next transaction begins it anew.
  private func restartLog(_ queue: DatabaseQueue) throws {
    do {
      try queue.writeWithoutTransaction { _ = try $0.checkpoint(.restart) }
    } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
      throw StoreError(
        .failed,
        "\(path): what is in the log may not be on the disk, and cannot be copied into the file while"
          + " somebody reads that, a backup for example; writes are taken when that has ended"
      )
    }
  }
}
