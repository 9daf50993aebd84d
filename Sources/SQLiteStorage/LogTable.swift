import Foundation
import GRDB
import RealtimeHub
import RealtimeProtocol
import RealtimeTree

/// The commits that are not yet in the node table, a row for each batch.
struct LogTable {
  private static let format: UInt8 = 1

  private let database: Database
  private let path: String

  init(_ database: Database, path: String) {
    self.database = database
    self.path = path
  }

  /// The bytes of a row.
  static func encode(_ commits: [Commit]) throws(StoreError) -> [UInt8] {
    var writer = BinaryWriter()
    writer.write(byte: format)
    writer.write(count: commits.count)
    for commit in commits { try writer.write(commit) }
    writer.seal()
    return writer.bytes
  }

  func append(_ payload: [UInt8], revision: Int64) throws {
    let insert = try database.cachedStatement(
      sql: "INSERT INTO log (revision, payload) VALUES (?, ?)"
    )
    try insert.execute(arguments: [revision, Data(payload)])
  }

  /// Gives each batch in order to a closure until it returns false.
  func forEachBatch(_ body: ([Commit], _ bytes: Int) throws -> Bool) throws {
    var expected = try foldedRevision() + 1
    let select = "SELECT revision, payload FROM log ORDER BY revision"
    let rows = try Row.fetchCursor(database.cachedStatement(sql: select))
    while let row = try rows.next() {
      let revision: Int64 = row[0]
      let payload: Data = row[1]
      let commits = try decode(payload, revision: revision)
      for commit in commits {
        guard commit.revision == expected else {
          throw StoreError.damaged(path, "commit \(expected) is missing")
        }
        expected += 1
      }
      guard try body(commits, payload.count) else { return }
    }
  }

  private func decode(_ payload: Data, revision: Int64) throws(StoreError) -> [Commit] {
    do throws(BinaryReader.Failure) {
      var reader = try BinaryReader(sealed: Array(payload))
      guard try reader.byte() == Self.format else {
        throw BinaryReader.Failure(reason: "it has an unknown format")
      }
      var commits: [Commit] = []
      for _ in 0..<(try reader.count()) { commits.append(try reader.commit()) }
      guard reader.isAtEnd, commits.last?.revision == revision else {
        throw BinaryReader.Failure(reason: "it has the wrong length")
      }
      return commits
    } catch {
      throw StoreError.damaged(path, "commit \(revision) is damaged: \(error.reason)")
    }
  }

  // MARK: Folding

  /// The last commit that is in the node table.
  func foldedRevision() throws -> Int64 {
    guard let revision = try Int64.fetchOne(database, sql: "SELECT folded_revision FROM state")
    else {
      throw StoreError.damaged(path, "its state is missing")
    }
    return revision
  }

  /// The last commit of all.
  func lastRevision() throws -> Int64 {
    try max(foldedRevision(), Int64.fetchOne(database, sql: "SELECT MAX(revision) FROM log") ?? 0)
  }

  func size() throws -> (batches: Int, bytes: Int) {
    let sql = "SELECT COUNT(*), COALESCE(SUM(LENGTH(payload)), 0) FROM log"
    guard let row = try Row.fetchOne(database, sql: sql) else { return (0, 0) }
    return (row[0], row[1])
  }

  /// Moves the first batches of the log into the node table, within one transaction of the caller.
  ///
  /// - Returns: What was moved, and the last commit that is in the node table now.
  func fold(changeLimit: Int, byteLimit: Int) throws -> (batches: Int, bytes: Int, revision: Int64)
  {
    var folded = (batches: 0, bytes: 0, revision: try foldedRevision())
    let nodes = NodeTable(database, path: path)
    var changes = 0
    try forEachBatch { commits, bytes in
      for commit in commits {
        for change in commit.changes { try nodes.apply(change) }
        changes += commit.changes.count
        folded.revision = commit.revision
      }
      folded.batches += 1
      folded.bytes += bytes
      return changes < changeLimit && folded.bytes < byteLimit
    }
    if folded.batches > 0 {
      let arguments: StatementArguments = [folded.revision]
      try database.execute(sql: "DELETE FROM log WHERE revision <= ?", arguments: arguments)
      try setFoldedRevision(folded.revision)
    }
    return folded
  }

  /// Makes a copy of the node table, for this connection only, with the whole log folded into it.
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
    let nodes = NodeTable(database, path: path, table: copy)
    try forEachBatch { commits, _ in
      for change in commits.lazy.flatMap(\.changes) { try nodes.apply(change) }
      return true
    }
    return copy
  }

  /// Says that the node table holds everything up to a commit.
  func setFoldedRevision(_ revision: Int64) throws {
    try database.execute(sql: "UPDATE state SET folded_revision = ?", arguments: [revision])
  }
}
