import Foundation
import RealtimeCore
import SecurityRules

/// The rules for those who come in by the port of a demonstration.
enum DemoRules {
  /// The document.
  static let source = """
    {
      "rules": {
        ".read": true,
        "posts": { "$post": { ".write": "auth != null" } }
      }
    }
    """

  /// The rule that keeps somebody who is not signed in from writing there.
  static func explanation(of path: String, in root: JSONValue) -> String? {
    guard let rules = try? RuleSet(source: source), let before = try? Node(json: root) else {
      return nil
    }
    let place = Path(wire: path)
    let decision = rules.canWrite(
      [place],
      auth: nil,
      now: 0,
      from: before,
      to: before.setting(place, to: .leaf(.bool(true))),
      explaining: true
    )
    guard !decision.isAllowed, let rule = decision.explanation.decisive else { return nil }
    return "\(rule.rulePath) wants \(rule.expression)"
  }
}
