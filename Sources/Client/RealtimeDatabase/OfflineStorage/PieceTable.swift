import GRDB
import RealtimeCore

/// The data of queries: for each a whole, and the changes since, in their order.
struct PieceTable {
  /// How large the data of a query are as text.
  struct Size {
    /// The whole.
    var whole = 0
    /// The changes since.
    var changes = 0
  }

  private let database: GRDB.Database

  init(_ database: GRDB.Database) {
    self.database = database
  }

  /// The sizes of all queries.
  func sizes() throws -> [Int64: Size] {
    let rows = try Row.fetchAll(
      database,
      sql: """
        SELECT query, SUM(LENGTH(node)) AS total, SUM(LENGTH(node) * (path = '[]')) AS whole
        FROM pieces GROUP BY query
        """
    )
    return Dictionary(
      uniqueKeysWithValues: rows.map { row in
        let whole: Int = row["whole"]
        return (row["query"], Size(whole: whole, changes: row["total"] - whole))
      }
    )
  }

  /// The data of a query, or nil when there are none.
  ///
  /// - Complexity: O(size)
  func data(of query: Int64) throws -> Node? {
    var node: Node?
    let rows = try Row.fetchCursor(
      database,
      sql: "SELECT path, node FROM pieces WHERE query = ? ORDER BY sequence",
      arguments: [query]
    )
    while let row = try rows.next() {
      var whole = node ?? .empty
      // Given up, so that the change is made in place.
      node = nil
      whole.update(at: try JSONText.path(row["path"]), to: try JSONText.node(row["node"]))
      node = whole
    }
    return node
  }

  /// Keeps these data and no others.
  ///
  /// - Returns: Their size as text.
  func replace(_ query: Int64, with node: Node) throws -> Int {
    try remove(query)
    return try append(query, Change(.root, node))
  }

  /// Keeps a change of the data.
  ///
  /// - Returns: Its size as text.
  func append(_ query: Int64, _ change: Change) throws -> Int {
    let text = JSONText.text(change.node)
    try database.cachedStatement(sql: "INSERT INTO pieces (query, path, node) VALUES (?, ?, ?)")
      .execute(arguments: [query, JSONText.text(change.path), text])
    return text.utf8.count
  }

  /// Removes the data of a query.
  func remove(_ query: Int64) throws {
    try database.cachedStatement(sql: "DELETE FROM pieces WHERE query = ?")
      .execute(arguments: [query])
  }
}
