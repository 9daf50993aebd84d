import Dispatch
import DurableFiles
import GRDB
import RealtimeCore
import Synchronization

/// A store in one SQLite file: a log of commits, and a table of nodes that the log is folded into.
///
/// A commit appends one row, and returns once that is durable. In the background the log is folded
/// into the node table, in short transactions between commits. SQLite's write-ahead log is then
/// copied into the file.
///
/// A commit is acknowledged only if everything in front of it in the write-ahead log is durable.
/// Whatever writes to the file or syncs it runs in a turn, and a failure finishes the writer in the
/// same turn. So no other sync can fail, after which the system forgets what it was to write, between
/// the first write of a commit and the sync of that commit. That sync therefore covers all earlier
/// frames that no sync has covered, such as those of the fold, which does not wait for the disk.
///
/// State: open → finished (see ``DurableWriter``) → closed, or open → closed.
package final class SQLiteTreeStore: TreeStore, @unchecked Sendable {
  // Safety: all mutable properties are used only on `turns`. The folder is used on `maintenance`,
  // and also on `turns` where commits could get in between. All others are Sendable.

  private let directory: StoreDirectory
  private let options: StoreOptions
  /// Runs one writing transaction at a time: commits and folding steps, in the order they arrive.
  private let turns = DispatchQueue(label: "SQLiteTreeStore.turns")
  /// The queue on which the log is folded.
  private let maintenance = DispatchQueue(label: "SQLiteTreeStore.maintenance", qos: .utility)
  private var connections: StoreConnections?
  /// What has been acknowledged; moved on `turns`.
  private let mark: StoreMark
  private var lastRevision: Int64
  private var unfolded = Unfolded()
  /// How much must be committed after the start of a fold before the next one is scheduled.
  private var foldAt: (batches: Int, bytes: Int)
  private var isFoldScheduled = false
  /// Whether the last scheduled fold failed; used only on `maintenance`.
  private var hasFoldFailed = false
  private var isHandOverScheduled = false
  /// Whether the log is being folded, so that a commit may have to wait for a step of that.
  private let isFolding = Atomic(false)

  /// What has been committed since the last fold began.
  private struct Unfolded {
    var batches = 0
    var bytes = 0
    /// The changes that the folder has not taken yet.
    var changes: [Change] = []

    mutating func add(_ commits: [Commit], bytes: Int) {
      batches += 1
      self.bytes += bytes
      for commit in commits { changes += commit.changes }
    }

    mutating func take() -> [Change] {
      defer { changes = [] }
      return changes
    }
  }

  /// The number of changes to collect before they are handed to the folder.
  private static let keptChanges = 4_096

  /// Opens the store of a directory, which only one server at a time can use.
  ///
  /// Both are created if they are missing. By the time, in milliseconds since 1970, old ledger
  /// entries are dropped. The options say when the store folds its log, and how large it may grow.
  ///
  /// - Throws: ``StoreError``: locked, notWritable, full, or damaged. The last is thrown for a file
  ///   of another kind, and for one in which acknowledged data is missing; then nothing has been
  ///   written.
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
    try StoreError.translating(at: file) {
      if let fault = try acknowledged.fault() { throw StoreError.loss(of: file, fault: fault) }
    }
    try directory.createFile()
    let opened = try StoreError.translating(at: file) {
      let connections = try StoreConnections(to: file, lock: lock, options: options)
      let (position, hasLog) = try connections.writer.queue.write { database in
        let log = LogTable(database)
        try SideTables(database).removeLedgerEntries(before: now - options.ledgerAge)
        try FoldTable(database).countRows()
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
  /// - Complexity: O(size)
  package func load() throws(StoreError) -> StoredTree {
    let file = directory.database
    return try StoreError.translating(at: file) {
      let queue = try turns.sync { try opened().writer.queue }
      let tree = try queue.read { database in
        let rows = try NodeTable(database).rowCount()
        options.report(.loading(directory: directory.path, rows: rows))
        return try StoredTree(reading: database, rows: rows)
      }
      options.report(.loaded(directory: directory.path, revision: tree.revision))
      return tree
    }
  }

  // MARK: Committing

  /// Appends a batch to the log and waits until it is on the disk.
  ///
  /// Skipping a revision is a programmer error.
  ///
  /// - Throws: ``StoreError``. When the disk is full, nothing of the batch is stored, and the next
  ///   one may succeed. After any other failure of the disk the outcome is unknown, and the store
  ///   is finished: it throws the same error for every later batch.
  package func commit(_ batch: CommitBatch) throws(StoreError) {
    try commit(batch, patience: StoreSchema.patience)
  }

  private func commit(_ batch: CommitBatch, patience: Int32) throws(StoreError) {
    let payload = try BatchCoding.encode(batch.commits)
    try StoreError.translating(at: directory.database) {
      try turns.sync { try append(batch, payload: payload, patience: patience) }
    }
  }

  /// The number of commits, and of changes in each, up to which a batch is quick to store.
  private static let quickCount = 16

  /// Commits a batch with little data, unless the log is being folded or another program has locked
  /// the file.
  package func commitIfQuick(_ batch: CommitBatch) throws(StoreError) -> Bool {
    guard !isFolding.load(ordering: .relaxed), batch.commits.count <= Self.quickCount,
      batch.sessions.isEmpty, batch.rules == nil,
      batch.commits.allSatisfy({ commit in
        commit.changes.count <= Self.quickCount
          && commit.changes.allSatisfy { NodeRow.isSmall($0.node) }
      })
    else { return false }
    do {
      try commit(batch, patience: 0)
      return true
    } catch {
      guard error.kind == .busy else { throw error }
      return false
    }
  }

  private func append(_ batch: CommitBatch, payload: [UInt8], patience: Int32) throws {
    let writer = try opened().writer
    guard batch != CommitBatch(commits: []) else { return try writer.requireReady() }
    for (offset, commit) in batch.commits.enumerated() {
      let expected = lastRevision + 1 + Int64(offset)
      guard commit.revision == expected else {
        throw StoreError(
          .failed,
          description: "commit \(commit.revision) does not follow \(expected - 1)"
        )
      }
    }
    try writer.write(patience: patience) { database in
      let log = LogTable(database)
      if let last = batch.commits.last { try log.append(payload, revision: last.revision) }
      try SideTables(database).save(batch)
      if batch.commits.isEmpty { try log.countBatchWithoutCommits() }
    }
    mark.note(batch.commits.last?.revision, payload: payload)
    guard let last = batch.commits.last else { return }
    lastRevision = last.revision
    unfolded.add(batch.commits, bytes: payload.count)
    if unfolded.batches > foldAt.batches || unfolded.bytes > foldAt.bytes { scheduleFold() }
    if unfolded.changes.count >= Self.keptChanges, !isFoldScheduled, !isHandOverScheduled {
      scheduleHandOver()
    }
  }

  /// Changes the node table directly, as the next commit, after folding everything in the log.
  ///
  /// All of it, with the changes to other tables, is one transaction: an error, or the end of the
  /// process, leaves the store unchanged. The commit gets the next number, or a given one.
  ///
  /// - Throws: Any error of the closures, and errors of the database and damage as ``StoreError``.
  @discardableResult
  func commitDirectly(
    as number: Int64? = nil,
    beside: (Database) throws -> Void = { _ in },
    _ body: (NodeTable) throws -> Void
  ) throws -> Int64 {
    try maintenance.sync {
      try turns.sync {
        let connections = try opened()
        let revision = number ?? lastRevision + 1
        try connections.writer.write { database in
          try LogTable(database).foldAll()
          let nodes = NodeTable(database)
          try body(nodes)
          try beside(database)
          try FoldTable(database)
            .save(FoldProgress(revision: revision), addingRows: nodes.addedRows)
        }
        lastRevision = revision
        mark.note(revision)
        unfolded = Unfolded()
        connections.folder.reset(to: revision)
        return revision
      }
    }
  }

  private func opened() throws -> StoreConnections {
    guard let connections else {
      throw StoreError(.failed, description: "\(directory.path) has been closed")
    }
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
        if hasFoldFailed { options.report(.foldedAgain) }
        hasFoldFailed = false
      } catch {
        isFolded = false
        hasFoldFailed = true
        options.report(.foldFailed(error))
      }
      turns.sync {
        isFoldScheduled = false
        // A failure only costs space: folding is retried later, and by `close`.
        let rest = isFolded ? Unfolded() : unfolded
        foldAt = (rest.batches + options.foldBatches, rest.bytes + options.foldBytes)
      }
    }
  }

  /// Folds the log and returns once that is done; the log keeps what could not be folded.
  package func fold() throws(StoreError) {
    try StoreError.translating(at: directory.database) {
      try maintenance.sync(execute: foldWithinMaintenance)
    }
  }

  private func foldWithinMaintenance() throws(StoreError) {
    isFolding.store(true, ordering: .relaxed)
    defer { isFolding.store(false, ordering: .relaxed) }
    let folder = try inTurn { $0.folder }
    try StoreError.translating(at: directory.database) { try folder.readLog() }
    // An earlier fold may have been interrupted.
    while try inTurn({ try $0.folder.step() }) {}
    let (changes, revision) = turns.sync {
      defer { unfolded = Unfolded() }
      return (unfolded.take(), lastRevision)
    }
    folder.take(changes)
    folder.begin(through: revision)
    while try inTurn({ try $0.folder.step() }) {}
    // This leaves nothing to copy, so that the next commit restarts the write-ahead log.
    try inTurn { connections in
      connections.writer.logWasCopied()
      try connections.maintainer.writeWithoutTransaction { _ = try $0.checkpoint(.passive) }
    }
    mark.synchronize()
  }

  /// Does a part of a fold between commits; a failure finishes the writer before the next one.
  private func inTurn<Result>(
    _ body: (StoreConnections) throws -> Result
  ) throws(StoreError) -> Result {
    try StoreError.translating(at: directory.database) {
      try turns.sync {
        let connections = try opened()
        try connections.writer.requireUnfinished()
        do {
          return try body(connections)
        } catch let error as DatabaseError where !error.isDamage {
          throw connections.writer.failure(of: connections.maintainer, error)
        }
      }
    }
  }

  /// Hands changes to the folder, which keeps only the last one at each path.
  private func scheduleHandOver() {
    isHandOverScheduled = true
    maintenance.async { [self] in
      // If the log cannot be read at this point, the next fold reads it or reports why it cannot.
      let folder = turns.sync { connections?.folder }
      let isReady = (try? folder?.readLog()) != nil
      let changes = turns.sync {
        isHandOverScheduled = false
        return isReady ? unfolded.take() : []
      }
      folder?.take(changes)
    }
  }

  // MARK: Closing

  /// Folds the rest of the log and releases the files; a second call does nothing.
  ///
  /// A finished store only releases the files, and writes nothing.
  ///
  /// - Throws: ``StoreError`` when the log could not be folded; all commits are safe even so.
  package func close() throws(StoreError) {
    guard let isFinished = turns.sync(execute: { connections?.writer.isFinished }) else { return }
    var folding: StoreError?
    if !isFinished {
      do throws(StoreError) { try fold() } catch { folding = error }
    }
    let last = turns.sync { () -> StoreConnections? in
      defer { connections = nil }
      return connections
    }
    maintenance.sync {}
    try StoreError.translating(at: directory.database) {
      try last?.writer.close(after: last?.maintainer)
    }
    if let folding { throw folding }
  }
}

extension StoredTree {
  /// Reads everything within a transaction; `rows` is their number in the node table.
  ///
  /// - Throws: An error of the database, or ``DamagedData``.
  init(reading database: Database, rows: Int) throws {
    try FoldTable(database).checkRows(rows)
    let log = LogTable(database)
    let sides = SideTables(database)
    var root = try NodeTable(database).load()
    try log.forEachMissingChange { root.update(at: $0.path, to: $0.node) }
    self.init(
      root: root,
      revision: try log.lastRevision(),
      ledger: try sides.ledger(),
      sessions: try sides.sessions(),
      rules: try sides.rules()
    )
  }
}
