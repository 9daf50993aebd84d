/// What a rule may ask of a snapshot.
enum SnapshotMethod: String, CaseIterable, Sendable {
  case val, child, parent, hasChild, hasChildren, exists, getPriority
  case isNumber, isString, isBoolean

  var type: RuleType {
    switch self {
    case .val, .getPriority: .primitive
    case .child, .parent: .snapshot
    case .hasChild, .hasChildren, .exists, .isNumber, .isString, .isBoolean: .boolean
    }
  }
}
