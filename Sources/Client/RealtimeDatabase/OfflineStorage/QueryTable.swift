import GRDB
import RealtimeSync

/// The queries of which data are kept.
struct QueryTable {
  private let database: GRDB.Database

  init(_ database: GRDB.Database) {
    self.database = database
  }

  /// All queries, by number.
  func all() throws -> [TrackedQuery] {
    try Row.fetchAll(database, sql: "SELECT * FROM queries ORDER BY id").map { row in
      TrackedQuery(
        id: row["id"],
        path: try JSONText.path(row["path"]),
        query: try JSONText.query(row["query"]),
        lastUse: row["last_use"],
        isComplete: row["is_complete"],
        isKept: row["is_kept"]
      )
    }
  }

  /// Adds a query, or replaces the one of the same number.
  func save(_ query: TrackedQuery) throws {
    try database.cachedStatement(
      sql: "INSERT OR REPLACE INTO queries VALUES (?, ?, ?, ?, ?, ?)"
    ).execute(arguments: [
      query.id, JSONText.text(query.path), JSONText.text(query.query), query.lastUse,
      query.isComplete, query.isKept,
    ])
  }

  /// Removes a query.
  func remove(_ id: Int64) throws {
    try database.cachedStatement(sql: "DELETE FROM queries WHERE id = ?").execute(arguments: [id])
  }
}
