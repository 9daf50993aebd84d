import Foundation
import GRDB
import RealtimeCore

/// What a store keeps beside the tree: the ledger, the scheduled writes and the security rules.
struct SideTables {
  private let database: Database

  init(_ database: Database) { self.database = database }

  /// Saves what a batch brings beside its commits.
  func save(_ batch: CommitBatch) throws {
    for entry in batch.ledger { try save(entry) }
    for session in batch.sessions { try save(session) }
    if let rules = batch.rules {
      try database.cachedStatement(sql: "INSERT OR REPLACE INTO rules (id, source) VALUES (1, ?)")
        .execute(arguments: [Data(RulesCoding.encode(rules))])
    }
  }

  // MARK: Ledger

  /// Replaces the entry of a client, or deletes it if its number is negative.
  private func save(_ entry: LedgerEntry) throws {
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

  /// For each client, the number up to which its writes have been handled.
  func ledger() throws -> [LedgerEntry] {
    // A file that is only read has the tables of the version that wrote it.
    let hasOwners = try database.columns(in: "ledger").contains { $0.name == "owner" }
    let owner = hasOwners ? "owner" : "x''"
    let sql = """
      SELECT client, up_to, refused, last_seen, \(owner) AS owner FROM ledger ORDER BY owner, client
      """
    return try Row.fetchAll(database, sql: sql).map { row in
      try LedgerCoding.entry(
        owner: String(decoding: row.decode(Data.self, atIndex: 4), as: UTF8.self),
        client: String(decoding: row.decode(Data.self, atIndex: 0), as: UTF8.self),
        upTo: row.decode(atIndex: 1),
        refused: row.decode(atIndex: 2),
        lastSeen: row.decode(atIndex: 3)
      )
    }
  }

  /// Forgets the clients that have not written since a time.
  func removeLedgerEntries(before time: Int64) throws {
    try database.execute(sql: "DELETE FROM ledger WHERE last_seen < ?", arguments: [time])
  }

  // MARK: Sessions

  /// Updates what a connection has scheduled, or deletes it when nothing is left.
  private func save(_ update: SessionUpdate) throws {
    if update.replaces {
      try database.cachedStatement(sql: "DELETE FROM scheduled WHERE session = ?")
        .execute(arguments: [update.id])
    }
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
    ).execute(arguments: [update.id, Data(SessionCoding.encode(update.session))])
    let remove = try database.cachedStatement(
      sql: "DELETE FROM scheduled WHERE session = ? AND path = ?"
    )
    for path in update.removed {
      try remove.execute(arguments: [update.id, Data(path.wireText.utf8)])
    }
    for change in update.session.changes { try save(change.node, at: change.path, of: update.id) }
    for path in update.session.withdrawn { try save(nil, at: path, of: update.id) }
  }

  /// Stores a write; nil means that a write scheduled above is withdrawn at this path.
  private func save(_ node: Node?, at path: Path, of session: Int64) throws {
    try database.cachedStatement(
      sql: "INSERT OR REPLACE INTO scheduled (session, path, value) VALUES (?, ?, ?)"
    ).execute(arguments: [session, Data(path.wireText.utf8), Data(SessionCoding.encode(node))])
  }

  /// What connections have scheduled for their disconnects, in ascending order of their numbers.
  func sessions() throws -> [StoredSession] {
    // A file that is only read has the tables of the version that wrote it.
    guard try database.tableExists("sessions") else { return [] }
    var found = SessionRows()
    let rows = try Row.fetchCursor(database, sql: "SELECT id, changes FROM sessions ORDER BY id")
    while let row = try rows.next() {
      try found.add(row.decode(atIndex: 0), from: Array(row.decode(Data.self, atIndex: 1)))
    }
    guard try database.tableExists("scheduled") else { return found.sessions }
    let writes = try Row.fetchCursor(database, sql: "SELECT session, path, value FROM scheduled")
    while let row = try writes.next() {
      try found.addWrite(
        of: row.decode(atIndex: 0),
        at: String(decoding: row.decode(Data.self, atIndex: 1), as: UTF8.self),
        from: Array(row.decode(Data.self, atIndex: 2))
      )
    }
    return found.sessions
  }

  // MARK: Rules

  /// The source of the security rules as last set, or nil if they were never set.
  func rules() throws -> String? {
    // A file that is only read has the tables of the version that wrote it.
    guard try database.tableExists("rules"),
      let bytes = try Data.fetchOne(database, sql: "SELECT source FROM rules")
    else { return nil }
    return try RulesCoding.decode(Array(bytes))
  }
}
