import GRDB
import GRDBSQLite

extension NodeRows {
  /// Reads a whole table chunk by chunk.
  ///
  /// The statement is stepped directly: a cursor of the library would spend most of the time on
  /// objects for the two values of each row.
  static func forEachChunk(
    of database: Database,
    table: String = NodeTable.name,
    rowCount total: Int? = nil,
    _ body: (NodeRows) throws -> Void
  ) throws {
    let statement = try database.makeStatement(
      sql: "SELECT path, value FROM \(table) ORDER BY path"
    )
    let handle = statement.sqliteStatement
    defer { sqlite3_reset(handle) }
    let report = StorageProgress.report
    var done = 0
    var chunk = NodeRows()
    while true {
      let code = sqlite3_step(handle)
      guard code == SQLITE_ROW else {
        guard code == SQLITE_DONE else {
          throw DatabaseError(
            resultCode: ResultCode(rawValue: sqlite3_extended_errcode(database.sqliteConnection)),
            message: sqlite3_errmsg(database.sqliteConnection).map { String(cString: $0) }
          )
        }
        break
      }
      chunk.append(handle)
      if chunk.isFull {
        try body(chunk)
        done += chunk.count
        report?(done, total)
        chunk = NodeRows()
      }
    }
    if !chunk.isEmpty { try body(chunk) }
  }

  private mutating func append(_ statement: SQLiteStatement) {
    // Safety: SQLite keeps the bytes of both columns until the next step; they are copied at once.
    append(path: Self.bytes(0, of: statement), value: Self.bytes(1, of: statement))
  }

  private static func bytes(
    _ column: Int32,
    of statement: SQLiteStatement
  ) -> UnsafeRawBufferPointer {
    let blob = sqlite3_column_blob(statement, column)
    let count = Int(sqlite3_column_bytes(statement, column))
    return UnsafeRawBufferPointer(start: blob, count: blob == nil ? 0 : count)
  }
}
