import GRDB
import GRDBSQLite

/// The statements about the rows of a table that consist of a path and a value.
final class RowStatements {
  private let select: RowStatement
  private let find: RowStatement
  private let insert: RowStatement
  private let replace: RowStatement
  private let remove: RowStatement
  private let removeRange: RowStatement

  init(_ database: Database, table: String) throws {
    func statement(_ sql: String) throws -> RowStatement { try RowStatement(database, sql: sql) }
    select = try statement("SELECT value FROM \(table) WHERE path = ?")
    find = try statement("SELECT 1 FROM \(table) WHERE path > ? AND path < ? LIMIT 1")
    insert = try statement("INSERT INTO \(table) (path, value) VALUES (?, ?)")
    // A row that holds only a priority has other rows below it.
    replace = try statement(
      "UPDATE \(table) SET value = ?2 WHERE path = ?1 AND substr(value, 1, 1) <> x'80'"
    )
    remove = try statement("DELETE FROM \(table) WHERE path = ?")
    removeRange = try statement("DELETE FROM \(table) WHERE path >= ? AND path < ?")
  }

  func value(_ path: ArraySlice<UInt8>) throws -> [UInt8]? { try select.value(path) }

  /// Whether there are rows below a path, not counting that of the path itself.
  func hasRows(below path: ArraySlice<UInt8>) throws -> Bool {
    try find.step(path, RowPath.end(of: path))
  }

  func insert(_ value: ArraySlice<UInt8>, at path: ArraySlice<UInt8>) throws {
    _ = try insert.execute(path, value)
  }

  /// Replaces the value of a packed row, and returns how many there were.
  func replace(_ value: ArraySlice<UInt8>, at path: ArraySlice<UInt8>) throws -> Int {
    try replace.execute(path, value)
  }

  /// Removes a row, and returns how many there were.
  func remove(_ path: ArraySlice<UInt8>) throws -> Int { try remove.execute(path) }

  /// Removes the rows at a path and below it, and returns how many there were.
  func removeAll(from path: ArraySlice<UInt8>) throws -> Int {
    try removeRange.execute(path, RowPath.end(of: path))
  }
}

/// A statement about the rows of a table that is bound and stepped directly.
///
/// For rows of a few hundred bytes, the library would spend most of the time on objects for
/// arguments and values.
private struct RowStatement {
  private let database: Database
  /// Keeps the statement, which the connection forgets when a table is made.
  private let statement: Statement
  private let handle: SQLiteStatement

  /// Compiles a statement, or reuses the one that the connection has already compiled.
  init(_ database: Database, sql: String) throws {
    self.database = database
    statement = try database.cachedStatement(sql: sql)
    handle = statement.sqliteStatement
  }

  /// Runs a statement that returns no rows, and returns how many rows it has changed.
  func execute(_ first: ArraySlice<UInt8>, _ second: ArraySlice<UInt8>? = nil) throws -> Int {
    _ = try step(first, second)
    return Int(sqlite3_changes(database.sqliteConnection))
  }

  /// The first column of the first row, or nil if there is none.
  func value(_ first: ArraySlice<UInt8>) throws -> [UInt8]? {
    var value: [UInt8]?
    // The bytes are copied before the reset.
    _ = try step(first, nil) { value = Array(handle.bytes(ofColumn: 0)) }
    return value
  }

  /// Binds the arguments and steps once, and returns whether there is a row.
  func step(
    _ first: ArraySlice<UInt8>,
    _ second: ArraySlice<UInt8>?,
    onRow: () -> Void = {}
  ) throws -> Bool {
    try first.withUnsafeBytes { first in
      try (second ?? []).withUnsafeBytes { bytes in
        // Safety: the bound bytes are not copied; they stay in memory until they are unbound here.
        defer {
          sqlite3_reset(handle)
          sqlite3_clear_bindings(handle)
        }
        try bind(first, at: 1)
        if second != nil { try bind(bytes, at: 2) }
        let code = sqlite3_step(handle)
        if code == SQLITE_ROW { onRow() }
        guard code == SQLITE_ROW || code == SQLITE_DONE else { throw database.lastError }
        return code == SQLITE_ROW
      }
    }
  }

  private func bind(_ bytes: UnsafeRawBufferPointer, at index: Int32) throws {
    // A null pointer would bind NULL instead of no bytes.
    let code =
      bytes.isEmpty
      ? sqlite3_bind_zeroblob(handle, index, 0)
      : sqlite3_bind_blob(handle, index, bytes.baseAddress, Int32(bytes.count), nil)
    guard code == SQLITE_OK else { throw database.lastError }
  }
}

extension Database {
  /// The error of the last call of SQLite with this connection.
  fileprivate var lastError: DatabaseError {
    DatabaseError(
      resultCode: ResultCode(rawValue: sqlite3_extended_errcode(sqliteConnection)),
      message: sqlite3_errmsg(sqliteConnection).map { String(cString: $0) }
    )
  }
}

extension SQLiteStatement {
  /// The bytes of a column of the current row, which SQLite keeps until the next step or the reset.
  fileprivate func bytes(ofColumn column: Int32) -> UnsafeRawBufferPointer {
    // Safety: SQLite has as many bytes at the address as it says.
    let blob = sqlite3_column_blob(self, column)
    let count = Int(sqlite3_column_bytes(self, column))
    return UnsafeRawBufferPointer(start: blob, count: blob == nil ? 0 : count)
  }
}

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
        guard code == SQLITE_DONE else { throw database.lastError }
        break
      }
      // The bytes are copied before the next step.
      chunk.append(path: handle.bytes(ofColumn: 0), value: handle.bytes(ofColumn: 1))
      if chunk.isFull {
        try body(chunk)
        done += chunk.count
        report?(done, total)
        chunk = NodeRows()
      }
    }
    if !chunk.isEmpty { try body(chunk) }
  }
}
