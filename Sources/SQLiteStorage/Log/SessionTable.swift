import Foundation
import GRDB
import RealtimeHub
import RealtimeProtocol
import RealtimeTree

/// What connections have scheduled for their ends, a row for each.
///
/// Unlike commits, these hold values that the server has not decided, so nodes are kept as the JSON
/// in which clients write them.
struct SessionTable {
  private let database: Database
  private let path: String

  init(_ database: Database, path: String) {
    self.database = database
    self.path = path
  }

  /// Replaces what a connection has scheduled, or forgets it when nothing is left.
  func save(_ session: StoredSession) throws {
    guard !session.changes.isEmpty else {
      try database.cachedStatement(sql: "DELETE FROM sessions WHERE id = ?")
        .execute(arguments: [session.id])
      return
    }
    var writer = BinaryWriter()
    writer.write(count: session.changes.count)
    for change in session.changes {
      writer.write(text: change.path.wireText)
      writer.write(text: change.node.json(.export).text)
    }
    writer.write(text: session.identity.json.text)
    writer.seal()
    try database.cachedStatement(
      sql: "INSERT OR REPLACE INTO sessions (id, changes) VALUES (?, ?)"
    ).execute(arguments: [session.id, Data(writer.bytes)])
  }

  /// All of them, by ascending number.
  func load() throws -> [StoredSession] {
    // A file that is only read has the tables of the version that wrote it.
    guard try database.tableExists("sessions") else { return [] }
    let rows = try Row.fetchAll(database, sql: "SELECT id, changes FROM sessions ORDER BY id")
    return try rows.map { row in
      let id: Int64 = row[0]
      let bytes: Data = row[1]
      do {
        return try Self.session(id, Array(bytes))
      } catch {
        throw StoreError.damaged(path, "what session \(id) has scheduled is damaged: \(error)")
      }
    }
  }

  private static func session(_ id: Int64, _ bytes: [UInt8]) throws -> StoredSession {
    var reader = try BinaryReader(sealed: bytes)
    var session = StoredSession(id: id, changes: [])
    for _ in 0..<(try reader.count()) {
      let path = Path(wire: try reader.text())
      let json = try JSONParser.parse(try reader.text())
      let node =
        path.isPriority
        ? try Node.priorityValue(json).map { Node.leaf($0) } ?? .empty : try Node(json: json)
      session.changes.append(Change(path, node))
    }
    // Rows from before there were identities end here.
    guard !reader.isAtEnd else { return session }
    guard let identity = Identity(json: try JSONParser.parse(try reader.text())) else {
      throw BinaryReader.Failure(reason: "it does not say whose they are")
    }
    session.identity = identity
    return session
  }
}
