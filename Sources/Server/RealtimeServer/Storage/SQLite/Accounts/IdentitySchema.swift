import DurableFiles
import Foundation
import GRDB
import RealtimeCore

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
      try migrator.migrate(queue)
      return queue
    } catch {
      try? queue.close()
      throw error
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
    // Earlier versions of the program can still use the file: they leave this table alone.
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

/// Changes the tables of accounts, within the caller's transaction.
struct IdentityWriter {
  private let connection: Database

  init(_ connection: Database) { self.connection = connection }

  /// Applies a change.
  func apply(_ change: IdentityChange) throws {
    switch change {
    case .save(let account): try save(account)
    case .delete(let uid, let database):
      for table in ["accounts", "sessions", "codes"] {
        try execute(
          "DELETE FROM \(table) WHERE database = ? AND uid = ?",
          with: [bytes(database), bytes(uid)]
        )
      }
    case .clear(let database):
      for table in ["accounts", "sessions", "codes"] {
        try execute("DELETE FROM \(table) WHERE database = ?", with: [bytes(database)])
      }
    case .rename(let database, let name):
      try execute("DELETE FROM codes WHERE database = ?", with: [bytes(database)])
      for table in ["accounts", "sessions"] {
        try execute(
          """
          UPDATE \(table) SET database = ?,
            body = CAST(json_set(CAST(body AS TEXT), '$.database', ?) AS BLOB) WHERE database = ?
          """,
          with: [bytes(name), name, bytes(database)]
        )
      }
    case .begin(let session, let token): try begin(session, token: token)
    case .replace(let token, let successor, let time): try replace(token, by: successor, at: time)
    case .end(let session): try execute("DELETE FROM sessions WHERE id = ?", with: [bytes(session)])
    case .addCode(let code, let hash):
      try execute(
        "INSERT INTO codes (hash, database, uid, expires, body) VALUES (?, ?, ?, ?, ?)",
        with: [
          Data(hash), bytes(code.database), bytes(code.uid), code.expires, bytes(code.json.text),
        ]
      )
    case .removeCode(let hash): try execute("DELETE FROM codes WHERE hash = ?", with: [Data(hash)])
    case .revoke(let note):
      try execute(
        "INSERT OR REPLACE INTO revocations (database, uid, valid_since) VALUES (?, ?, ?)",
        with: [bytes(note.database), bytes(note.uid), note.validSince]
      )
    case .revokeAll(let database, let second):
      try execute(
        """
        INSERT OR REPLACE INTO revocations (database, uid, valid_since)
        SELECT database, uid, ? FROM accounts WHERE database = ?
        """,
        with: [second, bytes(database)]
      )
    case .tidy(let now): try tidy(now)
    }
  }

  private func execute(_ sql: String, with arguments: StatementArguments) throws {
    try connection.cachedStatement(sql: sql).execute(arguments: arguments)
  }

  private func save(_ account: Account) throws {
    try execute(
      """
      INSERT INTO accounts (database, uid, email, body) VALUES (?, ?, ?, ?)
      ON CONFLICT (database, uid) DO UPDATE SET email = excluded.email, body = excluded.body
      """,
      with: [
        bytes(account.database), bytes(account.uid), account.email.map { bytes($0.text) },
        bytes(account.json.text),
      ]
    )
  }

  /// Adds a session with its tokens, exactly as another store had them.
  func add(_ moved: IdentityContents.SignIn) throws {
    let session = moved.session
    try execute(
      "INSERT INTO sessions (id, database, uid, used, body) VALUES (?, ?, ?, ?, ?)",
      with: [
        bytes(session.id), bytes(session.database), bytes(session.uid), moved.used,
        bytes(session.json.text),
      ]
    )
    for token in moved.tokens {
      try execute(
        "INSERT INTO tokens (hash, session, replaced) VALUES (?, ?, ?)",
        with: [Data(token.hash), bytes(session.id), token.replaced]
      )
    }
  }

  private func begin(_ session: SignInSession, token: [UInt8]) throws {
    try execute(
      "INSERT INTO sessions (id, database, uid, used, body) VALUES (?, ?, ?, ?, ?)",
      with: [
        bytes(session.id), bytes(session.database), bytes(session.uid), session.signedIn * 1_000,
        bytes(session.json.text),
      ]
    )
    try execute(
      "INSERT INTO tokens (hash, session) VALUES (?, ?)",
      with: [Data(token), bytes(session.id)]
    )
    try execute(
      """
      DELETE FROM sessions WHERE id IN (
        SELECT id FROM sessions WHERE database = ? AND uid = ?
        ORDER BY used DESC, rowid DESC LIMIT -1 OFFSET ?
      )
      """,
      with: [bytes(session.database), bytes(session.uid), IdentityKeeping.sessionsPerAccount]
    )
  }

  private func replace(_ token: [UInt8], by successor: [UInt8], at time: Int64) throws {
    let session = try Data.fetchOne(
      connection,
      sql: "SELECT session FROM tokens WHERE hash = ?",
      arguments: [Data(token)]
    )
    guard let session else { return }
    try execute("UPDATE tokens SET replaced = ? WHERE hash = ?", with: [time, Data(token)])
    try execute("UPDATE sessions SET used = ? WHERE id = ?", with: [time, session])
    try execute(
      "INSERT INTO tokens (hash, session) VALUES (?, ?)",
      with: [Data(successor), session]
    )
    try execute(
      """
      DELETE FROM tokens WHERE number IN (
        SELECT number FROM tokens WHERE session = ? ORDER BY number DESC LIMIT -1 OFFSET ?
      )
      """,
      with: [session, IdentityKeeping.tokensPerSession + 1]
    )
  }

  private func tidy(_ now: Int64) throws {
    try execute("DELETE FROM codes WHERE expires <= ?", with: [now])
    try execute("DELETE FROM sessions WHERE used + ? <= ?", with: [IdentityKeeping.session, now])
    try execute(
      "DELETE FROM revocations WHERE valid_since * 1000 + ? <= ?",
      with: [IdentityKeeping.revocation, now]
    )
  }
}
