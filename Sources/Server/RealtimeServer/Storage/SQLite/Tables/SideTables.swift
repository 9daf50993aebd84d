import Foundation
import GRDB
import RealtimeCore

/// For each client, the number up to which its writes have been handled.
struct LedgerTable {
  private let database: Database
  private let path: String

  init(_ database: Database, path: String) {
    self.database = database
    self.path = path
  }

  /// Replaces the entry of a client, or deletes it if its number is negative.
  func save(_ entry: LedgerEntry) throws {
    let owner = Data(entry.owner.text.utf8)
    let client = Data(entry.client.utf8)
    guard entry.upTo >= 0 else {
      try database.cachedStatement(sql: "DELETE FROM ledger WHERE owner = ? AND client = ?")
        .execute(arguments: [owner, client])
      return
    }
    let upsert = try database.cachedStatement(
      sql: """
        INSERT OR REPLACE INTO ledger (owner, client, up_to, refused, last_seen)
        VALUES (?, ?, ?, ?, ?)
        """
    )
    try upsert.execute(
      arguments: [owner, client, entry.upTo, LedgerCoding.text(entry.refused), entry.lastSeen]
    )
  }

  func load() throws -> [LedgerEntry] {
    // A file that is only read has the tables of the version that wrote it.
    let hasOwners = try database.columns(in: "ledger").contains { $0.name == "owner" }
    let owner = hasOwners ? "owner" : "x''"
    let sql = """
      SELECT client, up_to, refused, last_seen, \(owner) AS owner FROM ledger ORDER BY owner, client
      """
    return try Row.fetchAll(database, sql: sql).map { row in
      let client = try row.decode(Data.self, atIndex: 0)
      let text = try row.decode(Data.self, atIndex: 4)
      guard let owner = WriteOwner(text: String(decoding: text, as: UTF8.self)) else {
        throw StoreError.damaged(path, because: "the ledger is damaged")
      }
      guard let refused = try LedgerCoding.refusals(row.decode(atIndex: 2)) else {
        throw StoreError.damaged(path, because: "the ledger is damaged")
      }
      return LedgerEntry(
        owner: owner,
        client: String(decoding: client, as: UTF8.self),
        upTo: try row.decode(atIndex: 1),
        refused: refused,
        lastSeen: try row.decode(atIndex: 3)
      )
    }
  }

  func removeEntries(before time: Int64) throws {
    try database.execute(sql: "DELETE FROM ledger WHERE last_seen < ?", arguments: [time])
  }
}

/// What connections have scheduled for their disconnects: a row for each connection and each write.
///
/// Unlike commits, these contain unresolved server values, so nodes are stored as the JSON that
/// clients write. Earlier versions stored the writes of a connection in its own row.
struct SessionTable {
  private let database: Database
  private let path: String

  init(_ database: Database, path: String) {
    self.database = database
    self.path = path
  }

  /// Updates what a connection has scheduled, or deletes it when nothing is left.
  func save(_ update: SessionUpdate) throws {
    if update.replaces { try removeWrites(of: update.id) }
    if update.isEnd {
      return try database.cachedStatement(sql: "DELETE FROM sessions WHERE id = ?")
        .execute(arguments: [update.id])
    }
    // The identity can be long and rarely changes, so an equal one is not written again.
    try database.cachedStatement(
      sql: """
        INSERT INTO sessions (id, changes) VALUES (?, ?)
        ON CONFLICT (id) DO UPDATE SET changes = excluded.changes WHERE changes <> excluded.changes
        """
    ).execute(arguments: [update.id, Data(SessionCoding.encode(update.identity, of: update.owner))])
    let remove = try database.cachedStatement(
      sql: "DELETE FROM scheduled WHERE session = ? AND path = ?"
    )
    for path in update.removed {
      try remove.execute(arguments: [update.id, Data(path.wireText.utf8)])
    }
    for change in update.changes { try save(change.node, at: change.path, of: update.id) }
    for path in update.withdrawn { try save(nil, at: path, of: update.id) }
  }

  /// All sessions, in ascending order of their numbers.
  func load() throws -> [StoredSession] {
    // A file that is only read has the tables of the version that wrote it.
    guard try database.tableExists("sessions") else { return [] }
    let rows = try Row.fetchAll(database, sql: "SELECT id, changes FROM sessions ORDER BY id")
    var sessions = try rows.map { row in
      let id = try row.decode(Int64.self, atIndex: 0)
      let bytes = try row.decode(Data.self, atIndex: 1)
      return try decoding(session: id) { try SessionCoding.session(id, from: Array(bytes)) }
    }
    guard try database.tableExists("scheduled") else { return sessions }
    let positions = Dictionary(uniqueKeysWithValues: zip(sessions.map(\.id), sessions.indices))
    let writes = try Row.fetchCursor(database, sql: "SELECT session, path, value FROM scheduled")
    while let row = try writes.next() {
      let id = try row.decode(Int64.self, atIndex: 0)
      let location = try row.decode(Data.self, atIndex: 1)
      let value = try row.decode(Data.self, atIndex: 2)
      try decoding(session: id) {
        guard let position = positions[id] else {
          throw BinaryReader.Failure(reason: "the session is missing")
        }
        let path = Path(wire: String(decoding: location, as: UTF8.self))
        if let node = try SessionCoding.node(Array(value), at: path) {
          sessions[position].changes.append(Change(path, to: node))
        } else {
          sessions[position].withdrawn.append(path)
        }
      }
    }
    return sessions
  }

  private func decoding<Value>(session id: Int64, _ body: () throws -> Value) throws -> Value {
    do {
      return try body()
    } catch {
      throw StoreError.damaged(
        path,
        because: "the scheduled writes of session \(id) are damaged: \(error)"
      )
    }
  }

  // MARK: Writes

  private func removeWrites(of session: Int64) throws {
    try database.cachedStatement(sql: "DELETE FROM scheduled WHERE session = ?")
      .execute(arguments: [session])
  }

  /// Stores a write; nil means that a write scheduled above is withdrawn at this path.
  private func save(_ node: Node?, at path: Path, of session: Int64) throws {
    try database.cachedStatement(
      sql: "INSERT OR REPLACE INTO scheduled (session, path, value) VALUES (?, ?, ?)"
    ).execute(arguments: [session, Data(path.wireText.utf8), Data(SessionCoding.encode(node))])
  }
}

/// The source of the security rules as last set: one row, or none if rules were never set.
struct RulesTable {
  private let database: Database
  private let path: String

  init(_ database: Database, path: String) {
    self.database = database
    self.path = path
  }

  /// Replaces the source.
  func save(_ source: String) throws {
    try database.cachedStatement(sql: "INSERT OR REPLACE INTO rules (id, source) VALUES (1, ?)")
      .execute(arguments: [Data(RulesCoding.encode(source))])
  }

  /// The source, or nil if it was never set.
  func load() throws -> String? {
    // A file that is only read has the tables of the version that wrote it.
    guard try database.tableExists("rules"),
      let bytes = try Data.fetchOne(database, sql: "SELECT source FROM rules")
    else { return nil }
    do throws(BinaryReader.Failure) {
      return try RulesCoding.decode(Array(bytes))
    } catch {
      throw StoreError.damaged(path, because: "the security rules are damaged: \(error.reason)")
    }
  }
}
