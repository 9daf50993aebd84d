import DurableFiles
import Foundation
import GRDB
import RealtimeCore

/// The log of commits, one row for each batch; it holds at least those not yet in the node table.
struct LogTable: CommitLog {
  private let database: Database

  init(_ database: Database) { self.database = database }

  func append(_ payload: [UInt8], revision: Int64) throws {
    let insert = try database.cachedStatement(
      sql: "INSERT INTO log (revision, payload) VALUES (?, ?)"
    )
    try insert.execute(arguments: [revision, Data(payload)])
  }

  func forEachLogRow(
    after revision: Int64,
    through last: Int64,
    _ body: (Int64, [UInt8]) throws -> Void
  ) throws {
    let select = try database.cachedStatement(
      sql: """
        SELECT revision, payload FROM log WHERE revision > ? AND revision <= ? ORDER BY revision
        """
    )
    let rows = try Row.fetchCursor(select, arguments: [revision, last])
    while let row = try rows.next() {
      try body(row.decode(atIndex: 0), Array(row.decode(Data.self, atIndex: 1)))
    }
  }

  /// Passes on the changes that turn the node table into the current tree.
  func forEachMissingChange(_ body: (Change) throws -> Void) throws {
    try forEachUnfolded(after: FoldTable(database).progress(), body)
  }

  // MARK: Checksums

  /// The checksum of the row that ends with this commit; nil if that is folded, or within a row.
  func seal(of revision: Int64) throws -> UInt64? {
    let sql = "SELECT payload FROM log WHERE revision = ?"
    let payload = try Data.fetchOne(database, sql: sql, arguments: [revision])
    return payload.map { BatchCoding.seal(of: Array($0)) }
  }

  // MARK: Batches without commits

  /// The number of batches without commits so far; 0 in a file of an earlier version.
  func batchesWithoutCommits() throws -> Int64 {
    guard try database.tableExists("batches") else { return 0 }
    return try Int64.fetchOne(database, sql: "SELECT without_commits FROM batches") ?? 0
  }

  /// Counts a batch without commits, so that its loss can be detected.
  func countBatchWithoutCommits() throws {
    try database.cachedStatement(sql: "UPDATE batches SET without_commits = without_commits + 1")
      .execute()
  }

  // MARK: Size

  /// The position of the file, to be compared with its mark.
  func position() throws -> HighWaterMark.Position {
    let revision = try lastRevision()
    return HighWaterMark.Position(
      commit: revision,
      others: try batchesWithoutCommits(),
      seal: try seal(of: revision) ?? 0
    )
  }

  /// The last commit of all, whether folded or not.
  func lastRevision() throws -> Int64 {
    let folded = try FoldTable(database).progress().revision
    return try max(folded, Int64.fetchOne(database, sql: "SELECT MAX(revision) FROM log") ?? 0)
  }

  /// The number and total size of the batches that are not yet in the node table.
  func size() throws -> (batches: Int, bytes: Int) {
    let folded = try FoldTable(database).progress().revision
    let row = try Row.fetchOne(
      database,
      sql: "SELECT COUNT(*), COALESCE(SUM(LENGTH(payload)), 0) FROM log WHERE revision > ?",
      arguments: [folded]
    )
    return try row.map { (try $0.decode(atIndex: 0), try $0.decode(atIndex: 1)) } ?? (0, 0)
  }

  // MARK: Folding

  /// Moves the whole log into the node table, within the caller's transaction.
  func foldAll() throws {
    let last = try lastRevision()
    let nodes = NodeTable(database)
    try forEachMissingChange { try nodes.apply($0) }
    try database.execute(sql: "DELETE FROM log")
    try FoldTable(database).save(FoldProgress(revision: last), addingRows: nodes.addedRows)
  }

  /// Copies the node table, for this connection only, and folds the whole log into the copy.
  ///
  /// - Returns: The name of the copy, or of the table itself when the log is empty.
  func foldedNodes() throws -> String {
    guard try size().batches > 0 else { return NodeTable.name }
    let copy = "temp.folded_nodes"
    try database.execute(
      sql: """
        CREATE TABLE \(copy) (path BLOB PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
        INSERT INTO \(copy) SELECT path, value FROM main.\(NodeTable.name) ORDER BY path;
        """
    )
    let nodes = NodeTable(database, table: copy)
    try forEachMissingChange { try nodes.apply($0) }
    return copy
  }

  /// Removes batches that are in the node table, oldest first, and returns whether none are left.
  ///
  /// It removes at most so many bytes at a time, since all their pages are read.
  func removeBatches(through revision: Int64, byteLimit: Int) throws -> Bool {
    let select = try database.cachedStatement(
      sql: "SELECT revision, LENGTH(payload) FROM log WHERE revision <= ? ORDER BY revision"
    )
    let rows = try Row.fetchCursor(select, arguments: [revision])
    var last: Int64?
    var bytes = 0
    var isDone = true
    while let row = try rows.next() {
      if bytes >= byteLimit {
        isDone = false
        break
      }
      last = try row.decode(Int64.self, atIndex: 0)
      // A short row costs as much as a page.
      bytes += max(try row.decode(Int.self, atIndex: 1), 4_096)
    }
    if let last {
      try database.execute(sql: "DELETE FROM log WHERE revision <= ?", arguments: [last])
    }
    return isDone
  }
}
