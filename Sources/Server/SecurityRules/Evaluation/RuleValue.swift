internal import RealtimeCore

/// A value while an expression is computed; text and members are lent by the request.
enum RuleValue {
  case null
  case bool(Bool)
  case number(Double)
  case string(LeafText)
  /// `auth`, or a member of it that has members itself.
  case map(Unmanaged<RuleMembers>)
  /// Data with children: neither null nor comparable.
  case object

  /// What this is, for messages.
  var kind: String {
    switch self {
    case .null: "null"
    case .bool: "a boolean"
    case .number: "a number"
    case .string: "a string"
    case .map, .object: "an object"
    }
  }
}
