import DurableFiles
import RealtimeCore
import RealtimeServer

/// Folds the log of a database into its nodes, part by part, each in its own transaction.
///
/// A fold is determined by the log and by the progress that is stored with it, and each transaction
/// checks and updates that progress. So it does not matter which server folds, nor whether two try
/// at the same time: one of them finds different progress and starts again. Only one thread at a
/// time may use it.
struct PostgresFolder {
  let pools: PostgresPools
  let database: Int64
  let options: PostgresStoreOptions

  private var origin: String { pools.address.description }

  /// Folds everything that has been committed so far; the log keeps what could not be folded.
  func fold() throws(StoreError) {
    let pool = pools.maintenance
    let connection = try StoreError.translating(at: origin) {
      try pool.take(until: .now + PostgresConnection.patience, isChecked: true)
    }
    defer { pool.giveBack(connection) }
    do {
      // A fold can be repeated, so its commits need not wait for the disk.
      try connection.query("SELECT set_config('synchronous_commit', 'off', false)")
      let position = try read(connection) { try $0.position() }
      var progress = position.fold
      if progress.revision < progress.target { try finish(&progress, on: connection) }
      if progress.revision < position.revision {
        progress = FoldProgress(revision: progress.revision, target: position.revision, applied: 0)
        try finish(&progress, on: connection)
      }
      try removeBatches(through: progress.revision, on: connection)
    } catch {
      connection.close()
      throw StoreError(error, at: origin)
    }
  }

  private func read<Result>(
    _ connection: PostgresConnection,
    _ body: (SnapshotReader) throws -> Result
  ) throws -> Result {
    try SnapshotReader.read(connection, database: database, origin: origin, body: body)
  }

  /// Applies the remaining changes of a fold.
  private func finish(_ progress: inout FoldProgress, on connection: PostgresConnection) throws {
    let begun = progress
    let changes = try read(connection) { try $0.changes(of: begun) }
    repeat {
      let part = changes[min(progress.applied, changes.count)...].prefix(options.foldChanges)
      let applied = progress.applied + part.count
      let next =
        applied >= changes.count
        ? FoldProgress(revision: progress.target)
        : FoldProgress(revision: progress.revision, target: progress.target, applied: applied)
      try connection.transact {
        try lock(progress, on: connection)
        let editor = PostgresRowEditor(connection, database: database)
        try editor.prefetch(part)
        let tree = RowTree(editor)
        for change in part { try tree.apply(change) }
        try editor.flush()
        try connection.query(
          """
          UPDATE hearth.folds SET revision = $2, target = $3, applied = $4, rows = rows + $5
          WHERE database = $1
          """,
          with: [
            .integer(database), .integer(next.revision), .integer(next.target),
            .integer(Int64(next.applied)), .integer(editor.addedRows),
          ]
        )
      }
      progress = next
    } while progress.revision < progress.target
  }

  /// Ensures that no other server has folded in the meantime or does so now.
  private func lock(_ progress: FoldProgress, on connection: PostgresConnection) throws {
    let rows = try connection.query(
      "SELECT revision, target, applied FROM hearth.folds WHERE database = $1 FOR UPDATE",
      with: [.integer(database)]
    )
    guard rows.count == 1, rows.integer(0, column: 0) == progress.revision,
      rows.integer(0, column: 1) == progress.target
        && rows.integer(0, column: 2) == Int64(progress.applied)
        || progress.applied == 0 && rows.integer(0, column: 1) == progress.revision
    else {
      throw StoreError(
        .busy,
        description: "\(origin): another server folded the log in the meantime"
      )
    }
  }

  /// Removes batches that are in the nodes and that no observer needs any more, except the last
  /// row, which the next one follows.
  private func removeBatches(through revision: Int64, on connection: PostgresConnection) throws {
    let last = options.logMark.map { min(revision, $0.revision) } ?? revision
    try connection.query(
      """
      DELETE FROM hearth.log l WHERE l.database = $1 AND l.revision <= $2 AND l.batch <
        (SELECT max(h.batch) FROM hearth.log h WHERE h.database = $1)
      """,
      with: [.integer(database), .integer(last)]
    )
    try connection.query(
      """
      DELETE FROM hearth.ledger l USING (
        SELECT owner, client, max(batch) AS batch FROM hearth.ledger WHERE database = $1
        GROUP BY owner, client HAVING count(*) > 1
      ) n WHERE l.database = $1 AND l.owner = n.owner AND l.client = n.client AND l.batch < n.batch
      """,
      with: [.integer(database)]
    )
  }
}

extension PostgresConnection {
  /// Runs a closure whose statements take effect entirely or not at all.
  ///
  /// - Throws: Any error of the closure, with nothing changed, or ``PostgresFailure``.
  func transact<Result>(
    beginningWith begin: String = "BEGIN",
    within limit: Duration = patience,
    _ body: () throws -> Result
  ) throws -> Result {
    try run(begin, within: limit)
    do {
      let result = try body()
      try run("COMMIT", within: limit)
      return result
    } catch {
      if isOpen { try? run("ROLLBACK", within: limit) }
      throw error
    }
  }
}
