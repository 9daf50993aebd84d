#if OfflineStorage
import GRDB
import RealtimeCore

/// The schema of a store's file, and the marks that identify it.
enum OfflineSchema {
  /// The mark in the file's header, "RtOf".
  private static let applicationID: Int32 = 0x5274_4F66
  private static let version: Int32 = 2
  /// The highest version that a later program may write; a higher number is damage.
  private static let latestVersion: Int32 = 255

  /// Opens a file, and creates the tables if it is empty.
  ///
  /// - Returns: A connection in write-ahead mode.
  /// - Throws: ``OfflineStoreError`` for another program's file; otherwise SQLite's error.
  static func open(_ path: String) throws -> DatabaseQueue {
    var configuration = Configuration()
    configuration.label = "SQLiteOfflineStore"
    configuration.busyMode = .timeout(5)
    let queue = try DatabaseQueue(path: path, configuration: configuration)
    try queue.writeWithoutTransaction { database in
      let names = try String.fetchAll(database, sql: "SELECT name FROM sqlite_master ORDER BY name")
      let isEmpty = try names.isEmpty && Int.fetchOne(database, sql: "PRAGMA page_count") ?? 0 < 2
      // This has an effect only before the first table is created.
      if isEmpty { try database.execute(sql: "PRAGMA auto_vacuum = INCREMENTAL") }
      try database.execute(sql: "PRAGMA journal_mode = WAL")
      // SQLite's automatic checkpoints do not report a failing disk.
      try database.execute(sql: "PRAGMA wal_autocheckpoint = 0")
      if isEmpty {
        try database.inTransaction {
          try create(database)
          return .commit
        }
      } else {
        try check(database, names: names, path: path)
      }
      // The disk may have lost part of the previous process's log without reporting it again.
      // Durable writes must not follow such a gap.
      _ = try database.checkpoint(.truncate)
    }
    return queue
  }

  /// The writes of a damaged file that can still be sent; the file is not changed.
  static func readableWrites(of path: String) -> [StoredWrite] {
    var configuration = Configuration()
    configuration.readonly = true
    let writes = try? DatabaseQueue(path: path, configuration: configuration).read {
      try WriteTable(database: $0).readable()
    }
    return writes ?? []
  }

  /// Makes sure that the file is a store's and undamaged, and upgrades one of an earlier version.
  ///
  /// The marks are in the file's header. If they are damaged, the tables show what the file is.
  private static func check(
    _ database: GRDB.Database,
    names: [String],
    path: String
  ) throws {
    let id = try Int32.fetchOne(database, sql: "PRAGMA application_id")
    let version = try Int32.fetchOne(database, sql: "PRAGMA user_version") ?? 0
    let isOwn = id == applicationID
    let isNewer = isOwn && (Self.version + 1...latestVersion).contains(version)
    guard isOwn || names == ["pieces", "pieces_by_query", "queries", "writes"], !isNewer else {
      throw OfflineStoreError(
        .unavailable,
        description: "\(path) belongs to another program, or another version of this one"
      )
    }
    let answer = try String.fetchOne(database, sql: "PRAGMA quick_check(1)") ?? ""
    guard answer == "ok" else {
      throw GRDB.DatabaseError(resultCode: .SQLITE_CORRUPT, message: answer)
    }
    try database.inTransaction {
      // This changes nothing, and fails if the header forbids changes.
      try database.execute(sql: "DELETE FROM writes WHERE FALSE")
      if !isOwn || version != Self.version { try upgrade(database) }
      return .commit
    }
  }

  /// Upgrades a file of version 1, whose writes have no owners, and sets the marks.
  private static func upgrade(_ database: GRDB.Database) throws {
    if try !database.columns(in: "writes").contains(where: { $0.name == "owner" }) {
      try database.execute(sql: "ALTER TABLE writes ADD COLUMN owner TEXT")
    }
    try database.execute(
      sql: "PRAGMA application_id = \(applicationID); PRAGMA user_version = \(version);"
    )
  }

  private static func create(_ database: GRDB.Database) throws {
    try database.execute(
      sql: """
        CREATE TABLE writes (
          number INTEGER PRIMARY KEY, client TEXT NOT NULL, key INTEGER NOT NULL,
          path TEXT NOT NULL, operation TEXT NOT NULL, estimate TEXT, owner TEXT
        );
        CREATE TABLE queries (
          id INTEGER PRIMARY KEY, path TEXT NOT NULL, query TEXT NOT NULL,
          last_use INTEGER NOT NULL, is_complete INTEGER NOT NULL, is_kept INTEGER NOT NULL
        );
        CREATE TABLE pieces (
          sequence INTEGER PRIMARY KEY, query INTEGER NOT NULL, path TEXT NOT NULL,
          node TEXT NOT NULL
        );
        CREATE INDEX pieces_by_query ON pieces (query, sequence);
        PRAGMA application_id = \(applicationID);
        PRAGMA user_version = \(version);
        """
    )
  }
}

/// The writes that wait for an acknowledgement.
struct WriteTable {
  let database: GRDB.Database

  private func rows() throws -> [Row] {
    try Row.fetchAll(database, sql: "SELECT * FROM writes ORDER BY number")
  }

  func all() throws -> [StoredWrite] { try rows().map(Self.write) }

  /// The first writes of a damaged file, up to one that cannot be read.
  func readable() throws -> [StoredWrite] {
    let answer = try String.fetchOne(database, sql: "PRAGMA quick_check(writes)")
    guard answer == "ok" else { return [] }
    var writes: [StoredWrite] = []
    for row in try rows() {
      guard let write = try? Self.write(row) else { break }
      writes.append(write)
    }
    return writes
  }

  private static func write(_ row: Row) throws -> StoredWrite {
    let operation = try JSONText.operation(row.decode(forColumn: "operation"))
    let estimate: String? = try row.decode(forColumn: "estimate")
    return StoredWrite(
      number: try row.decode(forColumn: "number"),
      key: WriteKey(
        client: try row.decode(forColumn: "client"),
        number: try row.decode(forColumn: "key")
      ),
      path: try JSONText.path(row.decode(forColumn: "path")),
      operation: operation,
      estimate: try estimate.map(JSONText.operation) ?? operation,
      owner: try row.decode(forColumn: "owner")
    )
  }

  /// Adds a write, or replaces the one with the same number.
  func save(_ write: StoredWrite) throws {
    let estimate = write.estimate == write.operation ? nil : JSONText.text(write.estimate)
    try database.cachedStatement(
      sql: "INSERT OR REPLACE INTO writes VALUES (?, ?, ?, ?, ?, ?, ?)"
    ).execute(arguments: [
      write.number, write.key.client, write.key.number, JSONText.text(write.path),
      JSONText.text(write.operation), estimate, write.owner,
    ])
  }

  func remove(_ number: Int64) throws {
    try database.cachedStatement(sql: "DELETE FROM writes WHERE number = ?")
      .execute(arguments: [number])
  }
}

/// The queries whose data is kept.
struct QueryTable {
  let database: GRDB.Database

  func all() throws -> [TrackedQuery] {
    try Row.fetchAll(database, sql: "SELECT * FROM queries ORDER BY id").map { row in
      TrackedQuery(
        id: try row.decode(forColumn: "id"),
        path: try JSONText.path(row.decode(forColumn: "path")),
        query: try JSONText.query(row.decode(forColumn: "query")),
        lastUse: try row.decode(forColumn: "last_use"),
        isComplete: try row.decode(forColumn: "is_complete"),
        isKept: try row.decode(forColumn: "is_kept")
      )
    }
  }

  /// Adds a query, or replaces the one with the same number.
  func save(_ query: TrackedQuery) throws {
    try database.cachedStatement(
      sql: "INSERT OR REPLACE INTO queries VALUES (?, ?, ?, ?, ?, ?)"
    ).execute(arguments: [
      query.id, JSONText.text(query.path), JSONText.text(query.query), query.lastUse,
      query.isComplete, query.isKept,
    ])
  }

  func remove(_ id: Int64) throws {
    try database.cachedStatement(sql: "DELETE FROM queries WHERE id = ?").execute(arguments: [id])
  }
}

/// The data of queries: for each query, a base and the changes since, in order.
struct PieceTable {
  /// The sizes of a query's data as text.
  struct Size {
    var whole = 0
    var changes = 0
  }

  let database: GRDB.Database

  func sizes() throws -> [Int64: Size] {
    let rows = try Row.fetchAll(
      database,
      sql: """
        SELECT query, SUM(LENGTH(node)) AS total, SUM(LENGTH(node) * (path = '[]')) AS whole
        FROM pieces GROUP BY query
        """
    )
    return Dictionary(
      uniqueKeysWithValues: try rows.map { row in
        let whole: Int = try row.decode(forColumn: "whole")
        let total: Int = try row.decode(forColumn: "total")
        return (try row.decode(forColumn: "query"), Size(whole: whole, changes: total - whole))
      }
    )
  }

  /// The data of a query, or nil if there is none or a piece of it is damaged.
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
      // Released, so that the change happens in place.
      node = nil
      do {
        whole.update(
          at: try JSONText.path(row.decode(forColumn: "path")),
          to: try JSONText.node(row.decode(forColumn: "node"))
        )
      } catch {
        return nil
      }
      node = whole
    }
    return node
  }

  func replace(_ query: Int64, with node: Node) throws -> Int {
    try remove(query)
    return try append(Change(.root, to: node), to: query)
  }

  func append(_ change: Change, to query: Int64) throws -> Int {
    let text = JSONText.text(change.node)
    try database.cachedStatement(sql: "INSERT INTO pieces (query, path, node) VALUES (?, ?, ?)")
      .execute(arguments: [query, JSONText.text(change.path), text])
    return text.utf8.count
  }

  func remove(_ query: Int64) throws {
    try database.cachedStatement(sql: "DELETE FROM pieces WHERE query = ?")
      .execute(arguments: [query])
  }
}
#endif
