import Foundation
import GRDB
import RealtimeCore
import RealtimeServer

/// Makes changes to the tables of accounts, within a transaction of the caller.
struct IdentityWriter {
  private let connection: Database

  init(_ connection: Database) { self.connection = connection }

  /// Makes a change.
  func apply(_ change: IdentityChange) throws {
    switch change {
    case .save(let account): try save(account)
    case .delete(let uid, let database):
      for table in ["accounts", "sessions", "codes"] {
        try execute(
          "DELETE FROM \(table) WHERE database = ? AND uid = ?",
          [bytes(database), bytes(uid)]
        )
      }
    case .clear(let database):
      for table in ["accounts", "sessions", "codes"] {
        try execute("DELETE FROM \(table) WHERE database = ?", [bytes(database)])
      }
    case .begin(let session, let token): try begin(session, token)
    case .replace(let token, let successor, let time): try replace(token, successor, time)
    case .end(let session): try execute("DELETE FROM sessions WHERE id = ?", [bytes(session)])
    case .addCode(let code, let hash):
      try execute(
        "INSERT INTO codes (hash, database, uid, expires, body) VALUES (?, ?, ?, ?, ?)",
        [
          Data(hash), bytes(code.database), bytes(code.uid), code.expires, bytes(code.json.text),
        ]
      )
    case .removeCode(let hash): try execute("DELETE FROM codes WHERE hash = ?", [Data(hash)])
    case .revoke(let note):
      try execute(
        "INSERT OR REPLACE INTO revocations (database, uid, valid_since) VALUES (?, ?, ?)",
        [bytes(note.database), bytes(note.uid), note.validSince]
      )
    case .tidy(let now): try tidy(now)
    }
  }

  private func execute(_ sql: String, _ arguments: StatementArguments) throws {
    try connection.cachedStatement(sql: sql).execute(arguments: arguments)
  }

  private func save(_ account: Account) throws {
    try execute(
      """
      INSERT INTO accounts (database, uid, email, body) VALUES (?, ?, ?, ?)
      ON CONFLICT (database, uid) DO UPDATE SET email = excluded.email, body = excluded.body
      """,
      [
        bytes(account.database), bytes(account.uid), account.email.map { bytes($0.text) },
        bytes(account.json.text),
      ]
    )
  }

  private func begin(_ session: SignInSession, _ token: [UInt8]) throws {
    try execute(
      "INSERT INTO sessions (id, database, uid, used, body) VALUES (?, ?, ?, ?, ?)",
      [
        bytes(session.id), bytes(session.database), bytes(session.uid), session.signedIn * 1_000,
        bytes(session.json.text),
      ]
    )
    try execute(
      "INSERT INTO tokens (hash, session) VALUES (?, ?)",
      [Data(token), bytes(session.id)]
    )
    try execute(
      """
      DELETE FROM sessions WHERE id IN (
        SELECT id FROM sessions WHERE database = ? AND uid = ?
        ORDER BY used DESC, rowid DESC LIMIT -1 OFFSET ?
      )
      """,
      [bytes(session.database), bytes(session.uid), IdentityKeeping.sessionsPerAccount]
    )
  }

  private func replace(_ token: [UInt8], _ successor: [UInt8], _ time: Int64) throws {
    let session = try Data.fetchOne(
      connection,
      sql: "SELECT session FROM tokens WHERE hash = ?",
      arguments: [Data(token)]
    )
    guard let session else { return }
    try execute("UPDATE tokens SET replaced = ? WHERE hash = ?", [time, Data(token)])
    try execute("UPDATE sessions SET used = ? WHERE id = ?", [time, session])
    try execute("INSERT INTO tokens (hash, session) VALUES (?, ?)", [Data(successor), session])
    try execute(
      """
      DELETE FROM tokens WHERE number IN (
        SELECT number FROM tokens WHERE session = ? ORDER BY number DESC LIMIT -1 OFFSET ?
      )
      """,
      [session, IdentityKeeping.tokensPerSession + 1]
    )
  }

  private func tidy(_ now: Int64) throws {
    try execute("DELETE FROM codes WHERE expires <= ?", [now])
    try execute("DELETE FROM sessions WHERE used + ? <= ?", [IdentityKeeping.session, now])
    try execute(
      "DELETE FROM revocations WHERE valid_since * 1000 + ? <= ?",
      [IdentityKeeping.revocation, now]
    )
  }
}
