extension Query {
  /// Reads a query object of the wire protocol.
  ///
  /// - Parameter json: The object; null stands for the default query.
  /// - Throws: ``NodeError``, which names the invalid member.
  package init(json: JSONValue) throws(NodeError) {
    guard json != .null else {
      self = .all
      return
    }
    guard json.members != nil else { throw NodeError(description: "a query must be an object") }
    self.init(
      index: try Self.index(json["i"]),
      start: try Self.bound(of: json, names: .start),
      end: try Self.bound(of: json, names: .end),
      limit: try Self.limit(json)
    )
  }

  private static func index(_ json: JSONValue?) throws(NodeError) -> Index {
    guard let json else { return .priority }
    guard let text = json.string else { throw NodeError(description: "\"i\" must be a string") }
    let path = Path(wire: text)
    switch path.wireText {
    case ".key": return .key
    case ".value": return .value
    case ".priority", "": return .priority
    default: return .child(path)
    }
  }

  /// The names of the members that make up a bound.
  private struct BoundNames {
    let value: String
    let key: String
    let isInclusive: String

    static let start = BoundNames(value: "sp", key: "sn", isInclusive: "sin")
    static let end = BoundNames(value: "ep", key: "en", isInclusive: "ein")
  }

  private static func bound(
    of json: JSONValue,
    names: BoundNames
  ) throws(NodeError) -> QueryBound? {
    guard let bound = json[names.value] else { return nil }
    let leaf: LeafValue?
    switch bound {
    case .null: leaf = nil
    case .bool(let flag): leaf = .bool(flag)
    case .integer(let number): leaf = .integer(number)
    case .double(let number): leaf = LeafValue(number: number)
    case .string(let text): leaf = .string(text)
    case .array, .object:
      throw NodeError(
        description: "\"\(names.value)\" must be null, a boolean, a number or a string"
      )
    }
    let name: QueryBound.KeyPart?
    switch json[names.key] {
    case nil, .null?: name = nil
    case .string(let text)?: name = keyPart(text)
    case .bool?, .integer?, .double?, .array?, .object?:
      throw NodeError(description: "\"\(names.key)\" must be a string")
    }
    return QueryBound(leaf, key: name, isInclusive: json[names.isInclusive]?.bool ?? true)
  }

  private static func keyPart(_ text: String) -> QueryBound.KeyPart {
    switch text {
    case "[MIN_NAME]": .minimum
    case "[MAX_NAME]": .maximum
    default: .key(ChildKey(text))
    }
  }

  private static func limit(_ json: JSONValue) throws(NodeError) -> Limit? {
    guard let limit = json["l"] else { return nil }
    guard let count = limit.integer, count > 0, count <= Int64(Int32.max) else {
      throw NodeError(description: "\"l\" must be a positive whole number")
    }
    switch json["vf"]?.string {
    case "l": return Limit(Int(count), side: .first)
    case "r": return Limit(Int(count), side: .last)
    case nil: return Limit(Int(count), side: json["sp"] == nil ? .last : .first)
    case _?: throw NodeError(description: "\"vf\" must be \"l\" or \"r\"")
    }
  }

  /// The query object of the wire protocol; empty for the default query.
  package var json: JSONValue {
    var members: [JSONMember] = []
    if let start { members += Self.members(of: start, names: .start) }
    if let end { members += Self.members(of: end, names: .end) }
    if let limit {
      members.append(JSONMember("l", .integer(Int64(limit.count))))
      members.append(JSONMember("vf", .string(limit.side == .first ? "l" : "r")))
    }
    switch index {
    case .priority: break
    case .key: members.append(JSONMember("i", .string(".key")))
    case .value: members.append(JSONMember("i", .string(".value")))
    case .child(let path): members.append(JSONMember("i", .string(path.wireText)))
    }
    return .object(members)
  }

  private static func members(of bound: QueryBound, names: BoundNames) -> [JSONMember] {
    var members = [JSONMember(names.value, bound.value?.json ?? .null)]
    switch bound.key {
    case nil: break
    case .minimum: members.append(JSONMember(names.key, .string("[MIN_NAME]")))
    case .maximum: members.append(JSONMember(names.key, .string("[MAX_NAME]")))
    case .key(let name): members.append(JSONMember(names.key, .string(name.text)))
    }
    members.append(JSONMember(names.isInclusive, .bool(bound.isInclusive)))
    return members
  }

  /// Identifies a query among those at one location: "default", or its JSON with sorted members.
  package var id: String { isDefault ? "default" : json.canonicalText }
}
