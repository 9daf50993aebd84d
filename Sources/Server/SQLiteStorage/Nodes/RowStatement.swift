import GRDB
import GRDBSQLite

/// A statement about the rows of a table that is bound and stepped by hand.
///
/// Of a row of a few hundred bytes, most of the time would go into the library's objects for the
/// arguments of the statement and for the values that come back.
struct RowStatement {
  private let database: Database
  private let handle: SQLiteStatement

  /// Compiles a statement, or takes the one that the connection has compiled before.
  init(_ database: Database, sql: String) throws {
    self.database = database
    handle = try database.cachedStatement(sql: sql).sqliteStatement
  }

  /// Runs a statement that gives no rows.
  ///
  /// - Returns: How many rows it has changed.
  @discardableResult
  func execute(_ first: ArraySlice<UInt8>, _ second: ArraySlice<UInt8>? = nil) throws -> Int {
    _ = try step(first, second)
    return Int(sqlite3_changes(database.sqliteConnection))
  }

  /// Whether there is a row.
  func hasRow(_ first: ArraySlice<UInt8>, _ second: ArraySlice<UInt8>) throws -> Bool {
    try step(first, second)
  }

  /// The first column of the first row, or nil when there is none.
  func value(_ first: ArraySlice<UInt8>) throws -> [UInt8]? {
    var value: [UInt8]?
    _ = try step(first, nil) {
      // Safety: SQLite keeps the bytes of a column until the reset; they are copied before.
      let blob = sqlite3_column_blob(handle, 0)
      let count = Int(sqlite3_column_bytes(handle, 0))
      value = Array(UnsafeRawBufferPointer(start: blob, count: blob == nil ? 0 : count))
    }
    return value
  }

  /// Binds, takes the only step that counts, and tells whether it led to a row.
  private func step(
    _ first: ArraySlice<UInt8>,
    _ second: ArraySlice<UInt8>?,
    onRow: () -> Void = {}
  ) throws -> Bool {
    try first.withUnsafeBytes { first in
      try (second ?? []).withUnsafeBytes { bytes in
        // Safety: what is bound is not copied; it stays where it is until it is unbound here.
        defer {
          sqlite3_reset(handle)
          sqlite3_clear_bindings(handle)
        }
        try bind(first, at: 1)
        if second != nil { try bind(bytes, at: 2) }
        let code = sqlite3_step(handle)
        if code == SQLITE_ROW { onRow() }
        guard code == SQLITE_ROW || code == SQLITE_DONE else { throw failure }
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
    guard code == SQLITE_OK else { throw failure }
  }

  private var failure: DatabaseError {
    let connection = database.sqliteConnection
    return DatabaseError(
      resultCode: ResultCode(rawValue: sqlite3_extended_errcode(connection)),
      message: sqlite3_errmsg(connection).map { String(cString: $0) }
    )
  }
}
