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
      start: try Self.bound(of: json, "sp", key: "sn", isInclusive: "sin"),
      end: try Self.bound(of: json, "ep", key: "en", isInclusive: "ein"),
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

  /// Reads a bound from the members with these names.
  private static func bound(
    of json: JSONValue,
    _ value: String,
    key: String,
    isInclusive: String
  ) throws(NodeError) -> QueryBound? {
    guard let bound = json[value] else { return nil }
    let leaf: LeafValue?
    switch bound {
    case .null: leaf = nil
    case .bool(let flag): leaf = .bool(flag)
    case .integer(let number): leaf = .integer(number)
    case .double(let number): leaf = LeafValue(number: number)
    case .string(let text): leaf = .string(text)
    case .array, .object:
      throw NodeError(description: "\"\(value)\" must be null, a boolean, a number or a string")
    }
    let name: QueryBound.KeyPart?
    switch json[key] {
    case nil, .null?: name = nil
    case .string(let text)?: name = keyPart(text)
    case .bool?, .integer?, .double?, .array?, .object?:
      throw NodeError(description: "\"\(key)\" must be a string")
    }
    return QueryBound(leaf, key: name, isInclusive: json[isInclusive]?.bool ?? true)
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
    let order: String? =
      switch index {
      case .priority: nil
      case .key: ".key"
      case .value: ".value"
      case .child(let path): path.wireText
      }
    return .object(
      ("sp", start.map(Self.value)),
      ("sn", start?.key.map(Self.text)),
      ("sin", start.map { .bool($0.isInclusive) }),
      ("ep", end.map(Self.value)),
      ("en", end?.key.map(Self.text)),
      ("ein", end.map { .bool($0.isInclusive) }),
      ("l", limit.map { .integer(Int64($0.count)) }),
      ("vf", limit.map { .string($0.side == .first ? "l" : "r") }),
      ("i", order.map { .string($0) })
    )
  }

  private static func value(_ bound: QueryBound) -> JSONValue { bound.value?.json ?? .null }

  private static func text(_ key: QueryBound.KeyPart) -> JSONValue {
    switch key {
    case .minimum: .string("[MIN_NAME]")
    case .maximum: .string("[MAX_NAME]")
    case .key(let name): .string(name.text)
    }
  }

  /// Identifies a query among those at one location: "default", or its JSON with sorted members.
  package var id: String { isDefault ? "default" : json.canonicalText }
}
