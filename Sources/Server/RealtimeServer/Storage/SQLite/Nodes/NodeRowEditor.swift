import GRDB
import GRDBSQLite
import Glibc
import RealtimeCore

/// Reads and changes individual rows of a node table, within one transaction.
///
/// Nothing else may change the table during that time, so results can be cached.
final class NodeRowEditor: RowEditor {
  private final class Statements {
    let select: RowStatement
    let find: RowStatement
    let insert: RowStatement
    let replace: RowStatement
    let remove: RowStatement
    let removeRange: RowStatement

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
  }

  private let database: Database
  private let table: String
  private var prepared: Statements?
  /// The long rows, while they are apart from the others.
  private var long: LongRows?
  /// The length beyond which rows are to be apart after a number of changes; nil if they are not.
  private var separation: (longBytes: Int, changes: Int)?
  /// Some of the paths known to have no packed row.
  private var unpacked = PathCache()
  /// The number of rows written, plus the number of ranges of rows removed.
  private(set) var changeCount = 0
  /// The number of rows inserted, less those removed.
  private(set) var addedRows = 0
  /// The length of the longest value written, in bytes.
  private(set) var longestWritten = 0

  init(_ database: Database, table: String) {
    self.database = database
    self.table = table
  }

  private func statements() throws -> Statements {
    if let prepared { return prepared }
    let statements = try Statements(database, table: table)
    prepared = statements
    return statements
  }

  /// Returns the number of pages that the connection has looked at since the last call.
  func takeVisitedPages() -> Int {
    [SQLITE_DBSTATUS_CACHE_HIT, SQLITE_DBSTATUS_CACHE_MISS].reduce(0) { sum, counter in
      var (count, most): (Int32, Int32) = (0, 0)
      sqlite3_db_status(database.sqliteConnection, counter, &count, &most, 1)
      return sum + Int(count)
    }
  }

  // MARK: Reading

  func packedNode(_ path: ArraySlice<UInt8>) throws -> Node? {
    if unpacked.contains(path) { return nil }
    if let value = try statements().select.value(path) ?? long?.value(path) {
      do throws(BinaryReader.Failure) {
        if case .packed(let node) = try NodeRow.decode(value[...], key: path) { return node }
      } catch {
        throw DamagedData(key: path, by: error)
      }
    }
    unpacked.insert(path)
    return nil
  }

  /// Whether there are rows below a path, not counting that of the path itself.
  private func hasRows(below path: ArraySlice<UInt8>) throws -> Bool {
    if try statements().find.hasRow(path, RowPath.end(of: path)) { return true }
    return try long?.hasRows(below: path) == true
  }

  // MARK: Long rows

  /// Makes many changes, at a cost that does not grow with the length of the rows beside them.
  ///
  /// All other uses of the table have to wait.
  ///
  /// - Parameters:
  ///   - bytes: The length of a value beyond which its row is long.
  ///   - changes: The number of changes after which the rows are moved.
  ///   - body: Makes the changes.
  /// - Returns: The result of the body.
  /// - Throws: Any error of the body or the database, which makes the table unusable in this
  ///   transaction.
  func withLongRowsApart<Result>(
    longerThan bytes: Int,
    after changes: Int,
    _ body: () throws -> Result
  ) throws -> Result {
    separation = (bytes, changes)
    let result = try body()
    separation = nil
    try long?.putBack()
    long = nil
    return result
  }

  private func count(_ rows: Int = 0) throws {
    changeCount += 1
    addedRows += rows
    guard let separation, long == nil, changeCount > separation.changes else { return }
    long = try LongRows(of: table, longerThan: separation.longBytes, database)
  }

  private func encode(_ node: Node, at path: ArraySlice<UInt8>) throws -> ArraySlice<UInt8> {
    let value = try NodeRow.encode(node, key: path)
    longestWritten = max(longestWritten, value.count)
    return value[...]
  }

  // MARK: Changing

  func insert(_ node: Node, at path: ArraySlice<UInt8>) throws {
    unpacked.remove(path)
    try insert(encode(node, at: path), at: path)
  }

  func insert(branchPriority: LeafValue, at path: ArraySlice<UInt8>) throws {
    let value = try NodeRow.encode(branchPriority: branchPriority, key: path)
    try statements().insert.execute(path, value[...])
    try count(1)
  }

  func insertWhereRowsAreBelow(branchPriority: LeafValue, at path: ArraySlice<UInt8>) throws {
    if try hasRows(below: path) { try insert(branchPriority: branchPriority, at: path) }
  }

  func replace(_ node: Node, at path: ArraySlice<UInt8>) throws {
    let value = try encode(node, at: path)
    if long != nil {
      try remove(path)
      return try insert(value, at: path)
    }
    try statements().replace.execute(path, value)
    try count()
  }

  func replaceAll(from path: ArraySlice<UInt8>, by node: Node) throws {
    let value = try encode(node, at: path)
    // There are no rows below a packed row, so one search is enough for most changes.
    if long == nil, try statements().replace.execute(path, value) > 0 { return try count() }
    try removeAll(from: path)
    unpacked.remove(path)
    try insert(value, at: path)
  }

  /// Inserts an encoded row.
  func insert(_ value: ArraySlice<UInt8>, at path: ArraySlice<UInt8>) throws {
    if try long?.insertIfLong(value, at: path) != true {
      try statements().insert.execute(path, value)
    }
    try count(1)
  }

  func prune(_ paths: [ArraySlice<UInt8>]) throws {
    for path in paths {
      if try hasRows(below: path) { return }
      try remove(path)
    }
  }

  func remove(_ path: ArraySlice<UInt8>) throws {
    try count(-(statements().remove.execute(path) + (long?.remove(path) ?? 0)))
  }

  func removeAll(from path: ArraySlice<UInt8>) throws {
    let rows = try statements().removeRange.execute(path, RowPath.end(of: path))
    try count(-(rows + (long?.removeAll(from: path) ?? 0)))
  }
}

/// Remembers the paths of some rows, and forgets one when another takes its slot.
///
/// Neighbours in the tree have the same paths above them, so a few slots are enough. Comparing the
/// bytes of one path is quicker than hashing them all for a set.
private struct PathCache {
  private var slots = [ArraySlice<UInt8>?](repeating: nil, count: 64)

  func contains(_ path: ArraySlice<UInt8>) -> Bool {
    guard let other = slots[slot(of: path)], other.count == path.count else { return false }
    return path.withUnsafeBytes { bytes in
      other.withUnsafeBytes { other in
        guard let left = bytes.baseAddress, let right = other.baseAddress else { return true }
        // Safety: both have as many bytes, as was just checked.
        return memcmp(left, right, bytes.count) == 0
      }
    }
  }

  mutating func insert(_ path: ArraySlice<UInt8>) {
    slots[slot(of: path)] = path
  }

  mutating func remove(_ path: ArraySlice<UInt8>) {
    slots[slot(of: path)] = nil
  }

  /// The slot for a path, which its length and its last bytes decide.
  private func slot(of path: ArraySlice<UInt8>) -> Int {
    path.suffix(4).reduce(path.count) { $0 &* 31 &+ Int($1) } & (slots.count - 1)
  }
}

/// A statement about the rows of a table that is bound and stepped directly.
///
/// For rows of a few hundred bytes, the library would spend most of the time on objects for
/// arguments and values.
struct RowStatement {
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

  /// Runs a statement that returns no rows.
  ///
  /// - Returns: How many rows it has changed.
  @discardableResult
  func execute(_ first: ArraySlice<UInt8>, _ second: ArraySlice<UInt8>? = nil) throws -> Int {
    _ = try step(first, second)
    return Int(sqlite3_changes(database.sqliteConnection))
  }

  /// Whether the statement finds a row.
  func hasRow(_ first: ArraySlice<UInt8>, _ second: ArraySlice<UInt8>) throws -> Bool {
    try step(first, second)
  }

  /// The first column of the first row, or nil if there is none.
  func value(_ first: ArraySlice<UInt8>) throws -> [UInt8]? {
    var value: [UInt8]?
    _ = try step(first, nil) {
      // Safety: SQLite keeps the bytes of a column until the reset; they are copied before that.
      let blob = sqlite3_column_blob(handle, 0)
      let count = Int(sqlite3_column_bytes(handle, 0))
      value = Array(UnsafeRawBufferPointer(start: blob, count: blob == nil ? 0 : count))
    }
    return value
  }

  /// Binds the arguments and steps once.
  private func step(
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
