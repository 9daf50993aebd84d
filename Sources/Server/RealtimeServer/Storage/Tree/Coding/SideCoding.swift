package import RealtimeCore

/// The form in which a store keeps the refused writes of a client.
package enum LedgerCoding {
  /// An object that maps numbers or ranges of them, such as "7" and "9-12", to reasons.
  package static func text(_ refused: RefusedWrites) -> String {
    let members = refused.runs.map { run in
      let (first, last) = (run.numbers.lowerBound, run.numbers.upperBound)
      return JSONMember(first == last ? "\(first)" : "\(first)-\(last)", .string(run.status.text))
    }
    return JSONValue.object(members).text
  }

  /// Reads an entry from the columns of its row.
  package static func entry(
    owner: String,
    client: String,
    upTo: Int64,
    refused: String,
    lastSeen: Int64
  ) throws(DamagedData) -> LedgerEntry {
    guard let owner = WriteOwner(text: owner), let refused = refusals(refused) else {
      throw DamagedData("the ledger is damaged")
    }
    return LedgerEntry(
      owner: owner,
      client: client,
      upTo: upTo,
      refused: refused,
      lastSeen: lastSeen
    )
  }

  /// Parses the result of ``text(_:)``; nil for anything else.
  private static func refusals(_ text: String) -> RefusedWrites? {
    var refused = RefusedWrites()
    guard let members = (try? JSONParser.parse(text))?.members else { return nil }
    for member in members {
      let numbers = member.name.split(separator: "-").compactMap { Int64($0) }
      guard let first = numbers.first, let last = numbers.last, first <= last,
        let status = member.value.string
      else { return nil }
      refused.insert(first...last, status: StatusCode(status))
    }
    return refused
  }
}

/// What a connection has scheduled for its disconnect: a row for the connection, and one for each
/// write.
///
/// Unlike commits, these contain unresolved server values, so nodes are stored as the JSON that
/// clients write. Earlier versions stored the writes of a connection in its own row.
package enum SessionCoding {
  /// The bytes of a connection's row.
  package static func encode(_ session: StoredSession) -> [UInt8] {
    var writer = BinaryWriter()
    writer.write(count: 0)
    writer.write(text: session.identity.json.text)
    if let owner = session.owner {
      writer.write(text: owner.server)
      writer.write(text: owner.name)
    }
    writer.seal()
    return writer.bytes
  }

  /// The bytes of a write's row; nil means that a write scheduled above is withdrawn at the path.
  package static func encode(_ node: Node?) -> [UInt8] {
    var writer = BinaryWriter()
    writer.write(count: node == nil ? 0 : 1)
    if let node { writer.write(text: node.json(.export).text) }
    writer.seal()
    return writer.bytes
  }

  /// Reads the row of a write at a path.
  fileprivate static func node(_ bytes: [UInt8], at path: Path) throws -> Node? {
    var reader = try BinaryReader(sealed: bytes)
    guard try reader.count() > 0 else { return nil }
    return try node(&reader, at: path)
  }

  private static func node(_ reader: inout BinaryReader, at path: Path) throws -> Node {
    let json = try JSONParser.parse(try reader.text())
    guard path.isPriority else { return try Node(json: json) }
    return try Node.priorityValue(json).map { Node.leaf($0) } ?? .empty
  }

  /// Reads the row of a connection.
  fileprivate static func session(_ id: Int64, from bytes: [UInt8]) throws -> StoredSession {
    var reader = try BinaryReader(sealed: bytes)
    var session = StoredSession(id: id, changes: [])
    for _ in 0..<(try reader.count()) {
      let path = Path(wire: try reader.text())
      session.changes.append(Change(path, to: try node(&reader, at: path)))
    }
    // Rows that were written before identities existed end here.
    guard !reader.isAtEnd else { return session }
    guard let identity = Identity(json: try JSONParser.parse(try reader.text())) else {
      throw BinaryReader.Failure(reason: "the identity is invalid")
    }
    session.identity = identity
    // Rows of clients that the leader itself has accepted end here.
    guard !reader.isAtEnd else { return session }
    session.owner = RemoteSession(server: try reader.text(), name: try reader.text())
    return session
  }
}

/// Puts sessions together from the rows of connections and of their writes.
package struct SessionRows {
  /// The sessions, in the order of the rows of their connections.
  package private(set) var sessions: [StoredSession] = []
  private var positions: [Int64: Int] = [:]

  package init() {}

  /// Adds the row of a connection.
  package mutating func add(_ id: Int64, from bytes: [UInt8]) throws(DamagedData) {
    let session = try Self.decoding(id) { try SessionCoding.session(id, from: bytes) }
    positions[id] = sessions.count
    sessions.append(session)
  }

  /// Adds the row of a write to the session of its connection, which has been added before.
  package mutating func addWrite(
    of id: Int64,
    at location: String,
    from bytes: [UInt8]
  ) throws(DamagedData) {
    let path = Path(wire: location)
    let (position, node) = try Self.decoding(id) {
      guard let position = positions[id] else {
        throw BinaryReader.Failure(reason: "the session is missing")
      }
      return (position, try SessionCoding.node(bytes, at: path))
    }
    if let node {
      sessions[position].changes.append(Change(path, to: node))
    } else {
      sessions[position].withdrawn.append(path)
    }
  }

  private static func decoding<Value>(
    _ session: Int64,
    _ body: () throws -> Value
  ) throws(DamagedData) -> Value {
    do {
      return try body()
    } catch {
      throw DamagedData("the scheduled writes of session \(session) are damaged: \(error)")
    }
  }
}

/// The source of the security rules with a checksum, since one changed character could allow what
/// was forbidden.
package enum RulesCoding {
  package static func encode(_ source: String) -> [UInt8] {
    var writer = BinaryWriter()
    writer.write(text: source)
    writer.seal()
    return writer.bytes
  }

  /// Reads the result of ``encode(_:)``.
  package static func decode(_ bytes: [UInt8]) throws(DamagedData) -> String {
    do throws(BinaryReader.Failure) {
      var reader = try BinaryReader(sealed: bytes)
      return try reader.text()
    } catch {
      throw DamagedData("the security rules are damaged: \(error.reason)")
    }
  }
}
