import DurableFiles
import Foundation
import GRDB
import RealtimeHub

/// What the file of the accounts looks like, and how it is told from other files.
enum IdentitySchema {
  /// The mark in the header of the file, "Hrti".
  private static let applicationID: Int32 = 0x4872_7469
  /// The version of the tables; files of a higher one are not touched.
  private static let version: Int32 = 1

  /// Opens the file, with its tables as they are now and every commit durable.
  static func open(_ path: String) throws -> DatabaseQueue {
    let queue = try StoreSchema.openWriter(path: path, synchronous: "FULL", expecting: 2)
    do {
      try queue.read { try identify($0, path: path) }
      try queue.writeWithoutTransaction { database in
        try database.execute(sql: "PRAGMA wal_autocheckpoint = 1000")
        try database.execute(sql: "PRAGMA foreign_keys = ON")
      }
      try migrator.migrate(queue)
      return queue
    } catch {
      try? queue.close()
      throw error
    }
  }

  private static func identify(_ database: Database, path: String) throws {
    let id = try Int32.fetchOne(database, sql: "PRAGMA application_id") ?? 0
    let version = try Int32.fetchOne(database, sql: "PRAGMA user_version") ?? 0
    if id == 0, version == 0 {
      let tables = try Int.fetchOne(database, sql: "SELECT COUNT(*) FROM sqlite_master") ?? 0
      if tables == 0 { return }
    }
    guard id == applicationID else {
      throw StoreError.damaged(path, "it is a SQLite database, but has no accounts")
    }
    guard version <= Self.version else {
      throw StoreError.damaged(
        path,
        "it was written by a newer version of this program (format \(version), here \(Self.version))"
      )
    }
  }

  private static var migrator: DatabaseMigrator {
    var migrator = DatabaseMigrator()
    migrator.registerMigration("accounts, sessions, codes") { database in
      try database.execute(
        sql: """
          CREATE TABLE accounts (
            database BLOB NOT NULL, uid BLOB NOT NULL, email BLOB, body BLOB NOT NULL,
            PRIMARY KEY (database, uid), UNIQUE (database, email)
          ) WITHOUT ROWID;
          CREATE TABLE sessions (
            id BLOB PRIMARY KEY, database BLOB NOT NULL, uid BLOB NOT NULL,
            used INTEGER NOT NULL, body BLOB NOT NULL
          );
          CREATE INDEX sessions_of_accounts ON sessions (database, uid, used);
          CREATE TABLE tokens (
            number INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE,
            session BLOB NOT NULL REFERENCES sessions (id) ON DELETE CASCADE, replaced INTEGER
          );
          CREATE INDEX tokens_of_sessions ON tokens (session, number);
          CREATE TABLE codes (
            hash BLOB PRIMARY KEY, database BLOB NOT NULL, uid BLOB NOT NULL,
            expires INTEGER NOT NULL, body BLOB NOT NULL
          );
          CREATE TABLE revocations (
            database BLOB NOT NULL, uid BLOB NOT NULL, valid_since INTEGER NOT NULL,
            PRIMARY KEY (database, uid)
          ) WITHOUT ROWID;
          PRAGMA application_id = \(applicationID);
          PRAGMA user_version = \(version);
          """
      )
    }
    // Earlier programs may go on with the file: they leave this as it is.
    migrator.registerMigration("number of changes") { database in
      try database.execute(
        sql: """
          CREATE TABLE changes (number INTEGER NOT NULL);
          INSERT INTO changes VALUES (0);
          """
      )
    }
    return migrator
  }

  /// How often the file has been changed; 0 in one of an earlier version.
  static func changeCount(_ database: Database) throws -> Int64 {
    guard try database.tableExists("changes") else { return 0 }
    return try Int64.fetchOne(database, sql: "SELECT number FROM changes") ?? 0
  }

  /// Makes sure, before a file is opened for writing, that it has all that was acknowledged.
  ///
  /// - Throws: ``StoreError`` when something is missing, as the mark beside it says.
  static func checkForLoss(_ path: String) throws {
    let markPath = StoreMark.path(beside: path)
    guard case .position(let position) = try HighWaterMark.read(markPath) else { return }
    var status = stat()
    var count: Int64 = 0
    if stat(path, &status) == 0, status.st_size > 0 {
      let reader = try StoreSchema.openReader(path: path)
      defer { try? reader.close() }
      count = try reader.read(changeCount)
    }
    guard count < position.others else { return }
    throw StoreError(
      .damaged,
      "\(path): the last \(position.others - count) changes of accounts are missing, though they were"
        + " acknowledged: it, or its write-ahead log, is damaged or gone. Nothing was changed; restore a"
        + " copy of the directory, or copy it and remove \(markPath) to go on with what is left"
    )
  }
}
