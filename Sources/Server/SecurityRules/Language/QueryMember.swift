/// What a rule may ask of the query that reads.
enum QueryMember: String, CaseIterable, Sendable {
  case orderByKey, orderByValue, orderByPriority, orderByChild
  case startAt, endAt, equalTo, limitToFirst, limitToLast

  var type: RuleType {
    switch self {
    case .orderByKey, .orderByValue, .orderByPriority: .boolean
    case .orderByChild, .startAt, .endAt, .equalTo, .limitToFirst, .limitToLast: .any
    }
  }
}
