/// What a rule may ask of a string, besides its length and whether it matches.
enum StringMethod: String, CaseIterable, Sendable {
  case contains, beginsWith, endsWith, replace, toLowerCase, toUpperCase, matches

  var argumentCount: Int {
    switch self {
    case .contains, .beginsWith, .endsWith, .matches: 1
    case .replace: 2
    case .toLowerCase, .toUpperCase: 0
    }
  }

  var type: RuleType {
    switch self {
    case .contains, .beginsWith, .endsWith, .matches: .boolean
    case .replace, .toLowerCase, .toUpperCase: .string
    }
  }
}
