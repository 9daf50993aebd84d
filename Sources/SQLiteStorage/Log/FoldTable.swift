import GRDB
import RealtimeHub

/// The row that says how far the log has been folded.
///
/// A fold takes several transactions, and may be cut short between any two of them. The rest of its
/// changes is found again in the log, whose batches stay until all of them have been made.
struct FoldTable {
  private let database: Database
  private let path: String

  init(_ database: Database, path: String) {
    self.database = database
    self.path = path
  }

  func progress() throws -> FoldProgress {
    // A file that is only read has the columns of the version that wrote it.
    let isNew = try database.columns(in: "state").count > 1
    let columns = isNew ? "folded_revision, target_revision, applied_changes" : "folded_revision"
    guard let row = try Row.fetchOne(database, sql: "SELECT \(columns) FROM state") else {
      throw StoreError.damaged(path, "its state is missing")
    }
    guard isNew else { return FoldProgress(revision: row[0]) }
    return FoldProgress(revision: row[0], target: max(row[0], row[1]), applied: row[2])
  }

  func save(_ progress: FoldProgress) throws {
    let update = try database.cachedStatement(
      sql: "UPDATE state SET folded_revision = ?, target_revision = ?, applied_changes = ?"
    )
    try update.execute(arguments: [progress.revision, progress.target, progress.applied])
  }
}
