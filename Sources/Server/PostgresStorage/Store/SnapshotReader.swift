import RealtimeCore
import RealtimeServer

/// Reads a snapshot of a database, in a read-only transaction that waits for no other transaction.
struct SnapshotReader {
  private let connection: PostgresConnection
  private let database: Int64
  private let origin: String

  /// Runs a closure on one snapshot.
  ///
  /// - Throws: ``PostgresFailure``, or any error of the closure.
  static func read<Result>(
    _ connection: PostgresConnection,
    database: Int64,
    origin: String,
    body: (SnapshotReader) throws -> Result
  ) throws -> Result {
    try connection.transact(
      beginningWith: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
      within: .seconds(10)
    ) {
      // Building part of the tree may take longer than PostgreSQL's default idle timeout.
      try connection.query(
        "SELECT set_config('idle_in_transaction_session_timeout', '0', true)",
        within: .seconds(10)
      )
      return try body(
        SnapshotReader(connection: connection, database: database, origin: origin)
      )
    }
  }

  // MARK: The tree

  /// The last commit, how far the log has been folded into the nodes, and the number of their rows.
  typealias Position = (revision: Int64, fold: FoldProgress, rows: Int64)

  func position() throws -> Position {
    let rows = try query(
      """
      SELECT h.revision, f.revision, f.target, f.applied, f.rows
      FROM hearth.log h JOIN hearth.folds f USING (database) WHERE h.database = $1
      ORDER BY h.batch DESC LIMIT 1
      """
    )
    guard rows.count == 1 else {
      throw StoreError(.missing, description: "\(origin): there is no such database")
    }
    return (
      rows.integer(0, column: 0),
      FoldProgress(
        revision: rows.integer(0, column: 1),
        target: rows.integer(0, column: 2),
        applied: Int(rows.integer(0, column: 3))
      ),
      rows.integer(0, column: 4)
    )
  }

  /// Passes on the rows of the nodes in path order, chunk by chunk.
  func forEachChunk(_ body: (NodeRows) throws -> Void) throws -> Int64 {
    var chunk = NodeRows()
    let count = try forEachRow { path, value in
      chunk.append(path: path, value: value)
      if chunk.isFull {
        try body(chunk)
        chunk = NodeRows()
      }
    }
    if !chunk.isEmpty { try body(chunk) }
    return count
  }

  private func forEachRow(
    _ body: (_ path: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> Void
  ) throws -> Int64 {
    var count: Int64 = 0
    try connection.copyOut(
      """
      COPY (SELECT path, value FROM hearth.nodes WHERE database = \(database) ORDER BY path)
      TO STDOUT (FORMAT binary)
      """
    ) { columns in
      guard columns.count == 2, let path = columns[0], let value = columns[1] else { return }
      count += 1
      try body(path, value)
    }
    return count
  }

  /// The whole content of the snapshot, with the tree as rows that are read on request.
  ///
  /// Commits that are only in the log are held in memory, as the row changes that result from them.
  ///
  /// - Throws: `StoreError` when there is no such database, `DamagedData`, or ``PostgresFailure``.
  func rows() throws -> StoredRows {
    let position = try position()
    var changes = CoalescedChanges()
    try forEachUnfolded(at: position) { changes.add($0) }
    let overlay = RowOverlay(above: self)
    try overlay.apply(changes.changes)
    return StoredRows(beside: try tree(at: position)) { body in
      let report = StorageProgress.report
      var merge = overlay.merge()
      var done = 0
      func follow(_ chunk: NodeRows) throws {
        try body(chunk)
        done += chunk.count
        report?(done, Int(position.rows))
      }
      try StoreError.translatingStorage(at: origin) {
        let count = try forEachRow { try merge.add(path: $0, value: $1, to: follow) }
        try requireRows(count, expected: position.rows)
        try merge.finish(to: follow)
      }
    }
  }

  private func requireRows(_ count: Int64, expected: Int64) throws(DamagedData) {
    guard count != expected else { return }
    throw DamagedData("it has \(count) data rows instead of \(expected)")
  }

  /// Passes on the changes that are not in the nodes, in order.
  private func forEachUnfolded(at position: Position, _ body: (Change) -> Void) throws {
    let last = try forEachUnfolded(after: position.fold, body)
    guard last == position.revision else {
      throw DamagedData("commit \(last + 1) is missing")
    }
  }

  /// Reads everything, or only the commits since what is known if the log still has them.
  ///
  /// The number of rows is reported before they are read.
  ///
  /// - Throws: `StoreError` when there is no such database, `DamagedData`, or ``PostgresFailure``.
  /// - Complexity: O(size); with what is known, O(changes since then) unless the log is too short
  func load(since known: StoredTree? = nil, _ report: (Int) -> Void = { _ in }) throws -> StoredTree
  {
    let position = try position()
    let lineage = try lineage()
    let advanced = try known.flatMap { known in
      known.lineage == lineage ? try advance(known, to: position.revision) : nil
    }
    return try tree(advanced ?? root(at: position, report), at: position, lineage: lineage)
  }

  /// A tree with what the snapshot has beside the data.
  private func tree(
    _ root: Node = .empty,
    at position: Position,
    lineage: String? = nil
  ) throws -> StoredTree {
    StoredTree(
      root: root,
      revision: position.revision,
      ledger: try ledger(),
      sessions: try sessions(),
      rules: try rules(),
      lineage: lineage
    )
  }

  /// The data as the nodes and the log have it.
  private func root(at position: Position, _ report: (Int) -> Void) throws -> Node {
    report(Int(position.rows))
    let decoder = RowDecoder()
    let count: Int64
    do {
      count = try forEachChunk { decoder.add($0) }
    } catch {
      _ = try? decoder.finish()
      throw error
    }
    var root = try decoder.finish()
    try requireRows(count, expected: position.rows)
    try forEachUnfolded(at: position) { root.update(at: $0.path, to: $0.node) }
    return root
  }

  /// The data after the commits since a known one; nil if the log lacks any of them.
  private func advance(_ known: StoredTree, to revision: Int64) throws -> Node? {
    var (root, last) = (known.root, known.revision)
    guard last < revision else { return last == revision ? root : nil }
    try forEachStoredBatch(after: last, through: revision) { commits in
      for commit in commits where commit.revision == last + 1 {
        for change in commit.changes { root.update(at: change.path, to: change.node) }
        last += 1
      }
    }
    return last == revision ? root : nil
  }

  /// Names the database and the history that PostgreSQL is writing.
  ///
  /// A promoted standby may lack what was stored, and goes on with other commits.
  private func lineage() throws -> String {
    let rows = try connection.query("SELECT timeline || ' ' || start FROM hearth.history()")
    return "\(database) \(rows.text(0, column: 0))"
  }

  // MARK: Beside the tree

  func ledger() throws -> [LedgerEntry] {
    let rows = try query(
      """
      SELECT DISTINCT ON (owner, client) owner, client, up_to, refused, last_seen
      FROM hearth.ledger WHERE database = $1 ORDER BY owner, client, batch DESC
      """
    )
    return try (0..<rows.count).map { row in
      try LedgerCoding.entry(
        owner: rows.text(row, column: 0),
        client: rows.text(row, column: 1),
        upTo: rows.integer(row, column: 2),
        refused: rows.text(row, column: 3),
        lastSeen: rows.integer(row, column: 4)
      )
    }
  }

  func sessions() throws -> [StoredSession] {
    let rows = try query("SELECT id, identity FROM hearth.sessions WHERE database = $1 ORDER BY id")
    var found = SessionRows()
    for row in 0..<rows.count {
      try found.add(rows.integer(row, column: 0), from: rows.bytes(row, column: 1))
    }
    let writes = try query(
      """
      SELECT session, path, value FROM hearth.scheduled WHERE database = $1 ORDER BY session, path
      """
    )
    for row in 0..<writes.count {
      try found.addWrite(
        of: writes.integer(row, column: 0),
        at: writes.text(row, column: 1),
        from: writes.bytes(row, column: 2)
      )
    }
    return found.sessions
  }

  func rules() throws -> String? {
    let rows = try query("SELECT source FROM hearth.rules WHERE database = $1")
    return rows.count == 0 ? nil : try RulesCoding.decode(rows.bytes(0, column: 0))
  }

  /// Runs a statement whose first parameter is the number of the database.
  private func query(_ sql: String, _ others: [PostgresValue] = []) throws -> PostgresRows {
    try connection.query(sql, with: [.integer(database)] + others)
  }
}

extension SnapshotReader {
  /// Reads everything, and lists all damage.
  ///
  /// - Throws: An error of PostgreSQL, when the database cannot be read.
  func check() throws -> StoreCheck {
    var check = StoreCheck()
    let position = try self.position()
    check.revision = position.revision
    var walk = RowWalk(BranchCheck())
    let count = try forEachChunk { chunk in
      chunk.forEachRow { key, value in
        check.rowCount += 1
        do {
          try walk.add(try NodeRow.decode(value, key: key), at: key)
        } catch {
          check.add("\(origin): \(DamagedData(key: key, by: error).description)")
        }
      }
    }
    if try walk.finish().hasBarePriority { check.add("\(origin): a priority has no node") }
    if count != position.rows {
      check.add("\(origin): it has \(count) data rows instead of \(position.rows)")
    }
    try report(in: &check) { check in
      var last = position.fold.revision
      try forEachBatch(after: position.fold.revision) { commits in
        check.batchCount += 1
        last = commits.last?.revision ?? last
      }
      if last != position.revision { check.add("\(origin): commit \(last + 1) is missing") }
    }
    try report(in: &check) { _ in _ = try ledger() }
    try report(in: &check) { _ in _ = try sessions() }
    try report(in: &check) { _ in _ = try rules() }
    return check
  }

  /// Runs part of the check, and lists any damage as a fault.
  private func report(
    in check: inout StoreCheck,
    _ body: (inout StoreCheck) throws -> Void
  ) throws {
    do {
      try body(&check)
    } catch let error as DamagedData {
      check.add("\(origin): \(error.description)")
    }
  }
}

extension SnapshotReader: CommitLog {
  func forEachLogRow(
    after revision: Int64,
    through last: Int64,
    _ body: (Int64, [UInt8]) throws -> Void
  ) throws {
    try connection.copyOut(
      """
      COPY (SELECT revision, payload FROM hearth.log WHERE database = \(database)
        AND revision > \(revision) AND revision <= \(last) AND payload IS NOT NULL ORDER BY batch)
      TO STDOUT (FORMAT binary)
      """
    ) { columns in
      guard columns.count == 2, let number = columns[0], let payload = columns[1] else { return }
      try body(number.reduce(Int64(0)) { $0 << 8 | Int64($1) }, Array(payload))
    }
  }
}

extension SnapshotReader: RowTable {
  /// How many paths are read at a time.
  private static let width = 256

  func values(at paths: [ArraySlice<UInt8>]) throws -> [ArraySlice<UInt8>: [UInt8]] {
    let rows = try query(
      "SELECT path, value FROM hearth.nodes WHERE database = $1 AND path = ANY ($2)",
      [.byteArrays(paths.map { Array($0) })]
    )
    var values: [ArraySlice<UInt8>: [UInt8]] = [:]
    for row in 0..<rows.count {
      values[rows.bytes(row, column: 0)[...]] = rows.bytes(row, column: 1)
    }
    return values
  }

  func paths(from first: ArraySlice<UInt8>, before end: ArraySlice<UInt8>) throws -> [[UInt8]] {
    let rows = try query(
      """
      SELECT path FROM hearth.nodes WHERE database = $1 AND path >= $2 AND path < $3 ORDER BY path
      LIMIT \(Self.width)
      """,
      [.bytes(Array(first)), .bytes(Array(end))]
    )
    return (0..<rows.count).map { rows.bytes($0, column: 0) }
  }
}
