import DurableFiles
import Foundation
import GRDB

/// The tables of the accounts, and how their file is recognized.
enum IdentitySchema {
  /// The mark in the header of the file, "Hrti".
  private static let applicationID: Int32 = 0x4872_7469
  /// The version of the tables; files of a higher version are left alone.
  private static let version: Int32 = 1

  /// Opens the file with current tables and durable commits.
  static func open(_ path: String) throws -> DatabaseQueue {
    let queue = try StoreSchema.openWriter(path: path, synchronous: "FULL", expecting: 2)
    do {
      _ = try queue.read {
        try StoreSchema.isNew(
          $0,
          otherwiseOf: (applicationID, version),
          butFor: "it is a SQLite database without accounts"
        )
      }
      try queue.writeWithoutTransaction { database in
        try database.execute(sql: "PRAGMA foreign_keys = ON")
      }
      try DatabaseMigrator(migrations).migrate(queue)
      return queue
    } catch {
      try? queue.close()
      throw error
    }
  }

  static func openInMemory() throws -> DatabaseQueue {
    let queue = try DatabaseQueue()
    try DatabaseMigrator(migrations).migrate(queue)
    return queue
  }

  private static let migrations: KeyValuePairs = [
    "accounts, sessions, codes": """
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
    """,
    // Earlier versions of the program can still use the file: they leave this table alone.
    "number of changes": """
    CREATE TABLE changes (number INTEGER NOT NULL);
    INSERT INTO changes VALUES (0);
    """,
  ]

  /// How many times the file has been changed; 0 for a file of an earlier version.
  static func changeCount(_ database: Database) throws -> Int64 {
    guard try database.tableExists("changes") else { return 0 }
    return try Int64.fetchOne(database, sql: "SELECT number FROM changes") ?? 0
  }

  /// Checks, before a file is opened for writing, that its log belongs to it and that no
  /// acknowledged changes are missing.
  ///
  /// - Throws: ``StoreError`` when changes are missing according to the mark beside the file, or the
  ///   log belongs to another file.
  static func checkForLoss(_ path: String) throws {
    let markPath = CompanionFile.mark(of: path)
    var status = stat()
    let hasFile = stat(path, &status) == 0 && status.st_size > 0
    if hasFile, let fault = try LogIdentity.fault(ofLogBeside: path) {
      throw StoreError(
        .damaged,
        description:
          "\(path): \(fault). Nothing was changed; restore a copy of the directory, or move"
          + " \(CompanionFile.log(of: path)) and \(markPath) elsewhere to continue with the file alone"
      )
    }
    guard case .position(let position) = try HighWaterMark.read(markPath) else { return }
    var count: Int64 = 0
    if hasFile {
      let reader = try StoreSchema.openReader(path: path)
      defer { try? reader.close() }
      count = try reader.read(changeCount)
    }
    guard count < position.others else { return }
    throw StoreError(
      .damaged,
      description:
        "\(path): the last \(position.others - count) acknowledged changes to accounts are missing:"
        + " the file or its write-ahead log is damaged or missing. Nothing was changed; restore a"
        + " copy of the directory, or copy it and remove \(markPath) to continue with what is left"
    )
  }
}

extension IdentityWriter<any Error> {
  init(_ connection: Database) {
    self.init(.sqlite) { sql, values in
      try connection.cachedStatement(sql: sql).execute(arguments: values.arguments)
    }
  }
}

extension IdentityReader {
  init(_ connection: Database) {
    self.init(.sqlite) { sql, values in
      FoundRows(rows: try Row.fetchAll(connection, sql: sql, arguments: values.arguments))
    }
  }
}

extension [IdentityValue] {
  fileprivate var arguments: StatementArguments {
    StatementArguments(
      map { value -> DatabaseValue in
        switch value {
        case .integer(let number): number.databaseValue
        case .bytes(let bytes): Data(bytes).databaseValue
        case .noBytes: .null
        }
      }
    )
  }
}

private struct FoundRows: IdentityRows {
  let rows: [Row]

  var count: Int { rows.count }

  func isNull(_ row: Int, column: Int) -> Bool { rows[row].hasNull(atIndex: column) }

  func integer(_ row: Int, column: Int) throws -> Int64 { try rows[row].decode(atIndex: column) }

  func bytes(_ row: Int, column: Int) throws -> [UInt8] {
    Array(try rows[row].decode(Data.self, atIndex: column))
  }
}
