import RealtimeCore
import RealtimeServer
import TestSupport

/// A user's request, as random rules see it.
struct RuleQuestion {
  let user: String?
  let path: Path
  let query: Query
  let root: Node
  let newRoot: Node
  let now: Int64
}

/// A condition that can be written as a rule, and computed without one.
enum RandomCondition {
  case never, always, signedIn, isAnn, flag, early, paged

  var source: String {
    switch self {
    case .never: "false"
    case .always: "true"
    case .signedIn: "auth != null"
    case .isAnn: "auth.uid === 'ann'"
    case .flag: "root.child('flag').val() === true"
    case .early: "now < 50"
    case .paged: "query.limitToFirst <= 2"
    }
  }

  static let readable: [RandomCondition] = [
    .never, .never, .always, .signedIn, .isAnn, .flag, .flag, .flag, .early, .paged,
  ]
  static let writable: [RandomCondition] = [.never, .always, .signedIn, .isAnn, .flag, .early]

  func holds(_ question: RuleQuestion) -> Bool {
    switch self {
    case .never: false
    case .always: true
    case .signedIn: question.user != nil
    case .isAnn: question.user == "ann"
    case .flag: question.root["flag" as ChildKey] == .bool(true)
    case .early: question.now < 50
    case .paged: question.query.limit.map { $0.side == .first && $0.count <= 2 } ?? false
    }
  }
}

/// Rules at a few paths, with answers derived from their meaning alone.
struct RandomRules {
  static let places: [Path] = ["/", "a", "a/x", "b", "b/x", "flag"]

  private var reads: [Path: RandomCondition] = [:]
  private var writes: [Path: RandomCondition] = [:]
  /// Whether only numbers are valid below `a`.
  private let wantsNumbers: Bool

  init(_ random: inout SplitMix64) {
    for place in Self.places where random.below(place.isRoot ? 6 : 2) == 0 {
      reads[place] = RandomCondition.readable[random.below(RandomCondition.readable.count)]
    }
    for place in Self.places where random.below(place.isRoot ? 4 : 2) == 0 {
      writes[place] = RandomCondition.writable[random.below(RandomCondition.writable.count)]
    }
    wantsNumbers = random.below(3) == 0
  }

  var source: String {
    func object(_ place: Path, _ more: String...) -> String {
      let rules = [
        reads[place].map { #"".read": "\#($0.source)""# },
        writes[place].map { #"".write": "\#($0.source)""# },
      ]
      return "{" + (rules.compactMap(\.self) + more).joined(separator: ", ") + "}"
    }
    let valid = #"".validate": "\#(wantsNumbers ? "newData.isNumber()" : "true")""#
    let a = #""a": "# + object("a", #""x": "# + object("a/x", valid), #""$k": {\#(valid)}"#)
    let b = #""b": "# + object("b", #""x": "# + object("b/x"))
    let flag = #""flag": "# + object("flag")
    return #"{"rules": "# + object("/", a, b, flag) + "}"
  }

  private func grants(_ rules: [Path: RandomCondition], _ question: RuleQuestion) -> Bool {
    (0...question.path.count).contains { count in
      rules[Path(question.path.keys.prefix(count))]?.holds(question) == true
    }
  }

  func canRead(_ question: RuleQuestion) -> Bool { grants(reads, question) }

  func canWrite(_ question: RuleQuestion) -> Bool {
    guard grants(writes, question) else { return false }
    guard wantsNumbers, question.path.isRoot || question.path.first == "a" else { return true }
    let children = question.newRoot["a" as ChildKey].children?.map.map { $0 } ?? []
    return children.allSatisfy { key, node in
      // Validation does not cover the siblings of the written path.
      if question.path.count > 1, question.path.keys[1] != key { return true }
      return node.leafValue?.number != nil
    }
  }
}
