#if OfflineStorage
import GRDB
import RealtimeCore

/// Converts tree values to JSON text and back without loss.
enum JSONText {
  /// The error for text that no store wrote.
  private static func damage(_ reason: String) -> GRDB.DatabaseError {
    GRDB.DatabaseError(resultCode: .SQLITE_CORRUPT, message: reason)
  }

  private static func undamaged<Value>(_ body: () throws -> Value) throws -> Value {
    do {
      return try body()
    } catch {
      throw damage("\(error)")
    }
  }

  private static func parse(_ text: String) throws -> JSONValue {
    try undamaged { try JSONParser.parse(text) }
  }

  private static func node(_ json: JSONValue) throws -> Node {
    try undamaged { try Node(json: json) }
  }

  // MARK: Nodes

  static func text(_ node: Node) -> String {
    var writer = JSONWriter()
    node.write(to: &writer)
    return writer.text
  }

  static func node(_ text: String) throws -> Node { try node(parse(text)) }

  // MARK: Paths

  static func text(_ path: Path) -> String { json(path).text }

  private static func json(_ path: Path) -> JSONValue {
    .array(path.keys.map { .string($0.text) })
  }

  static func path(_ text: String) throws -> Path { try path(parse(text)) }

  private static func path(_ json: JSONValue) throws -> Path {
    guard let elements = json.elements else { throw damage("a path is not a list") }
    return Path(
      try elements.map { element in
        guard let key = element.string else { throw damage("a key is not a string") }
        return ChildKey(key)
      }
    )
  }

  // MARK: Queries

  static func text(_ query: Query) -> String { query.json.text }

  static func query(_ text: String) throws -> Query {
    let json = try parse(text)
    return try undamaged { try Query(json: json) }
  }

  // MARK: Operations

  static func text(_ operation: WriteOperation) -> String {
    switch operation {
    case .set(let node): JSONValue.object(("set", node.json(.export))).text
    case .merge(let changes):
      JSONValue.object(
        ("merge", .array(changes.map { .array([json($0.path), $0.node.json(.export)]) }))
      ).text
    }
  }

  static func operation(_ text: String) throws -> WriteOperation {
    let json = try parse(text)
    if let node = json["set"] { return .set(try self.node(node)) }
    guard let changes = json["merge"]?.elements else { throw damage("a write of unknown kind") }
    return .merge(
      try changes.map { change in
        guard let parts = change.elements, parts.count == 2 else {
          throw damage("a change needs a path and data")
        }
        return Change(try path(parts[0]), to: try node(parts[1]))
      }
    )
  }
}
#endif
