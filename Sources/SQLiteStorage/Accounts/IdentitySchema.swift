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
    return migrator
  }
}
