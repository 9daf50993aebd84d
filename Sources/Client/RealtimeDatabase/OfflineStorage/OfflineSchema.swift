import GRDB
import RealtimeSync

/// What the file of a store looks like, and how it is told from other files.
enum OfflineSchema {
  /// The mark in the header of the file, "RtOf".
  private static let applicationID: Int32 = 0x5274_4F66
  /// The version of the tables.
  private static let version: Int32 = 2

  /// Opens a file and makes its tables where it is empty.
  ///
  /// - Parameter path: The path of the file.
  /// - Returns: A connection that writes ahead.
  /// - Throws: ``OfflineStoreError`` for a file of another program; what SQLite reports otherwise.
  static func open(_ path: String) throws -> DatabaseQueue {
    var configuration = Configuration()
    configuration.label = "SQLiteOfflineStore"
    configuration.busyMode = .timeout(5)
    let queue = try DatabaseQueue(path: path, configuration: configuration)
    try queue.writeWithoutTransaction { database in
      let isEmpty = try Int.fetchOne(database, sql: "SELECT COUNT(*) FROM sqlite_master") == 0
      // Has an effect only before there are tables.
      if isEmpty { try database.execute(sql: "PRAGMA auto_vacuum = INCREMENTAL") }
      try database.execute(sql: "PRAGMA journal_mode = WAL")
      // Copied by itself, it would not tell that the disk has failed.
      try database.execute(sql: "PRAGMA wal_autocheckpoint = 0")
      if isEmpty {
        try database.inTransaction {
          try create(database)
          return .commit
        }
      } else {
        try check(database, path: path)
      }
    }
    return queue
  }

  private static func check(_ database: GRDB.Database, path: String) throws {
    let id = try Int32.fetchOne(database, sql: "PRAGMA application_id")
    let version = try Int32.fetchOne(database, sql: "PRAGMA user_version")
    guard id == applicationID, let version, (1...Self.version).contains(version) else {
      throw OfflineStoreError(
        .unavailable,
        "\(path) is a database of another program, or of another version of this one"
      )
    }
    let answer = try String.fetchOne(database, sql: "PRAGMA quick_check(1)") ?? ""
    guard answer == "ok" else {
      throw GRDB.DatabaseError(resultCode: .SQLITE_CORRUPT, message: answer)
    }
    if version == 1 { try addOwners(database) }
  }

  /// Brings a file up to date that was made when writes had no owners.
  private static func addOwners(_ database: GRDB.Database) throws {
    try database.inTransaction {
      try database.execute(
        sql: "ALTER TABLE writes ADD COLUMN owner TEXT; PRAGMA user_version = \(version);"
      )
      return .commit
    }
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
