private import Foundation

/// Numbers that users of a swarm add to, beside the blog: nothing else tells how often a write was made.
///
/// They are the swarm's own, and so are the rules that allow them.
package enum SwarmCounters {
  /// The child of the database that they are below.
  package static let root = "swarm-counters"

  /// A number that everybody adds to.
  package static func shared(_ number: Int) -> String { "/\(root)/shared/\(number)" }

  /// A number that one user adds to.
  package static func own(_ uid: String) -> String { "/\(root)/own/\(uid)" }

  /// The same rules, with the numbers in them; nil for a document without rules.
  package static func allowed(in rules: String) -> String? {
    guard let start = rules.firstMatch(of: #/"rules"\s*:\s*\{/#)?.range.upperBound else {
      return nil
    }
    let added = """

          "\(root)": {
            ".read": "auth != null",
            "shared": {
              "$number": { ".write": "auth != null", ".validate": "newData.isNumber()" }
            },
            "own": {
              "$uid": {
                ".write": "auth != null && auth.uid === $uid",
                ".validate": "newData.isNumber()"
              }
            }
          }
      """
    let isAlone = rules[start...].first { !$0.isWhitespace } == "}"
    return rules[..<start] + added + (isAlone ? "" : ",\n") + rules[start...]
  }
}
