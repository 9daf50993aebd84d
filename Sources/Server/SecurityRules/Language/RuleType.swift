/// What is known of a value before it is computed.
enum RuleType: String {
  case null = "null"
  case boolean = "a boolean"
  case number = "a number"
  case string = "a string"
  case snapshot = "a snapshot"
  case query = "the query"
  /// What a leaf may hold, which of them known only at run time: null, a boolean, a number or a string.
  case primitive = "a value of the data"
  /// Known only at run time: null, a primitive value or an object.
  case any = "a value of unknown type"

  /// Whether a value of this type may turn out to be of another.
  func mayBe(_ other: RuleType) -> Bool {
    switch (self, other) {
    case (.any, _), (.primitive, .null), (.primitive, .boolean), (.primitive, .number),
      (.primitive, .string):
      true
    default: self == other
    }
  }

  /// Whether it is not known which kind of value there will be.
  var isOpen: Bool { self == .any || self == .primitive }
}
