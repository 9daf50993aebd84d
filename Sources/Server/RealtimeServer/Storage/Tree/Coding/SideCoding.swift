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

  /// Parses the result of ``text(_:)``; nil for anything else.
  package static func refusals(_ text: String) -> RefusedWrites? {
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
  package static func encode(_ identity: Identity, of owner: RemoteSession?) -> [UInt8] {
    var writer = BinaryWriter()
    writer.write(count: 0)
    writer.write(text: identity.json.text)
    if let owner {
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
  ///
  /// - Throws: An error that tells why the row is damaged.
  package static func node(_ bytes: [UInt8], at path: Path) throws -> Node? {
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
  ///
  /// - Throws: An error that tells why the row is damaged.
  package static func session(_ id: Int64, from bytes: [UInt8]) throws -> StoredSession {
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

/// The source of the security rules with a checksum, since one changed character could allow what
/// was forbidden.
package enum RulesCoding {
  /// The bytes for a source.
  package static func encode(_ source: String) -> [UInt8] {
    var writer = BinaryWriter()
    writer.write(text: source)
    writer.seal()
    return writer.bytes
  }

  /// Reads the result of ``encode(_:)``.
  package static func decode(_ bytes: [UInt8]) throws(BinaryReader.Failure) -> String {
    var reader = try BinaryReader(sealed: bytes)
    return try reader.text()
  }
}
