internal import RealtimeTree

/// A value while an expression is computed.
enum RuleValue: Sendable {
  case null
  case bool(Bool)
  case number(Double)
  case string(LeafText)
  /// A member of `auth` that has members itself.
  case map(JSONValue)
  /// Data with children: neither null nor comparable.
  case object
  /// Apart, since few values are one and all others would be as large.
  indirect case snapshot(Snapshot)

  /// Makes a text.
  static func text(_ text: String) -> RuleValue { .string(LeafText(text)) }

  init(_ leaf: LeafValue) {
    switch leaf {
    case .bool(let value): self = .bool(value)
    case .integer(let value): self = .number(Double(value))
    case .double(let value): self = .number(value)
    case .string(let value): self = .text(value)
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
    case .string(let value)?: self = .text(value)
    case .array?, .object?: self = json.map { .map($0) } ?? .null
    }
  }

  init(_ node: NodeView) {
    switch node.content {
    case .empty: self = .null
    case .text(let text): self = .string(text)
    case .leaf(let value): self.init(value)
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
