import Foundation
import GRDB
import RealtimeHub
import RealtimeProtocol
import RealtimeTree

/// For each client, up to where its writes have been dealt with.
struct LedgerTable {
  private let database: Database
  private let path: String

  init(_ database: Database, path: String) {
    self.database = database
    self.path = path
  }

  func save(_ entry: LedgerEntry) throws {
    let upsert = try database.cachedStatement(
      sql: "INSERT OR REPLACE INTO ledger (client, up_to, refused, last_seen) VALUES (?, ?, ?, ?)"
    )
    try upsert.execute(
      arguments: [
        Data(entry.client.utf8), entry.upTo, Self.text(entry.refused), entry.lastSeen,
      ]
    )
  }

  func load() throws -> [LedgerEntry] {
    let sql = "SELECT client, up_to, refused, last_seen FROM ledger ORDER BY client"
    return try Row.fetchAll(database, sql: sql).map { row in
      let client: Data = row[0]
      return LedgerEntry(
        client: String(decoding: client, as: UTF8.self),
        upTo: row[1],
        refused: try refusals(row[2]),
        lastSeen: row[3]
      )
    }
  }

  func removeEntries(before time: Int64) throws {
    try database.execute(sql: "DELETE FROM ledger WHERE last_seen < ?", arguments: [time])
  }

  private static func text(_ refused: [Int64: StatusCode]) -> String {
    let members = refused.sorted { $0.key < $1.key }
    return JSONValue.object(members.map { JSONMember(String($0.key), .string($0.value.text)) }).text
  }

  private func refusals(_ text: String) throws -> [Int64: StatusCode] {
    var refused: [Int64: StatusCode] = [:]
    guard let members = (try? JSONParser.parse(text))?.members else {
      throw StoreError.damaged(path, "the ledger is damaged")
    }
    for member in members {
      guard let number = Int64(member.name), let status = member.value.string else {
        throw StoreError.damaged(path, "the ledger is damaged")
      }
      refused[number] = StatusCode(status)
    }
    return refused
  }
}
