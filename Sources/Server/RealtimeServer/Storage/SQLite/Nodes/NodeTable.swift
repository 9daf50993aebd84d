import GRDB
import RealtimeCore

/// The table with the rows of the tree.
struct NodeTable {
  /// The name of the table in the file.
  static let name = "nodes"

  private let database: Database
  private let table: String
  private let rows: NodeRowEditor

  /// - Parameters:
  ///   - database: A connection that may use the table at this time.
  ///   - table: The name of the table; any other than that in the file is a copy.
  init(_ database: Database, table: String = name) {
    self.database = database
    self.table = table
    rows = NodeRowEditor(database, table: table)
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

  // MARK: Changing

  /// The number of rows written, plus the number of ranges of rows removed.
  var changeCount: Int { rows.changeCount }

  /// The number of rows inserted, less those removed.
  var addedRows: Int { rows.addedRows }

  /// Changes the rows in the way that ``Node/update(at:to:)`` changes a node.
  func apply(_ change: Change) throws { try tree.apply(change) }

  /// Inserts rows of another table at paths without rows; it does not check that they are intact.
  func insert(_ chunk: NodeRows) throws {
    try chunk.forEachRow { try rows.insert($1, at: $0) }
  }

  /// Returns the number of pages that the connection has looked at since the last call.
  func takeVisitedPages() -> Int { rows.takeVisitedPages() }

  /// The length of the longest value written, in bytes.
  var longestWritten: Int { rows.longestWritten }

  /// Measures the rows with values of more than a number of bytes.
  ///
  /// - Complexity: O(rows)
  func extentOfRows(longerThan bytes: Int) throws -> LongRows.Extent {
    try LongRows.extent(of: table, longerThan: bytes, database)
  }

  /// Makes many changes, at a cost that does not grow with the length of the values beside them.
  ///
  /// A few changes are quick even beside a long value.
  func withLongRowsApart<Result>(
    longerThan bytes: Int = 16 * 1_024,
    after changes: Int = 100,
    _ body: () throws -> Result
  ) throws -> Result {
    try rows.withLongRowsApart(longerThan: bytes, after: changes, body)
  }

  /// The tree that the rows form.
  var tree: RowTree<NodeRowEditor> { RowTree(rows) }
}
