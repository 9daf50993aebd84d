import Dispatch
import GRDB
package import RealtimeHub
import RealtimeProtocol
import RealtimeTree

/// A store in one SQLite file: a log of commits, and a table of nodes that the log is folded into.
///
/// A commit appends one row and waits until the disk has it. In the background the log is folded
/// into the node table, in short transactions between commits; then the write-ahead log is copied
/// into the file.
///
/// State: open, then closed for good. After a failed write of the disk the store takes no more
/// commits, since no one knows what the disk holds; opening it again finds out.
package final class SQLiteTreeStore: TreeStore, @unchecked Sendable {
  // Safety: every mutable property is used only within `turns`; the others are Sendable.

  private let directory: StoreDirectory
  private let options: StoreOptions
  /// Lets one transaction at a time write, commits and folding in the order they come.
  private let turns = DispatchQueue(label: "SQLiteTreeStore.turns")
  /// Where the log is folded.
  private let maintenance = DispatchQueue(label: "SQLiteTreeStore.maintenance", qos: .utility)
  private var connections: Connections?
  private var lastRevision: Int64
  private var log: (batches: Int, bytes: Int)
  /// The size of the log beyond which it is folded.
  private var foldAt: (batches: Int, bytes: Int)
  private var isMaintenanceScheduled = false
  private var failure: StoreError?

  /// What is open while the store is.
  private struct Connections {
    let lock: DirectoryLock
    /// Commits here, durably.
    let writer: DatabaseQueue
    /// Folds here, without waiting for the disk: what is lost can be folded again.
    let folder: DatabaseQueue
  }

  /// Opens the store of a directory, and creates both when they are missing.
  ///
  /// - Parameters:
  ///   - path: The path of the directory; one server at a time may have it.
  ///   - now: The time in milliseconds since 1970, by which old ledger entries are dropped.
  ///   - options: When the store tidies up.
  /// - Throws: ``StoreError``: locked, notWritable, full, or damaged for a file of another kind.
  package init(
    directory path: String,
    now: Int64,
    options: StoreOptions = StoreOptions()
  ) throws(StoreError) {
    let directory = StoreDirectory(path: path)
    try directory.create()
    let lock = try DirectoryLock(directory: path, patience: options.lockPatience)
    let file = directory.database
    try directory.createFile()
    let opened = try StoreError.translating(at: file) {
      try StoreSchema.identify(at: file)
      let writer = try StoreSchema.openWriter(path: file, synchronous: "FULL", expecting: 2)
      try StoreSchema.migrator.migrate(writer)
      let folder = try StoreSchema.openWriter(path: file, synchronous: "NORMAL", expecting: 1)
      let (revision, size) = try writer.write { database in
        let log = LogTable(database, path: file)
        try LedgerTable(database, path: file).removeEntries(before: now - options.ledgerAge)
        return (try log.lastRevision(), try log.size())
      }
      if let limit = options.pageLimit {
        for queue in [writer, folder] {
          try queue.writeWithoutTransaction {
            try $0.execute(sql: "PRAGMA max_page_count = \(limit)")
          }
        }
      }
      let connections = Connections(lock: lock, writer: writer, folder: folder)
      return (connections: connections, revision: revision, size: size)
    }
    self.directory = directory
    self.options = options
    connections = opened.connections
    lastRevision = opened.revision
    log = opened.size
    foldAt = (options.foldBatches, options.foldBytes)
    if log.batches > 0 { turns.sync { scheduleMaintenance() } }
  }

  // MARK: Reading

  /// Reads the node table and replays the log.
  ///
  /// - Throws: ``StoreError`` when the file is damaged or cannot be read.
  /// - Complexity: O(size)
  package func load() throws(StoreError) -> StoredTree {
    let file = directory.database
    return try StoreError.translating(at: file) {
      let connections = try turns.sync(execute: opened)
      let tree = try connections.writer.read { database in
        options.report(.loading(rows: try NodeTable(database, path: file).rowCount()))
        return try Self.load(database, path: file)
      }
      options.report(.loaded(revision: tree.revision))
      return tree
    }
  }

  /// Reads a store without taking its lock, also while a server uses it.
  ///
  /// - Parameter path: The directory of the store.
  /// - Returns: What had been committed at one moment.
  /// - Throws: ``StoreError`` when there is no store, or it is damaged.
  /// - Complexity: O(size)
  package static func readOnlyLoad(directory path: String) throws(StoreError) -> StoredTree {
    let file = try StoreFile(at: path)
    return try StoreError.translating(at: file.path) {
      try file.read { try load($0, path: file.path) } ?? StoredTree()
    }
  }

  private static func load(_ database: Database, path: String) throws -> StoredTree {
    let log = LogTable(database, path: path)
    var root = try NodeTable(database, path: path).load()
    try log.forEachBatch { commits, _ in
      for change in commits.lazy.flatMap(\.changes) {
        root.update(at: change.path, to: change.node)
      }
      return true
    }
    let ledger = try LedgerTable(database, path: path).load()
    return StoredTree(
      root: root,
      revision: try log.lastRevision(),
      ledger: ledger,
      sessions: try SessionTable(database, path: path).load(),
      rules: try RulesTable(database, path: path).load()
    )
  }

  // MARK: Committing

  /// Appends a batch to the log and waits until the disk has it.
  ///
  /// It is a programmer error to leave out a revision.
  ///
  /// - Parameter batch: The commits that follow the last, and the ledger entries that they bring.
  /// - Throws: ``StoreError``; then nothing of the batch is stored.
  package func commit(_ batch: CommitBatch) throws(StoreError) {
    if batch == CommitBatch(commits: []) { return }
    let payload = try LogTable.encode(batch.commits)
    try StoreError.translating(at: directory.database) {
      try turns.sync { try append(batch, payload) }
    }
  }

  private func append(_ batch: CommitBatch, _ payload: [UInt8]) throws {
    if let failure { throw failure }
    let connections = try opened()
    for (offset, commit) in batch.commits.enumerated() {
      let expected = lastRevision + 1 + Int64(offset)
      guard commit.revision == expected else {
        throw StoreError(.failed, "commit \(commit.revision) does not follow \(expected - 1)")
      }
    }
    let file = directory.database
    do {
      try connections.writer.write { database in
        if let last = batch.commits.last {
          try LogTable(database, path: file).append(payload, revision: last.revision)
        }
        let ledger = LedgerTable(database, path: file)
        for entry in batch.ledger { try ledger.save(entry) }
        let sessions = SessionTable(database, path: file)
        for session in batch.sessions { try sessions.save(session) }
        if let rules = batch.rules { try RulesTable(database, path: file).save(rules) }
      }
    } catch {
      let storeError = StoreError(error, at: file)
      if (error as? DatabaseError)?.resultCode == .SQLITE_IOERR { failure = storeError }
      throw storeError
    }
    guard let last = batch.commits.last else { return }
    lastRevision = last.revision
    log.batches += 1
    log.bytes += payload.count
    if log.batches > foldAt.batches || log.bytes > foldAt.bytes { scheduleMaintenance() }
  }

  /// Changes the node table itself as the next commit, once everything in the log is folded.
  ///
  /// All of it is one transaction: what throws, or ends the process, leaves the store as it was.
  ///
  /// - Returns: The revision of the commit.
  /// - Throws: What the body throws, and the failures of the database as ``StoreError``.
  func commitDirectly(_ body: (NodeTable) throws -> Void) throws -> Int64 {
    let file = directory.database
    return try turns.sync {
      if let failure { throw failure }
      let revision = lastRevision + 1
      do {
        try opened().writer.write { database in
          let table = LogTable(database, path: file)
          while try table.fold(changeLimit: .max, byteLimit: .max).revision < lastRevision {}
          try body(NodeTable(database, path: file))
          try table.setFoldedRevision(revision)
        }
      } catch let error as DatabaseError {
        throw StoreError(error, at: file)
      }
      lastRevision = revision
      log = (0, 0)
      return revision
    }
  }

  private func opened() throws -> Connections {
    guard let connections else { throw StoreError(.failed, "\(directory.path) has been closed") }
    return connections
  }

  // MARK: Folding

  private func scheduleMaintenance() {
    guard !isMaintenanceScheduled else { return }
    isMaintenanceScheduled = true
    maintenance.async { [self] in
      var isFolded = true
      do throws(StoreError) {
        try fold()
      } catch {
        isFolded = false
        options.report(.foldFailed(error))
      }
      turns.sync {
        isMaintenanceScheduled = false
        // A failure costs nothing but space: it is tried again later, and reported at the close.
        let rest = isFolded ? (batches: 0, bytes: 0) : log
        foldAt = (rest.batches + options.foldBatches, rest.bytes + options.foldBytes)
      }
    }
  }

  /// Folds what is in the log now into the node table, and returns when that is done.
  ///
  /// - Throws: ``StoreError``; the log keeps what could not be folded.
  package func fold() throws(StoreError) {
    try StoreError.translating(at: directory.database) {
      let target = turns.sync { lastRevision }
      while try turns.sync(execute: foldTurn) < target {}
      try checkpoint()
    }
  }

  /// Folds a little, and returns the last commit that is in the node table now.
  private func foldTurn() throws -> Int64 {
    let connections = try opened()
    let file = directory.database
    let changes = options.foldChangesPerTurn
    let folded = try connections.folder.write { database in
      try LogTable(database, path: file).fold(changeLimit: changes, byteLimit: 512 * changes)
    }
    log = (log.batches - folded.batches, log.bytes - folded.bytes)
    return folded.revision
  }

  /// Copies the write-ahead log into the file: most of it beside the commits, the rest in a turn.
  ///
  /// The second pass leaves nothing to copy, so that the next commit starts the write-ahead log
  /// anew. No other connection checkpoints, and the first pass always finds what a fold has written.
  private func checkpoint() throws {
    let folder = try turns.sync { try opened().folder }
    try folder.writeWithoutTransaction { _ = try $0.checkpoint(.passive) }
    try turns.sync {
      try opened().folder.writeWithoutTransaction { _ = try $0.checkpoint(.passive) }
    }
  }

  // MARK: Closing

  /// Folds what is left and gives the files up; a second call does nothing.
  ///
  /// - Throws: ``StoreError`` when the log could not be folded; what was committed is safe even so.
  package func close() throws(StoreError) {
    guard turns.sync(execute: { connections != nil }) else { return }
    let file = directory.database
    var folding: StoreError?
    do throws(StoreError) { try fold() } catch { folding = error }
    let last = turns.sync { () -> Connections? in
      defer { connections = nil }
      return connections
    }
    maintenance.sync {}
    try StoreError.translating(at: file) {
      try last?.folder.close()
      try last?.writer.close()
    }
    if let folding { throw folding }
  }
}
