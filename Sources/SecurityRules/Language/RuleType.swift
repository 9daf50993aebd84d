/// What is known of a value before it is computed.
enum RuleType: String {
  case null = "null"
  case boolean = "a boolean"
  case number = "a number"
  case string = "a string"
  case snapshot = "a snapshot"
  case query = "the query"
  /// Known only at run time: null, a primitive value or an object.
  case any = "a value of unknown type"

  /// Whether a value of this type may turn out to be of another.
  func mayBe(_ other: RuleType) -> Bool { self == other || self == .any }
}
