import GRDB
import GRDBSQLite
import Glibc
import RealtimeCore

/// The table with the rows of the tree, which it reads and changes within one transaction.
///
/// Nothing else may change the table during that time, so results can be cached.
final class NodeTable: RowEditor {
  static let name = "nodes"
  private let database: Database
  private let table: String
  private var prepared: RowStatements?
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

  /// A table that a connection may use at this time; any other than that in the file is a copy.
  init(_ database: Database, table: String = name) {
    self.database = database
    self.table = table
  }

  private func statements() throws -> RowStatements {
    if let prepared { return prepared }
    let statements = try RowStatements(database, table: table)
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

  /// Builds the tree of all rows.
  ///
  /// The rows are read on this thread and decoded by a second one, a few chunks behind.
  ///
  /// - Complexity: O(size)
  func load() throws -> Node {
    let decoder = RowDecoder()
    try NodeRows.forEachChunk(of: database, table: table) { decoder.add($0) }
    return try decoder.finish()
  }

  /// The number of rows, counted without reading them.
  ///
  /// - Complexity: O(pages)
  func rowCount() throws -> Int {
    try Int.fetchOne(database, sql: "SELECT COUNT(*) FROM \(table)") ?? 0
  }

  func packedNode(_ path: ArraySlice<UInt8>) throws -> Node? {
    if unpacked.contains(path) { return nil }
    if let value = try statements().value(path) ?? long?.rows.value(path),
      let node = try NodeRow.packedNode(value, at: path)
    {
      return node
    }
    unpacked.insert(path)
    return nil
  }

  private func hasRows(below path: ArraySlice<UInt8>) throws -> Bool {
    if try statements().hasRows(below: path) { return true }
    return try long?.rows.hasRows(below: path) == true
  }

  // MARK: Long rows

  /// Makes many changes, at a cost that does not grow with the length of the rows beside them.
  ///
  /// All other uses of the table have to wait. A few changes are quick even beside a long row.
  ///
  /// - Throws: Any error of the body or the database, which makes the table unusable in this
  ///   transaction.
  func withLongRowsApart<Result>(
    longerThan bytes: Int = 16 * 1_024,
    after changes: Int = 100,
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

  var tree: RowTree<NodeTable> { RowTree(self) }

  func apply(_ change: Change) throws { try tree.apply(change) }

  /// Inserts rows of another table at paths without rows; it does not check that they are intact.
  func insert(_ chunk: NodeRows) throws {
    try chunk.forEachRow { try insert($1, at: $0) }
  }

  func insert(_ node: Node, at path: ArraySlice<UInt8>) throws {
    unpacked.remove(path)
    try insert(encode(node, at: path), at: path)
  }

  func insert(branchPriority: LeafValue, at path: ArraySlice<UInt8>) throws {
    let value = try NodeRow.encode(branchPriority: branchPriority, key: path)
    try statements().insert(value[...], at: path)
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
    _ = try statements().replace(value, at: path)
    try count()
  }

  func replaceAll(from path: ArraySlice<UInt8>, by node: Node) throws {
    let value = try encode(node, at: path)
    // There are no rows below a packed row, so one search is enough for most changes.
    if long == nil, try statements().replace(value, at: path) > 0 { return try count() }
    try removeAll(from: path)
    unpacked.remove(path)
    try insert(value, at: path)
  }

  /// Inserts an encoded row.
  private func insert(_ value: ArraySlice<UInt8>, at path: ArraySlice<UInt8>) throws {
    if try long?.insertIfLong(value, at: path) != true {
      try statements().insert(value, at: path)
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
    try count(-(statements().remove(path) + (long?.rows.remove(path) ?? 0)))
  }

  func removeAll(from path: ArraySlice<UInt8>) throws {
    try count(-(statements().removeAll(from: path) + (long?.rows.removeAll(from: path) ?? 0)))
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
