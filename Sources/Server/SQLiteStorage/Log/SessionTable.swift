import Foundation
import GRDB
import RealtimeCore
import RealtimeHub

/// What connections have scheduled for their ends: a row for each, and one for each of its writes.
///
/// Unlike commits, these hold values that the server has not decided, so nodes are kept as the JSON
/// in which clients write them. Earlier versions kept the writes of a connection in its own row.
struct SessionTable {
  private let database: Database
  private let path: String

  init(_ database: Database, path: String) {
    self.database = database
    self.path = path
  }

  /// Changes what a connection has scheduled, or forgets it when nothing is left.
  func save(_ update: SessionUpdate) throws {
    if update.replaces { try removeWrites(of: update.id) }
    if update.isEnd {
      return try database.cachedStatement(sql: "DELETE FROM sessions WHERE id = ?")
        .execute(arguments: [update.id])
    }
    var writer = BinaryWriter()
    writer.write(count: 0)
    writer.write(text: update.identity.json.text)
    writer.seal()
    // Who it is can be long, and is the same most times.
    try database.cachedStatement(
      sql: """
        INSERT INTO sessions (id, changes) VALUES (?, ?)
        ON CONFLICT (id) DO UPDATE SET changes = excluded.changes WHERE changes <> excluded.changes
        """
    ).execute(arguments: [update.id, Data(writer.bytes)])
    let remove = try database.cachedStatement(
      sql: "DELETE FROM scheduled WHERE session = ? AND path = ?"
    )
    for path in update.removed {
      try remove.execute(arguments: [update.id, Data(path.wireText.utf8)])
    }
    for change in update.changes { try save(change.node, at: change.path, of: update.id) }
    for path in update.withdrawn { try save(nil, at: path, of: update.id) }
  }

  /// All of them, by ascending number.
  func load() throws -> [StoredSession] {
    // A file that is only read has the tables of the version that wrote it.
    guard try database.tableExists("sessions") else { return [] }
    let rows = try Row.fetchAll(database, sql: "SELECT id, changes FROM sessions ORDER BY id")
    var sessions = try rows.map { row in
      let id = try row.decode(Int64.self, atIndex: 0)
      let bytes = try row.decode(Data.self, atIndex: 1)
      return try decoding(id) { try Self.session(id, Array(bytes)) }
    }
    guard try database.tableExists("scheduled") else { return sessions }
    let places = Dictionary(uniqueKeysWithValues: zip(sessions.map(\.id), sessions.indices))
    let writes = try Row.fetchCursor(database, sql: "SELECT session, path, value FROM scheduled")
    while let row = try writes.next() {
      let id = try row.decode(Int64.self, atIndex: 0)
      let location = try row.decode(Data.self, atIndex: 1)
      let value = try row.decode(Data.self, atIndex: 2)
      try decoding(id) {
        guard let place = places[id] else {
          throw BinaryReader.Failure(reason: "it does not say whose it is")
        }
        let path = Path(wire: String(decoding: location, as: UTF8.self))
        if let node = try Self.node(Array(value), at: path) {
          sessions[place].changes.append(Change(path, node))
        } else {
          sessions[place].withdrawn.append(path)
        }
      }
    }
    return sessions
  }

  private func decoding<Value>(_ id: Int64, _ body: () throws -> Value) throws -> Value {
    do {
      return try body()
    } catch {
      throw StoreError.damaged(path, "what session \(id) has scheduled is damaged: \(error)")
    }
  }

  // MARK: Writes

  private func removeWrites(of session: Int64) throws {
    try database.cachedStatement(sql: "DELETE FROM scheduled WHERE session = ?")
      .execute(arguments: [session])
  }

  /// Keeps a write, or with nil that what is scheduled above is withdrawn there.
  private func save(_ node: Node?, at path: Path, of session: Int64) throws {
    var writer = BinaryWriter()
    writer.write(count: node == nil ? 0 : 1)
    if let node { writer.write(text: node.json(.export).text) }
    writer.seal()
    try database.cachedStatement(
      sql: "INSERT OR REPLACE INTO scheduled (session, path, value) VALUES (?, ?, ?)"
    ).execute(arguments: [session, Data(path.wireText.utf8), Data(writer.bytes)])
  }

  private static func node(_ bytes: [UInt8], at path: Path) throws -> Node? {
    var reader = try BinaryReader(sealed: bytes)
    guard try reader.count() > 0 else { return nil }
    return try node(&reader, at: path)
  }

  private static func node(_ reader: inout BinaryReader, at path: Path) throws -> Node {
    let json = try JSONParser.parse(try reader.text())
    guard path.isPriority else { return try Node(json: json) }
    return try Node.priorityValue(json).map { Node.leaf($0) } ?? .empty
  }

  private static func session(_ id: Int64, _ bytes: [UInt8]) throws -> StoredSession {
    var reader = try BinaryReader(sealed: bytes)
    var session = StoredSession(id: id, changes: [])
    for _ in 0..<(try reader.count()) {
      let path = Path(wire: try reader.text())
      session.changes.append(Change(path, try node(&reader, at: path)))
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
