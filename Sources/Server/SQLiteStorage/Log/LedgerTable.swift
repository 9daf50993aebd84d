import Foundation
import GRDB
import RealtimeCore
import RealtimeHub

/// For each client, up to where its writes have been dealt with.
struct LedgerTable {
  private let database: Database
  private let path: String

  init(_ database: Database, path: String) {
    self.database = database
    self.path = path
  }

  /// Replaces the entry of a client, or forgets it when nothing of it has been applied.
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
      arguments: [owner, client, entry.upTo, Self.text(entry.refused), entry.lastSeen]
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
        throw StoreError.damaged(path, "the ledger is damaged")
      }
      return LedgerEntry(
        owner: owner,
        client: String(decoding: client, as: UTF8.self),
        upTo: try row.decode(atIndex: 1),
        refused: try refusals(row.decode(atIndex: 2)),
        lastSeen: try row.decode(atIndex: 3)
      )
    }
  }

  func removeEntries(before time: Int64) throws {
    try database.execute(sql: "DELETE FROM ledger WHERE last_seen < ?", arguments: [time])
  }

  /// An object of reasons by numbers, such as "7" and "9-12".
  private static func text(_ refused: RefusedWrites) -> String {
    let members = refused.runs.map { run in
      let (first, last) = (run.numbers.lowerBound, run.numbers.upperBound)
      return JSONMember(first == last ? "\(first)" : "\(first)-\(last)", .string(run.status.text))
    }
    return JSONValue.object(members).text
  }

  private func refusals(_ text: String) throws -> RefusedWrites {
    var refused = RefusedWrites()
    guard let members = (try? JSONParser.parse(text))?.members else {
      throw StoreError.damaged(path, "the ledger is damaged")
    }
    for member in members {
      let numbers = member.name.split(separator: "-").compactMap { Int64($0) }
      guard let first = numbers.first, let last = numbers.last, first <= last,
        let status = member.value.string
      else { throw StoreError.damaged(path, "the ledger is damaged") }
      refused.insert(first...last, StatusCode(status))
    }
    return refused
  }
}
