import GRDB
import GRDBSQLite

/// Rows of the node table in the order of their paths, a few at a time in one buffer.
struct NodeRows: Sendable {
  /// Where a row is in the buffer: its path, directly followed by its value.
  private struct Row {
    let start: Int
    let pathEnd: Int
    let end: Int
  }

  /// The bytes of a chunk beyond which the next one is begun.
  private static let chunkBytes = 48 * 1_024

  private var bytes: [UInt8] = []
  private var rows: [Row] = []

  private init() {
    bytes.reserveCapacity(Self.chunkBytes + 4_096)
    rows.reserveCapacity(2_048)
  }

  /// Decodes the rows one after another.
  ///
  /// - Parameters:
  ///   - file: The file that errors name.
  ///   - body: Takes the path of a row and what it holds; its failures are those of the row.
  /// - Throws: ``StoreError`` at the first row that is damaged, and what the body throws.
  func forEachNode(
    _ file: String,
    _ body: (ArraySlice<UInt8>, BinaryReader.StoredNode) throws -> Void
  ) throws {
    try forEachRow { path, value in
      do {
        try body(path, try NodeTable.decode(value, key: path))
      } catch let failure as BinaryReader.Failure {
        throw NodeTable.damaged(file, key: path, failure)
      }
    }
  }

  /// Gives the path and the value of each row.
  func forEachRow(
    _ body: (_ path: ArraySlice<UInt8>, _ value: ArraySlice<UInt8>) throws -> Void
  ) rethrows {
    for row in rows {
      try body(bytes[row.start..<row.pathEnd], bytes[row.pathEnd..<row.end])
    }
  }

  /// Reads a whole table chunk by chunk.
  ///
  /// The statement is stepped here rather than by a cursor of the library: of a row of a few bytes,
  /// most of the time would go into objects for its two values.
  static func forEachChunk(
    of database: Database,
    table: String = NodeTable.name,
    _ body: (NodeRows) throws -> Void
  ) throws {
    let statement = try database.makeStatement(
      sql: "SELECT path, value FROM \(table) ORDER BY path"
    )
    let handle = statement.sqliteStatement
    defer { sqlite3_reset(handle) }
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
      if chunk.bytes.count >= chunkBytes {
        try body(chunk)
        chunk = NodeRows()
      }
    }
    if !chunk.rows.isEmpty { try body(chunk) }
  }

  private mutating func append(_ statement: SQLiteStatement) {
    let start = bytes.count
    append(column: 0, of: statement)
    let pathEnd = bytes.count
    append(column: 1, of: statement)
    rows.append(Row(start: start, pathEnd: pathEnd, end: bytes.count))
  }

  private mutating func append(column: Int32, of statement: SQLiteStatement) {
    // Safety: SQLite keeps the bytes of a column until the next step; they are copied at once.
    let blob = sqlite3_column_blob(statement, column)
    let count = Int(sqlite3_column_bytes(statement, column))
    bytes.append(contentsOf: UnsafeRawBufferPointer(start: blob, count: blob == nil ? 0 : count))
  }
}
