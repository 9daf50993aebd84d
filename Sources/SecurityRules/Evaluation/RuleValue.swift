internal import RealtimeTree

/// A value while an expression is computed.
enum RuleValue: Sendable {
  case null
  case bool(Bool)
  case number(Double)
  case string(String)
  /// A member of `auth` that has members itself.
  case map(JSONValue)
  /// Data with children: neither null nor comparable.
  case object
  case snapshot(Snapshot)

  init(_ leaf: LeafValue) {
    switch leaf {
    case .bool(let value): self = .bool(value)
    case .integer(let value): self = .number(Double(value))
    case .double(let value): self = .number(value)
    case .string(let value): self = .string(value)
    // The server decides these before it asks the rules.
    case .deferred: self = .object
    }
  }

  init(_ json: JSONValue?) {
    switch json {
    case nil, .null?: self = .null
    case .bool(let value)?: self = .bool(value)
    case .integer(let value)?: self = .number(Double(value))
    case .double(let value)?: self = .number(value)
    case .string(let value)?: self = .string(value)
    case .array?, .object?: self = json.map { .map($0) } ?? .null
    }
  }

  init(_ node: Node) {
    switch node {
    case .empty: self = .null
    case .leaf(let value, _): self.init(value)
    case .children: self = .object
    }
  }

  /// What this is, for messages.
  var kind: String {
    switch self {
    case .null: "null"
    case .bool: "a boolean"
    case .number: "a number"
    case .string: "a string"
    case .map, .object: "an object"
    case .snapshot: "a snapshot"
    }
  }
}
