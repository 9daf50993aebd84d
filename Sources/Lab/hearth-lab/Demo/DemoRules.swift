import RealtimeCore
import RealtimeServer

/// The rules for clients that connect to the port of a demonstration.
enum DemoRules {
  static let source = """
    {
      "rules": {
        ".read": true,
        "posts": { "$post": { ".write": "auth != null" } }
      }
    }
    """

  /// The rule that keeps a client that is not signed in from writing at a path.
  static func explanation(of path: String, in root: JSONValue) -> String? {
    guard let rules = try? RuleSet(source: source), let before = try? Node(json: root) else {
      return nil
    }
    let place = Path(wire: path)
    let decision = rules.canWrite(
      [place],
      by: .nobody,
      now: 0,
      from: before,
      to: before.setting(place, to: .leaf(.bool(true))),
      explaining: true
    )
    guard !decision.isAllowed, let rule = decision.explanation.decisive else { return nil }
    return "\(rule.rulePath) wants \(rule.expression)"
  }
}
