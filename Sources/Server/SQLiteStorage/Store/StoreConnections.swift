import GRDB
import RealtimeHub

/// What is open of a store while it is.
struct StoreConnections {
  let lock: DirectoryLock
  /// Commits here, durably.
  let writer: DurableWriter
  /// Folds, without waiting for the disk: what is lost can be folded again.
  let folder: LogFolder
  /// The connection of the folder, and for checkpoints.
  let maintainer: DatabaseQueue

  /// Opens the file of a store, which may be new.
  init(to file: String, _ lock: DirectoryLock, _ options: StoreOptions) throws {
    self.lock = lock
    writer = try DurableWriter(path: file) { try Self.openWriter(of: file, options) }
    try StoreSchema.migrator.migrate(writer.queue)
    (maintainer, folder) = try Self.openMaintainer(of: file, options)
  }

  private init(
    lock: DirectoryLock,
    writer: DurableWriter,
    maintainer: DatabaseQueue,
    folder: LogFolder
  ) {
    self.lock = lock
    self.writer = writer
    self.maintainer = maintainer
    self.folder = folder
  }

  /// The same with another connection for folding; the present one stays open.
  ///
  /// The new folder begins with what the file says: all that was handed to the old one is in the log.
  func reopeningMaintainer(of file: String, _ options: StoreOptions) throws -> StoreConnections {
    let (maintainer, folder) = try Self.openMaintainer(of: file, options)
    return StoreConnections(lock: lock, writer: writer, maintainer: maintainer, folder: folder)
  }

  private static func openMaintainer(
    of file: String,
    _ options: StoreOptions
  ) throws -> (DatabaseQueue, LogFolder) {
    let maintainer = try StoreSchema.openWriter(path: file, synchronous: "NORMAL", expecting: 1)
    try limitPages(of: maintainer, options)
    let folder = try LogFolder(
      maintainer,
      path: file,
      changesPerTurn: options.foldChangesPerTurn,
      mark: options.logMark
    )
    return (maintainer, folder)
  }

  private static func openWriter(
    of file: String,
    _ options: StoreOptions
  ) throws -> DatabaseQueue {
    try StoreSchema.identify(at: file)
    let writer = try StoreSchema.openWriter(path: file, synchronous: "FULL", expecting: 2)
    try limitPages(of: writer, options)
    return writer
  }

  private static func limitPages(of queue: DatabaseQueue, _ options: StoreOptions) throws {
    guard let limit = options.pageLimit else { return }
    try queue.writeWithoutTransaction {
      try $0.execute(sql: "PRAGMA max_page_count = \(limit)")
    }
  }
}
