import GRDB

/// The long rows of a node table, in a temporary table while many other rows are written.
///
/// SQLite keeps the path and the value of a row together, and compares a path with that of a long
/// row by reading all of both. So every row that is searched for nearby would read the long one
/// again. This table is searched by an index of its paths instead.
final class LongRows {
  /// The long rows of a table taken together.
  struct Extent {
    /// The bytes of all of their values.
    var total = 0
    var longest = 0

    /// The most bytes that are moved: others wait for as long as that takes.
    private static let mostBytes = 64 * 1_024 * 1_024

    /// Whether it costs less to move them twice than to let many changes read one of them each.
    func areWorthMoving(for changes: Int) -> Bool {
      total <= Self.mostBytes && longest * (changes / 8) > total
    }
  }

  private static let name = "temp.long_rows"

  private let database: Database
  private let table: String
  /// The length of a value beyond which its row is long, in bytes.
  private let longBytes: Int
  /// The statements about the rows that have been moved.
  let rows: RowStatements

  /// Measures the rows of a table with values of more than a number of bytes.
  ///
  /// - Complexity: O(rows)
  static func extent(
    of table: String,
    longerThan bytes: Int,
    _ database: Database
  ) throws -> Extent {
    let row = try Row.fetchOne(
      database,
      sql: """
        SELECT coalesce(sum(length(value)), 0), coalesce(max(length(value)), 0) FROM \(table)
          WHERE length(value) > ?
        """,
      arguments: [bytes]
    )
    return Extent(total: row?[0] ?? 0, longest: row?[1] ?? 0)
  }

  /// Moves the rows with values of more than a number of bytes out of a table.
  ///
  /// - Complexity: O(rows), and O(bytes of the long ones)
  init(of table: String, longerThan longBytes: Int, _ database: Database) throws {
    let name = Self.name
    try database.execute(
      sql: """
        CREATE TABLE \(name) (path BLOB NOT NULL UNIQUE, value BLOB NOT NULL);
        INSERT INTO \(name) SELECT path, value FROM \(table)
          WHERE length(value) > \(longBytes) AND substr(value, 1, 1) <> x'80';
        DELETE FROM \(table) WHERE path IN (SELECT path FROM \(name));
        """
    )
    self.database = database
    self.table = table
    self.longBytes = longBytes
    rows = try RowStatements(database, table: name)
  }

  /// Moves the rows back into the table.
  func putBack() throws {
    try database.execute(
      sql: """
        INSERT INTO \(table) (path, value) SELECT path, value FROM \(Self.name) ORDER BY path;
        DROP TABLE \(Self.name);
        """
    )
  }

  /// Inserts a row if it is long, and returns whether it is.
  func insertIfLong(_ value: ArraySlice<UInt8>, at path: ArraySlice<UInt8>) throws -> Bool {
    guard value.count > longBytes else { return false }
    try rows.insert(value, at: path)
    return true
  }
}
