import GRDB
import RealtimeCore

/// Reads and changes single rows of a node table, within one transaction.
///
/// Nobody else changes the table meanwhile, so what was found out once need not be asked again.
final class NodeRowEditor {
  private struct Statements {
    let select: RowStatement
    let find: RowStatement
    let insert: RowStatement
    let remove: RowStatement
    let removeRange: RowStatement
  }

  private let database: Database
  private let file: String
  private let table: String
  private var prepared: Statements?
  /// Paths that are known to have no packed row.
  private var unpacked: Set<ArraySlice<UInt8>> = []
  /// How many rows have been written, and how many ranges of rows removed.
  private(set) var changeCount = 0
  /// How many rows have been inserted, less those that have been removed.
  private(set) var addedRows = 0

  init(_ database: Database, file: String, table: String) {
    self.database = database
    self.file = file
    self.table = table
  }

  private func statements() throws -> Statements {
    if let prepared { return prepared }
    let statements = Statements(
      select: try RowStatement(database, sql: "SELECT value FROM \(table) WHERE path = ?"),
      find: try RowStatement(
        database,
        sql: "SELECT 1 FROM \(table) WHERE path > ? AND path < ? LIMIT 1"
      ),
      insert: try RowStatement(
        database,
        sql: "INSERT INTO \(table) (path, value) VALUES (?, ?)"
      ),
      remove: try RowStatement(database, sql: "DELETE FROM \(table) WHERE path = ?"),
      removeRange: try RowStatement(
        database,
        sql: "DELETE FROM \(table) WHERE path >= ? AND path < ?"
      )
    )
    prepared = statements
    return statements
  }

  // MARK: Reading

  /// What a packed row holds, or nil when there is none at a path.
  func packedNode(_ path: ArraySlice<UInt8>) throws -> Node? {
    if unpacked.contains(path) { return nil }
    if let value = try statements().select.value(path) {
      do throws(BinaryReader.Failure) {
        if case .packed(let node) = try NodeTable.decode(value[...], key: path) { return node }
      } catch {
        throw NodeTable.damaged(file, key: path, error)
      }
    }
    unpacked.insert(path)
    return nil
  }

  /// Whether there are rows below a path, that of the path itself not counted.
  func hasRows(below path: ArraySlice<UInt8>) throws -> Bool {
    try statements().find.hasRow(path, RowPath.end(of: path))
  }

  // MARK: Changing

  /// Inserts a packed row where there is none.
  func insert(_ node: Node, at path: ArraySlice<UInt8>) throws {
    var writer = BinaryWriter()
    try writer.write(node)
    unpacked.remove(path)
    try insert(&writer, at: path)
  }

  /// Inserts the row of a priority where there is none.
  func insert(branchPriority: LeafValue, at path: ArraySlice<UInt8>) throws {
    var writer = BinaryWriter()
    try writer.write(branchPriority: branchPriority)
    try insert(&writer, at: path)
  }

  private func insert(_ writer: inout BinaryWriter, at path: ArraySlice<UInt8>) throws {
    NodeTable.seal(&writer, key: path)
    try statements().insert.execute(path, writer.bytes[...])
    changeCount += 1
    addedRows += 1
  }

  /// Removes a row, if there is one.
  func remove(_ path: ArraySlice<UInt8>) throws {
    addedRows -= try statements().remove.execute(path)
    changeCount += 1
  }

  /// Removes all rows at a path and below it.
  func removeAll(from path: ArraySlice<UInt8>) throws {
    addedRows -= try statements().removeRange.execute(path, RowPath.end(of: path))
    changeCount += 1
  }
}
