import GRDB

/// The row that records how far the log has been folded.
///
/// A fold takes several transactions and may be interrupted between any two of them. Its remaining
/// changes can be read from the log again, which keeps the batches until all changes have been
/// applied.
struct FoldTable {
  private let database: Database

  init(_ database: Database) { self.database = database }

  func progress() throws -> FoldProgress {
    // A file that is only read has the columns of the version that wrote it.
    let isNew = try database.columns(in: "state").count > 1
    let columns = isNew ? "folded_revision, target_revision, applied_changes" : "folded_revision"
    guard let row = try Row.fetchOne(database, sql: "SELECT \(columns) FROM state") else {
      throw DamagedData("its state is missing")
    }
    let revision = try row.decode(Int64.self, atIndex: 0)
    guard isNew else { return FoldProgress(revision: revision) }
    return FoldProgress(
      revision: revision,
      target: max(revision, try row.decode(Int64.self, atIndex: 1)),
      applied: try row.decode(Int.self, atIndex: 2)
    )
  }

  /// Records the progress, in the same transaction that has changed the node table.
  func save(_ progress: FoldProgress, addingRows rows: Int) throws {
    let update = try database.cachedStatement(
      sql: """
        UPDATE state SET
          node_rows = CASE WHEN \(Self.isCounted) THEN node_rows + ?4 END,
          counted_folded = ?1, counted_target = ?2, counted_applied = ?3,
          folded_revision = ?1, target_revision = ?2, applied_changes = ?3
        """
    )
    try update.execute(arguments: [progress.revision, progress.target, progress.applied, rows])
  }

  // MARK: Rows

  /// Whether the stored number of rows belongs to the current state.
  private static let isCounted =
    "counted_folded = folded_revision AND counted_target = target_revision"
    + " AND counted_applied = applied_changes"

  /// The number of rows that the node table must have, or nil if they were never counted.
  ///
  /// Damage within a page can hide whole rows, which no checksum reveals.
  func rowCount() throws -> Int? {
    guard try database.columns(in: "state").contains(where: { $0.name == "node_rows" }) else {
      return nil
    }
    return try Int.fetchOne(database, sql: "SELECT node_rows FROM state WHERE \(Self.isCounted)")
  }

  /// Counts the rows, unless their number is known.
  func countRows() throws {
    guard try rowCount() == nil else { return }
    try database.execute(
      sql: """
        UPDATE state SET node_rows = (SELECT COUNT(*) FROM \(NodeTable.name)),
          counted_folded = folded_revision, counted_target = target_revision,
          counted_applied = applied_changes
        """
    )
  }

  /// Checks that no rows are missing, and throws ``DamagedData`` when the number is wrong.
  func checkRows(_ count: Int) throws {
    guard let expected = try rowCount(), expected != count else { return }
    throw DamagedData("it has \(count) data rows instead of \(expected)")
  }
}
