import Foundation
import RealtimeCore
import RealtimeServer
import TestSupport
import Testing

/// The outcome of an expression: rejected at deployment, or its result at run time.
enum ProbeResult: String, Hashable, Sendable {
  case yes, no, error, rejected
}

/// Evaluates one rule at `/things/$key` on a small database.
struct RuleProbe {
  var kind = RuleKind.write
  var auth = """
    {"uid":"alice","provider":"custom","age":30,"admin":true,"ok":false,
     "token":{"email":"a@b.c","groups":{"staff":true}}}
    """
  var data = """
    {"n":5,"half":0.5,"s":"hello","t":"","b":true,"o":{"a":1,"b":{"c":2}},"p":{".value":1,".priority":"x"},
     "list":{"0":"a","1":"b"},"things":{"k":{"name":"old","n":1}}}
    """
  var newThing = #"{"name":"new","n":2}"#
  var key = "k"
  var now: Int64 = 1_700_000_000_000
  var query = Query.all

  func rules(_ expression: String) throws(RulesError) -> RuleSet {
    let text = JSONValue.string(expression).text
    return try RuleSet(
      source: #"{"rules":{"things":{"$key":{"\#(kind.rawValue)":\#(text)}}}}"#
    )
  }

  func decision(_ expression: String) throws -> Decision {
    let rules = try rules(expression)
    let root = try Node(parsing: data)
    let path = Path([ChildKey("things"), ChildKey(key)])
    let auth = try JSONParser.parse(auth)
    switch kind {
    case .read:
      return rules.canRead(path, query: query, by: RuleSubject(auth), now: now, root: root)
    case .write, .validate:
      let thing = try Node(parsing: newThing)
      let changed = root.setting(path, to: thing)
      let decision = rules.canWrite(
        [path],
        by: RuleSubject(auth),
        now: now,
        from: root,
        to: changed
      )
      rules.expect(decision.isAllowed, onReplacing: path, by: thing, in: root, auth: auth, now: now)
      return decision
    }
  }

  func result(_ expression: String) throws -> ProbeResult {
    do {
      let decision = try decision(expression)
      if decision.isAllowed { return .yes }
      if case .failed? = decision.explanation.decisive?.outcome { return .error }
      return .no
    } catch is RulesError {
      return .rejected
    }
  }
}

extension Node {
  init(parsing json: String) throws {
    self = try Node(json: JSONParser.parse(json))
  }
}

extension RuleSet {
  /// Checks that what the rules decide before the tree is changed is what they decide afterwards.
  func expect(
    _ isAllowed: Bool,
    onReplacing path: Path,
    by node: Node,
    in root: Node,
    auth: JSONValue?,
    now: Int64
  ) {
    guard !node.isEmpty, !path.isPriority else { return }
    let decided = canReplace(path, by: node, in: root, as: RuleSubject(auth), now: now)
    guard let decided else { return }
    #expect(decided.isAllowed == isAllowed, "\(path) \(node.json(.export).text)")
  }

  /// The rules in a file of the package.
  static func asset(_ name: String) throws -> RuleSet {
    try RuleSet(source: PackageFiles.text("assets/rules/\(name)"))
  }
}
