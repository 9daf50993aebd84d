import GRDB
import RealtimeCore
import RealtimeSync

/// The writes that wait for their answers.
struct WriteTable {
  private let database: GRDB.Database

  init(_ database: GRDB.Database) {
    self.database = database
  }

  /// All writes in their order.
  func all() throws -> [StoredWrite] {
    try Row.fetchAll(database, sql: "SELECT * FROM writes ORDER BY number").map { row in
      let operation = try JSONText.operation(row["operation"])
      let estimate: String? = row["estimate"]
      return StoredWrite(
        number: row["number"],
        key: WriteKey(client: row["client"], number: row["key"]),
        path: try JSONText.path(row["path"]),
        operation: operation,
        estimate: try estimate.map(JSONText.operation) ?? operation,
        owner: row["owner"]
      )
    }
  }

  /// Adds a write, or replaces the one of the same number.
  func save(_ write: StoredWrite) throws {
    let estimate = write.estimate == write.operation ? nil : JSONText.text(write.estimate)
    try database.cachedStatement(
      sql: "INSERT OR REPLACE INTO writes VALUES (?, ?, ?, ?, ?, ?, ?)"
    ).execute(arguments: [
      write.number, write.key.client, write.key.number, JSONText.text(write.path),
      JSONText.text(write.operation), estimate, write.owner,
    ])
  }

  /// Removes a write.
  func remove(_ number: Int64) throws {
    try database.cachedStatement(sql: "DELETE FROM writes WHERE number = ?")
      .execute(arguments: [number])
  }
}
