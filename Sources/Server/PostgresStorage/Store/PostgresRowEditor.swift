import RealtimeCore
import RealtimeServer

/// Reads and changes individual rows of the nodes, within one transaction.
///
/// Changes are collected and sent in groups. Their effect on packed rows is tracked here, so that
/// reading such a row later does not require a query.
final class PostgresRowEditor: RowEditor {
  private struct Known {
    let node: Node?
    /// The number of removed ranges at the time of this entry.
    let removals: Int
  }

  /// The maximum number of changes, and of their bytes, sent at once.
  private static let limit = (changes: 4_096, bytes: 4 * 1_024 * 1_024)

  private let connection: PostgresConnection
  private let database: Int64
  private var known: [ArraySlice<UInt8>: Known] = [:]
  /// The paths that have been removed with everything below them, each with the number of its last
  /// removal.
  private var removed: [ArraySlice<UInt8>: Int] = [:]
  private var removals = 0
  private var kinds: [UInt8] = []
  private var paths: [[UInt8]?] = []
  private var ends: [[UInt8]?] = []
  private var values: [[UInt8]?] = []
  private var bytes = 0
  /// The number of rows inserted, less those removed.
  private(set) var addedRows: Int64 = 0

  init(_ connection: PostgresConnection, database: Int64) {
    self.connection = connection
    self.database = database
  }

  // MARK: Reading

  /// Reads the rows at and above the paths of changes, so that they need not be queried one by one.
  func prefetch(_ changes: some Sequence<Change>) throws {
    let wanted = RowPath.concerned(by: changes).filter { path in
      known[path] == nil && lastRemoval(of: path) == nil
    }
    if !wanted.isEmpty { try read(Array(wanted)) }
  }

  func packedNode(_ path: ArraySlice<UInt8>) throws -> Node? {
    if let removal = lastRemoval(of: path), known[path].map({ $0.removals < removal }) ?? true {
      return nil
    }
    if let found = known[path] { return found.node }
    try flush()
    try read([path])
    return known[path]?.node
  }

  /// The number of the last removal that included a path.
  private func lastRemoval(of path: ArraySlice<UInt8>) -> Int? {
    guard removals > 0 else { return nil }
    var last = removed[[]]
    var end = path.startIndex
    while let slash = path[end...].firstIndex(of: UInt8(ascii: "/")) {
      end = slash + 1
      if let removal = removed[path[..<end]] { last = max(last ?? 0, removal) }
    }
    return last
  }

  private func read(_ paths: [ArraySlice<UInt8>]) throws {
    for path in paths { note(nil, at: path) }
    let rows = try connection.query(
      "SELECT path, value FROM hearth.nodes WHERE database = $1 AND path = ANY ($2)",
      with: [.integer(database), .byteArrays(paths.map { Array($0) })]
    )
    for row in 0..<rows.count {
      let path = rows.bytes(row, column: 0)[...]
      note(try NodeRow.packedNode(rows.bytes(row, column: 1), at: path), at: path)
    }
  }

  // MARK: Changing

  func insert(_ node: Node, at path: ArraySlice<UInt8>) throws {
    note(node, at: path)
    try add(.insert, at: path, value: NodeRow.encode(node, key: path))
  }

  func insert(branchPriority: LeafValue, at path: ArraySlice<UInt8>) throws {
    try add(.insert, at: path, value: NodeRow.encode(branchPriority: branchPriority, key: path))
  }

  func insertWhereRowsAreBelow(branchPriority: LeafValue, at path: ArraySlice<UInt8>) throws {
    let value = try NodeRow.encode(branchPriority: branchPriority, key: path)
    try add(.insertAbove, at: path, end: RowPath.end(of: path), value: value)
  }

  func remove(_ path: ArraySlice<UInt8>) throws {
    note(nil, at: path)
    try add(.remove, at: path)
  }

  func removeAll(from path: ArraySlice<UInt8>) throws {
    removals += 1
    removed[path] = removals
    try add(.removeAll, at: path, end: RowPath.end(of: path))
  }

  func prune(_ paths: [ArraySlice<UInt8>]) throws {
    for (index, path) in paths.enumerated() {
      try add(index == 0 ? .prune : .pruneAbove, at: path, end: RowPath.end(of: path))
    }
  }

  private func note(_ node: Node?, at path: ArraySlice<UInt8>) {
    known[path] = Known(node: node, removals: removals)
  }

  private func add(
    _ kind: LogStatements.Change,
    at path: ArraySlice<UInt8>,
    end: ArraySlice<UInt8>? = nil,
    value: [UInt8]? = nil
  ) throws {
    // A group of prunings is sent in one piece.
    let isFull = kinds.count >= Self.limit.changes || bytes >= Self.limit.bytes
    if isFull, kind != .pruneAbove { try flush() }
    kinds.append(kind.rawValue)
    paths.append(Array(path))
    ends.append(end.map { Array($0) })
    values.append(value)
    bytes += path.count * 2 + (value?.count ?? 0)
  }

  /// Sends the collected changes.
  func flush() throws {
    guard !kinds.isEmpty else { return }
    let isPlain = kinds.allSatisfy { $0 == LogStatements.Change.insert.rawValue }
    if isPlain {
      try connection.query(
        """
        INSERT INTO hearth.nodes
          SELECT $1, e.* FROM unnest($2, $3) AS e (path, value)
        """,
        with: [.integer(database), .byteArrays(paths), .byteArrays(values)]
      )
      addedRows += Int64(kinds.count)
    } else {
      let rows = try connection.query(
        "SELECT hearth.change_rows($1::integer, $2, $3, $4, $5)",
        with: [
          .integer(database), .bytes(kinds), .byteArrays(paths), .byteArrays(ends),
          .byteArrays(values),
        ]
      )
      addedRows += rows.integer(0, column: 0)
    }
    kinds.removeAll(keepingCapacity: true)
    paths.removeAll(keepingCapacity: true)
    ends.removeAll(keepingCapacity: true)
    values.removeAll(keepingCapacity: true)
    bytes = 0
  }
}
