import Dispatch
import NIOConcurrencyHelpers
package import RealtimeServer

/// The store of one database in PostgreSQL, for the server that holds its lease.
///
/// A commit appends one row to a log, in one statement that names the commit it follows. In the
/// background the log is folded into the nodes, through a separate connection.
///
/// State: open → finished (by a commit with an unknown outcome, or by a later lease) → closed, or
/// open → closed.
package final class PostgresTreeStore: TreeStore, @unchecked Sendable {
  // Safety: the link is used only on `turns`, the folder only on `maintenance`.

  private let pools: PostgresPools
  private let database: (id: Int64, name: String)
  private let options: PostgresStoreOptions
  private let turns = DispatchQueue(label: "PostgresTreeStore.turns")
  private let maintenance = DispatchQueue(label: "PostgresTreeStore.maintenance", qos: .utility)
  private var link: CommitLink?
  /// Renews a lease of the store's own, which is released when the store is closed.
  private let keeper: LeaseKeeper?
  private let folder: PostgresFolder
  private let unfolded = NIOLockedValueBox((batches: 0, bytes: 0, isFoldScheduled: false))
  private let bell = Bell()
  /// Whether the last fold failed; used only on `maintenance`.
  private var hasFoldFailed = false

  init(
    through pools: PostgresPools,
    database: (id: Int64, name: String),
    lease: Lease,
    keeper: LeaseKeeper?,
    options: PostgresStoreOptions
  ) throws(StoreError) {
    self.pools = pools
    self.keeper = keeper
    self.database = database
    self.options = options
    link = try CommitLink(
      through: pools.commits,
      origin: pools.origin(of: database.name),
      database: database,
      lease: lease,
      options: options,
      bell: bell
    )
    folder = PostgresFolder(pools: pools, database: database.id, options: options)
  }

  // MARK: Reading

  /// Reads the nodes and replays the log.
  ///
  /// - Complexity: O(size)
  package func load() throws(StoreError) -> StoredTree { try read(since: nil) }

  /// Reads the commits since a known one, if the log still has them; otherwise everything.
  package func load(since known: StoredTree) throws(StoreError) -> StoredTree {
    try read(since: known)
  }

  private func read(since known: StoredTree?) throws(StoreError) -> StoredTree {
    try StoreError.translating(at: origin) {
      let connection = try pools.maintenance.take(
        until: .now + PostgresConnection.patience,
        isChecked: true
      )
      defer { pools.maintenance.giveBack(connection) }
      let tree = try SnapshotReader.read(connection, database: database.id, origin: origin) {
        reader in
        try reader.load(since: known) {
          options.report(.loading(database: database.name, rows: $0))
        }
      }
      options.report(.loaded(database: database.name, revision: tree.revision))
      return tree
    }
  }

  private var origin: String { pools.origin(of: database.name) }

  // MARK: Committing

  /// Appends a batch to the log, and returns once PostgreSQL has committed it.
  ///
  /// If the connection is lost halfway, another one determines the outcome, within the time limit
  /// of a commit.
  ///
  /// - Throws: `StoreError`. If its `hasStoredNothing` is true, the next batch may succeed.
  ///   Otherwise it is unknown what has been stored, and the store is finished: it throws the same
  ///   error for every later batch.
  package func commit(_ batch: CommitBatch) throws(StoreError) {
    guard batch != CommitBatch(commits: []) else {
      return try StoreError.translating(at: origin) {
        try turns.sync { try opened().requireReady() }
      }
    }
    var waiting: CommitBatch? = batch
    var outcome: Result<Void, any Error> = .success(())
    commitAll(from: { waiting.take() }) { outcome = $0 }
    try StoreError.translating(at: origin) { try outcome.get() }
  }

  /// Stores the batches of a queue, several of them side by side if PostgreSQL is far away.
  package func commitAll(
    from queue: () -> CommitBatch?,
    _ settled: (Result<Void, any Error>) -> Void
  ) {
    turns.sync {
      do throws(StoreError) {
        let link = try opened()
        var revision = link.revision
        /// For each batch under way the length of its row, nil without one.
        var sizes: [Int?] = []
        var refusal: StoreError?
        link.commitAll {
          guard refusal == nil, let batch = queue() else { return nil }
          do throws(StoreError) {
            let parameters = try BatchParameters(batch)
            for commit in batch.commits {
              guard commit.revision == revision + 1 else {
                throw StoreError(
                  .failed,
                  description: "commit \(commit.revision) does not follow \(revision)"
                )
              }
              revision += 1
            }
            sizes.append(batch.commits.isEmpty ? nil : parameters.payloadCount)
            return (parameters, revision)
          } catch {
            refusal = error
            return nil
          }
        } _: { outcome in
          if case .success = outcome { stored(sizes.removeFirst()) } else { refusal = nil }
          settled(outcome.mapError { $0 })
        }
        if let refusal { throw refusal }
      } catch {
        settled(.failure(error))
      }
    }
  }

  package func batchWaits() { bell.ring() }

  /// Counts a stored row of the log.
  private func stored(_ size: Int?) {
    guard let size else { return }
    count { $0 + 1 }
    let isFoldDue = unfolded.withLockedValue { unfolded in
      unfolded.batches += 1
      unfolded.bytes += size
      guard unfolded.batches > options.foldBatches || unfolded.bytes > options.foldBytes,
        !unfolded.isFoldScheduled
      else { return false }
      unfolded = (0, 0, true)
      return true
    }
    if isFoldDue { scheduleFold() }
  }

  /// Changes the number of batches that are still to be folded.
  private func count(_ change: (Int) -> Int?) {
    options.activity.withLockedValue { activity in
      activity.unfolded[database.name] = change(activity.unfolded[database.name] ?? 0)
    }
  }

  private func opened() throws(StoreError) -> CommitLink {
    guard let link else { throw StoreError(.failed, description: "\(origin) has been closed") }
    return link
  }

  // MARK: Folding

  private func scheduleFold() {
    maintenance.async { [self] in
      let before = options.activity.withLockedValue { $0.unfolded[database.name] ?? 0 }
      do throws(StoreError) {
        try folder.fold()
        options.activity.withLockedValue { activity in
          // Once the store is closed, nothing is counted any more.
          guard let now = activity.unfolded[database.name] else { return }
          activity.unfolded[database.name] = max(0, now - before)
        }
        if hasFoldFailed { options.report(.foldedAgain(database: database.name)) }
        hasFoldFailed = false
      } catch {
        // A failure only costs space: the next fold continues where this one stopped.
        hasFoldFailed = true
        options.report(.foldFailed(database: database.name, error))
      }
      unfolded.withLockedValue { $0.isFoldScheduled = false }
    }
  }

  /// Folds the current log, and returns once that is done; the log keeps what could not be folded.
  package func fold() throws(StoreError) {
    try StoreError.translating(at: origin) { try maintenance.sync(execute: folder.fold) }
  }

  // MARK: Closing

  /// Folds the rest of the log; a second call does nothing.
  ///
  /// A store that is finished, or whose connection was lost, leaves the rest to the next leader.
  ///
  /// - Throws: `StoreError` when the log could not be folded; all commits are safe even so.
  package func close() throws(StoreError) {
    defer { keeper?.release() }
    let last = turns.sync { () -> CommitLink? in
      defer { link = nil }
      return link
    }
    guard let last else { return }
    count { _ in nil }
    if !last.isFinished, !last.isDoubtful { try fold() }
  }
}
