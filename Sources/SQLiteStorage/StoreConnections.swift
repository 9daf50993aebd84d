import GRDB
import RealtimeHub

/// What is open of a store while it is.
struct StoreConnections {
  let lock: DirectoryLock
  /// Commits here, durably.
  let writer: DatabaseQueue
  /// Folds, without waiting for the disk: what is lost can be folded again.
  let folder: LogFolder
  /// The connection of the folder, and for checkpoints.
  let maintainer: DatabaseQueue

  /// Opens the file of a store, which may be new.
  init(to file: String, _ lock: DirectoryLock, _ options: StoreOptions) throws {
    self.lock = lock
    writer = try Self.openWriter(of: file, options)
    try StoreSchema.migrator.migrate(writer)
    maintainer = try StoreSchema.openWriter(path: file, synchronous: "NORMAL", expecting: 1)
    try Self.limitPages(of: maintainer, options)
    folder = try LogFolder(maintainer, path: file, changesPerTurn: options.foldChangesPerTurn)
  }

  private init(_ other: StoreConnections, writer: DatabaseQueue) {
    lock = other.lock
    self.writer = writer
    folder = other.folder
    maintainer = other.maintainer
  }

  /// The same with another connection for commits; the present one stays open.
  func reopeningWriter(of file: String, _ options: StoreOptions) throws -> StoreConnections {
    StoreConnections(self, writer: try Self.openWriter(of: file, options))
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
