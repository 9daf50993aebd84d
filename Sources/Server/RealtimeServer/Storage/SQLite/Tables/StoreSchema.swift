import GRDB

/// The tables of a store, and how its file is recognized.
enum StoreSchema {
  /// The mark in the header of the file, "Hrth".
  static let applicationID: Int32 = 0x4872_7468
  /// The version of the tables; files of a higher version are left alone.
  static let version: Int32 = 6

  /// The size to which the write-ahead log is truncated once its content is in the file.
  private static let journalBytes = 64 * 1_024 * 1_024

  /// Whether a database is a store; false if it has no content, and an error if it is neither.
  static func isStore(_ database: Database) throws -> Bool {
    let other = "it is the SQLite database of another program"
    return try !isNew(database, otherwiseOf: (applicationID, version), butFor: other)
  }

  /// Whether a database has no content; if it has, it must be of a kind and not of a newer version.
  ///
  /// - Throws: ``DamagedData`` when it is not, which says so as given for another kind.
  static func isNew(
    _ database: Database,
    otherwiseOf kind: (id: Int32, version: Int32),
    butFor other: String
  ) throws -> Bool {
    let id = try Int32.fetchOne(database, sql: "PRAGMA application_id") ?? 0
    let version = try Int32.fetchOne(database, sql: "PRAGMA user_version") ?? 0
    if id == 0, version == 0, try isEmpty(database) { return true }
    guard id == kind.id else { throw DamagedData(other) }
    guard version <= kind.version else {
      throw DamagedData(
        "it was written by a newer version of this program (format \(version), here \(kind.version))"
      )
    }
    return false
  }

  /// Whether a database has no content.
  ///
  /// A first start that was interrupted may have left the empty table of migrations.
  private static func isEmpty(_ database: Database) throws -> Bool {
    let tables = try Set(String.fetchAll(database, sql: "SELECT tbl_name FROM sqlite_master"))
    if tables == ["grdb_migrations"] {
      return try Int.fetchOne(database, sql: "SELECT COUNT(*) FROM grdb_migrations") == 0
    }
    return tables.isEmpty
  }

  /// Checks that a file is empty or a store, before anything is written to it.
  static func identify(at path: String) throws {
    do {
      let reader = try openReader(path: path)
      _ = try reader.read(isStore)
      try reader.close()
    } catch let error as DatabaseError
      where error.extendedResultCode == .SQLITE_READONLY_ROLLBACK
    {
      // The first start was interrupted; only a connection that may write can roll it back.
      let queue = try DatabaseQueue(path: path)
      _ = try queue.read(isStore)
      try queue.close()
    }
  }

  /// The migrations from an empty file to the current tables.
  static var migrator: DatabaseMigrator { DatabaseMigrator(migrations) }

  private static let migrations: KeyValuePairs = [
    "log, nodes, ledger": """
    CREATE TABLE log (revision INTEGER PRIMARY KEY, payload BLOB NOT NULL);
    CREATE TABLE nodes (path BLOB PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
    CREATE TABLE ledger (
      client BLOB PRIMARY KEY, up_to INTEGER NOT NULL, refused TEXT NOT NULL,
      last_seen INTEGER NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE state (folded_revision INTEGER NOT NULL);
    INSERT INTO state VALUES (0);
    PRAGMA application_id = \(applicationID);
    PRAGMA user_version = \(version);
    """,
    "sessions": """
    CREATE TABLE sessions (id INTEGER PRIMARY KEY, changes BLOB NOT NULL);
    PRAGMA user_version = \(version);
    """,
    "rules": """
    CREATE TABLE rules (id INTEGER PRIMARY KEY CHECK (id = 1), source BLOB NOT NULL);
    PRAGMA user_version = \(version);
    """,
    "folds in several steps": """
    ALTER TABLE state ADD COLUMN target_revision INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE state ADD COLUMN applied_changes INTEGER NOT NULL DEFAULT 0;
    PRAGMA user_version = \(version);
    """,
    "owners of ledger entries": """
    ALTER TABLE ledger RENAME TO unowned;
    CREATE TABLE ledger (
      owner BLOB NOT NULL, client BLOB NOT NULL, up_to INTEGER NOT NULL,
      refused TEXT NOT NULL, last_seen INTEGER NOT NULL, PRIMARY KEY (owner, client)
    ) WITHOUT ROWID;
    INSERT INTO ledger SELECT x'', client, up_to, refused, last_seen FROM unowned;
    DROP TABLE unowned;
    PRAGMA user_version = \(version);
    """,
    "a row for each scheduled write": """
    CREATE TABLE scheduled (
      session INTEGER NOT NULL, path BLOB NOT NULL, value BLOB NOT NULL,
      PRIMARY KEY (session, path)
    ) WITHOUT ROWID;
    PRAGMA user_version = \(version);
    """,
    // Earlier versions of the program can still use the file: they leave this table alone.
    "batches without commits": """
    CREATE TABLE batches (without_commits INTEGER NOT NULL);
    INSERT INTO batches VALUES (0);
    """,
    // If an earlier version has used the file since, the count belongs to another fold and is
    // ignored.
    "number of rows": """
    ALTER TABLE state ADD COLUMN node_rows INTEGER;
    ALTER TABLE state ADD COLUMN counted_folded INTEGER;
    ALTER TABLE state ADD COLUMN counted_target INTEGER;
    ALTER TABLE state ADD COLUMN counted_applied INTEGER;
    """,
  ]

  /// How many milliseconds connections wait while another program keeps the file locked.
  static let patience: Int32 = 5_000

  /// Opens a connection with write-ahead logging, and verifies that it has the requested
  /// durability.
  static func openWriter(
    path: String,
    synchronous: String,
    expecting level: Int
  ) throws -> DatabaseQueue {
    var configuration = Configuration()
    configuration.journalMode = .wal
    configuration.busyMode = .timeout(Double(patience) / 1_000)
    configuration.label = "SQLiteTreeStore"
    let queue = try DatabaseQueue(path: path, configuration: configuration)
    try queue.writeWithoutTransaction { database in
      // The library lowers the level when it turns on write-ahead logging, so this comes after
      // opening.
      try database.execute(sql: "PRAGMA synchronous = \(synchronous)")
      try database.execute(sql: "PRAGMA wal_autocheckpoint = 0")
      // Otherwise SQLite writes pages of zeros, which make commits larger.
      try database.execute(sql: "PRAGMA secure_delete = FAST")
      try database.execute(sql: "PRAGMA journal_size_limit = \(journalBytes)")
      let actual = try Int.fetchOne(database, sql: "PRAGMA synchronous")
      let mode = try String.fetchOne(database, sql: "PRAGMA journal_mode")
      guard actual == level, mode == "wal" else {
        throw StoreError(
          .failed,
          description:
            "\(path): the database refuses durable commits (journal \(mode ?? "?"), level"
            + " \(actual ?? -1))"
        )
      }
    }
    return queue
  }

  static func openReader(path: String) throws -> DatabaseQueue {
    var configuration = Configuration()
    configuration.readonly = true
    configuration.busyMode = .timeout(Double(patience) / 1_000)
    return try DatabaseQueue(path: path, configuration: configuration)
  }
}

extension DatabaseMigrator {
  /// Makes a migrator from the names of migrations and their statements.
  init(_ migrations: KeyValuePairs<String, String>) {
    self.init()
    for (name, sql) in migrations { registerMigration(name) { try $0.execute(sql: sql) } }
  }
}
