import Dispatch
import DurableFiles
import GRDB
import RealtimeCore
package import RealtimeHub

/// A store in one SQLite file: a log of commits, and a table of nodes that the log is folded into.
///
/// A commit appends one row and waits until the disk has it. In the background the log is folded
/// into the node table, in short transactions between commits; then the write-ahead log is copied
/// into the file, beside the commits.
///
/// State: open → failed (see ``DurableWriter``) → open; then closed for good.
package final class SQLiteTreeStore: TreeStore, @unchecked Sendable {
  // Safety: every mutable property is used only within `turns`, except that of the folder, which is
  // changed within `maintenance` and `turns` at once, and used within `maintenance`; and except
  // `hasFoldFailed`, which is used only within `maintenance`. The others are Sendable.

  private let directory: StoreDirectory
  private let options: StoreOptions
  /// Lets one transaction at a time write, commits and folding in the order they come.
  private let turns = DispatchQueue(label: "SQLiteTreeStore.turns")
  /// Where the log is folded.
  private let maintenance = DispatchQueue(label: "SQLiteTreeStore.maintenance", qos: .utility)
  private var connections: StoreConnections?
  /// What has been acknowledged; moved within `turns`.
  private let mark: StoreMark
  private var lastRevision: Int64
  private var unfolded = Unfolded()
  /// What has been committed since the last fold began beyond which there is another one.
  private var foldAt: (batches: Int, bytes: Int)
  private var isFoldScheduled = false
  private var isHandOverScheduled = false
  /// Whether the connection of the folder is to be opened anew before it is used; of `maintenance`.
  private var hasFoldFailed = false

  /// What has been committed since the last fold began.
  private struct Unfolded {
    var batches = 0
    var bytes = 0
    /// The changes that the folder has not taken.
    var changes: [Change] = []

    mutating func take() -> [Change] {
      defer { changes = [] }
      return changes
    }
  }

  /// The changes that are kept for the folder before it takes them.
  private static let keptChanges = 4_096

  /// Opens the store of a directory, and creates both when they are missing.
  ///
  /// - Parameters:
  ///   - path: The path of the directory; one server at a time may have it.
  ///   - now: The time in milliseconds since 1970, by which old ledger entries are dropped.
  ///   - options: When the store tidies up.
  /// - Throws: ``StoreError``: locked, notWritable, full, or damaged for a file of another kind, and
  ///   for one that lacks something that was acknowledged; then nothing has been written.
  package init(
    directory path: String,
    now: Int64,
    options: StoreOptions = StoreOptions()
  ) throws(StoreError) {
    let directory = StoreDirectory(path: path)
    try directory.create()
    if try directory.makePrivate() { options.report(.madePrivate(directory: path)) }
    let lock = try DirectoryLock(directory: path, patience: options.lockPatience)
    let file = directory.database
    let acknowledged = try AcknowledgedCommits(ofStoreAt: file)
    try StoreError.translating(at: file) { try acknowledged.check() }
    try directory.createFile()
    let opened = try StoreError.translating(at: file) {
      let connections = try StoreConnections(to: file, lock, options)
      let (position, hasLog) = try connections.writer.queue.write { database in
        let log = LogTable(database, path: file)
        try LedgerTable(database, path: file).removeEntries(before: now - options.ledgerAge)
        try FoldTable(database, path: file).countRows()
        return (try log.position(), try log.size().batches > 0)
      }
      return (connections: connections, position: position, hasLog: hasLog)
    }
    self.directory = directory
    self.options = options
    connections = opened.connections
    lastRevision = opened.position.commit
    mark = StoreMark(beside: file, at: opened.position, options.report)
    foldAt = (options.foldBatches, options.foldBytes)
    if opened.hasLog { turns.sync { scheduleFold() } }
  }

  // MARK: Reading

  /// Reads the node table and replays the log.
  ///
  /// - Throws: ``StoreError`` when the file is damaged or cannot be read.
  /// - Complexity: O(size)
  package func load() throws(StoreError) -> StoredTree {
    let file = directory.database
    return try StoreError.translating(at: file) {
      let queue = try turns.sync { try opened().writer.queue }
      let tree = try queue.read { database in
        let rows = try NodeTable(database, path: file).rowCount()
        options.report(.loading(directory: directory.path, rows: rows))
        return try StoredTree(reading: database, path: file, rows: rows)
      }
      options.report(.loaded(directory: directory.path, revision: tree.revision))
      return tree
    }
  }

  // MARK: Committing

  /// Appends a batch to the log and waits until the disk has it.
  ///
  /// It is a programmer error to leave out a revision.
  ///
  /// - Parameter batch: The commits that follow the last, and the ledger entries that they bring.
  ///   An empty batch is for settling what became of an earlier one, if that is in doubt.
  /// - Throws: ``StoreError``; then nothing of the batch is stored. When the device has failed in the
  ///   middle, the batch may have reached it, so that something is written over it before this returns;
  ///   only where that fails as well, the error says that the batch is in doubt. A batch for which there
  ///   is no space lacks its end and counts as not stored, also where nothing can be written over it.
  package func commit(_ batch: CommitBatch) throws(StoreError) {
    let payload = try LogTable.encode(batch.commits)
    try StoreError.translating(at: directory.database) {
      try turns.sync { try append(batch, payload) }
    }
  }

  private func append(_ batch: CommitBatch, _ payload: [UInt8]) throws {
    let writer = try opened().writer
    try writer.settleEarlier(expecting: checkRevision)
    if batch == CommitBatch(commits: []) { return }
    for (offset, commit) in batch.commits.enumerated() {
      let expected = lastRevision + 1 + Int64(offset)
      guard commit.revision == expected else {
        throw StoreError(.failed, "commit \(commit.revision) does not follow \(expected - 1)")
      }
    }
    let file = directory.database
    try writer.write(expecting: checkRevision) { database in
      if let last = batch.commits.last {
        try LogTable(database, path: file).append(payload, revision: last.revision)
      }
      let ledger = LedgerTable(database, path: file)
      for entry in batch.ledger { try ledger.save(entry) }
      let sessions = SessionTable(database, path: file)
      for session in batch.sessions { try sessions.save(session) }
      if let rules = batch.rules { try RulesTable(database, path: file).save(rules) }
      if batch.commits.isEmpty { try LogTable(database, path: file).countBatchWithoutCommits() }
    }
    mark.note(batch.commits.last?.revision, payload)
    guard let last = batch.commits.last else { return }
    lastRevision = last.revision
    unfolded.batches += 1
    unfolded.bytes += payload.count
    for commit in batch.commits { unfolded.changes += commit.changes }
    if unfolded.batches > foldAt.batches || unfolded.bytes > foldAt.bytes { scheduleFold() }
    if unfolded.changes.count >= Self.keptChanges, !isFoldScheduled, !isHandOverScheduled {
      scheduleHandOver()
    }
  }

  /// Changes the node table itself as the next commit, once everything in the log is folded.
  ///
  /// All of it is one transaction: what throws, or ends the process, leaves the store as it was.
  ///
  /// - Returns: The revision of the commit.
  /// - Throws: What the body throws, and the failures of the database as ``StoreError``.
  func commitDirectly(_ body: (NodeTable) throws -> Void) throws -> Int64 {
    let file = directory.database
    return try maintenance.sync {
      try turns.sync {
        let connections = try opened()
        let writer = connections.writer
        try writer.settleEarlier(expecting: checkRevision)
        let revision = lastRevision + 1
        do {
          try writer.queue.write { database in
            try LogTable(database, path: file).foldAll()
            let nodes = NodeTable(database, path: file)
            try body(nodes)
            try FoldTable(database, path: file)
              .save(FoldProgress(revision: revision), addingRows: nodes.addedRows)
          }
        } catch let error as DatabaseError {
          throw writer.settled(StoreError(error, at: file), expecting: checkRevision)
        }
        lastRevision = revision
        mark.note(revision)
        unfolded = Unfolded()
        connections.folder.reset(to: revision)
        return revision
      }
    }
  }

  /// Checks that a file which was opened anew ends with the last commit.
  private func checkRevision(_ database: Database) throws {
    let file = directory.database
    let revision = try LogTable(database, path: file).lastRevision()
    guard revision == lastRevision else {
      throw StoreError(
        .failed,
        "\(file): commit \(revision) is the last in it, where \(lastRevision) should be;"
          + " start the server again"
      )
    }
  }

  private func opened() throws -> StoreConnections {
    guard let connections else { throw StoreError(.failed, "\(directory.path) has been closed") }
    return connections
  }

  // MARK: Folding

  private func scheduleFold() {
    guard !isFoldScheduled else { return }
    isFoldScheduled = true
    maintenance.async { [self] in
      var isFolded = true
      do throws(StoreError) {
        try foldWithinMaintenance()
      } catch {
        isFolded = false
        options.report(.foldFailed(error))
      }
      turns.sync {
        isFoldScheduled = false
        // A failure costs nothing but space: it is tried again later, and reported at the close.
        let rest = isFolded ? Unfolded() : unfolded
        foldAt = (rest.batches + options.foldBatches, rest.bytes + options.foldBytes)
      }
    }
  }

  /// Folds what is in the log now into the node table, and returns when that is done.
  ///
  /// - Throws: ``StoreError``; the log keeps what could not be folded.
  package func fold() throws(StoreError) {
    let result = maintenance.sync { () -> Result<Void, StoreError> in
      do throws(StoreError) {
        return .success(try foldWithinMaintenance())
      } catch {
        return .failure(error)
      }
    }
    try result.get()
  }

  private func foldWithinMaintenance() throws(StoreError) {
    do throws(StoreError) {
      try foldThroughFolder()
    } catch {
      // A disk that is full says so before anything is written.
      if error.kind != .full { hasFoldFailed = true }
      // No commit may build on what is in the write-ahead log and perhaps not on the disk.
      if error.kind == .failed { turns.sync { connections?.writer.note(error) } }
      throw error
    }
  }

  private func foldThroughFolder() throws(StoreError) {
    try StoreError.translating(at: directory.database) {
      let connections = try folderConnections()
      let folder = connections.folder
      try folder.readLog()
      // An earlier fold may have been cut short.
      while try turns.sync(execute: folder.step) {}
      let (changes, revision) = turns.sync {
        defer { unfolded = Unfolded() }
        return (unfolded.take(), lastRevision)
      }
      folder.take(changes)
      folder.begin(through: revision)
      while try turns.sync(execute: folder.step) {}
      try checkpoint(connections.maintainer)
      mark.synchronize()
    }
  }

  /// What is open, with another connection for the folder after the last one has failed.
  private func folderConnections() throws -> StoreConnections {
    try turns.sync {
      let old = try opened()
      guard hasFoldFailed else { return old }
      let new = try old.reopeningMaintainer(of: directory.database, options)
      connections = new
      hasFoldFailed = false
      // The new folder reads these in the log.
      unfolded.changes = []
      try? old.maintainer.close()
      return new
    }
  }

  /// Hands changes to the folder, which keeps only the last of each place.
  private func scheduleHandOver() {
    isHandOverScheduled = true
    maintenance.async { [self] in
      // What cannot be read now is read by the next fold, which says why not.
      let folder = turns.sync { connections?.folder }
      let isReady = (try? folder?.readLog()) != nil
      let changes = turns.sync {
        isHandOverScheduled = false
        return isReady ? unfolded.take() : []
      }
      folder?.take(changes)
    }
  }

  /// Copies the write-ahead log into the file: most of it beside the commits, the rest in a turn.
  ///
  /// The second pass leaves nothing to copy, so that the next commit starts the write-ahead log
  /// anew. No other connection checkpoints, and the first pass always finds what a fold has written.
  private func checkpoint(_ maintainer: DatabaseQueue) throws {
    try maintainer.writeWithoutTransaction { _ = try $0.checkpoint(.passive) }
    try turns.sync {
      try maintainer.writeWithoutTransaction { _ = try $0.checkpoint(.passive) }
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
    let last = turns.sync { () -> StoreConnections? in
      defer { connections = nil }
      return connections
    }
    maintenance.sync {}
    try StoreError.translating(at: file) {
      try last?.maintainer.close()
      try last?.writer.queue.close()
    }
    if let folding { throw folding }
  }
}

extension StoredTree {
  /// Reads everything in one transaction.
  ///
  /// - Parameters:
  ///   - database: A connection within a transaction.
  ///   - path: The file that errors name.
  ///   - rows: How many rows the node table has.
  /// - Throws: What the database does, and ``StoreError`` for what is damaged.
  init(reading database: Database, path: String, rows: Int) throws {
    try FoldTable(database, path: path).checkRows(rows)
    let log = LogTable(database, path: path)
    var root = try NodeTable(database, path: path).load()
    try log.forEachMissingChange { root.update(at: $0.path, to: $0.node) }
    let ledger = try LedgerTable(database, path: path).load()
    self.init(
      root: root,
      revision: try log.lastRevision(),
      ledger: ledger,
      sessions: try SessionTable(database, path: path).load(),
      rules: try RulesTable(database, path: path).load()
    )
  }
}
