package import BlogChecker
import BlogModel
private import Foundation

/// What a run of a swarm is to be: equal settings make an equal plan.
package struct SwarmSettings: Hashable, Codable, Sendable {
  /// How many users there are.
  package var users = 10
  /// How long the storm lasts.
  package var seconds: Double = 10
  /// Where all choices come from.
  package var seed: UInt64 = 1
  /// What the users do.
  package var mix = SwarmMix.usual
  /// How many actions arrive in a second, over all users.
  package var rate: Double = 20
  /// What is done to them.
  package var faults: [FaultKind] = []
  /// How stars are given.
  package var stars = StarStrategy.increment
  /// How many posts everybody has to do with.
  package var hotPosts = 5
  /// How many servers the swarm's own blog has; several share a PostgreSQL.
  package var servers = 1
  /// How many users share a process.
  package var usersPerProcess = 1
  /// How many users are here for others to see, and tell everything that they see.
  package var watchers = 16

  /// Who the users are at a database that knows them by other names than the swarm does.
  ///
  /// Where there are any, posts of others are left alone.
  package var uids: [String] = []

  /// Makes the usual settings.
  package init() {}

  /// How many processes the users need.
  package var processes: Int { (users + usersPerProcess - 1) / usersPerProcess }

  /// The users of a process, counted from 0.
  package func users(ofProcess process: Int) -> Range<Int> {
    let first = process * usersPerProcess
    return first..<min(users, first + usersPerProcess)
  }

  /// The identifier of a user; beyond the last user, one that nobody has.
  package func uid(_ user: Int) -> String {
    uids.indices.contains(user) ? uids[user] : Self.name(user)
  }

  /// The name of a user that others see.
  package static func name(_ user: Int) -> String { "swarm\(user)" }

  /// The title of a post that everybody has to do with.
  package static func hotTitle(_ number: Int) -> String { "hot \(number)" }
}

/// How a star is given: ours, and what others do.
package typealias StarStrategy = HistoryHeader.Strategy

extension StarStrategy: Codable {
  /// Whether the counts are exact by construction, so that drift is a fault of ours.
  package var isExact: Bool {
    switch self {
    case .transaction, .increment: true
    case .sample, .naive: false
    }
  }

  /// How a blog writes stars by this strategy; what it does not do itself does not matter to it.
  var method: StarMethod { self == .increment ? .increment : .transaction }
}

/// Counters that users of a swarm increment, which show how often a write took effect.
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

/// Texts that are made to break screens: what a post of an ill-meaning person may contain.
package enum HostileTexts {
  /// Texts that the rules of a blog let in.
  package static let permitted: [String] = [
    "\u{202E}gnihton si siht\u{202C} reversed",
    "isolate \u{2066}left\u{2069} \u{2067}right\u{2069}",
    "zero\u{200B}width\u{200D}joiner\u{FEFF}mark",
    "tags \u{E0001}\u{E0041}\u{E007F} unseen",
    "filler \u{3164}\u{115F}\u{FFA0}",
    "e" + String(repeating: "\u{0301}", count: 200),
    "👩‍👩‍👧‍👦👍🏽🏴‍☠️ family",
    "wide 中文字符 and 한국어",
    "line \u{2028} separator \u{2029} here",
    "\"quotes\" \\ 'and' <b>tags</b> & %s %n $(reboot) `ls`",
    String(repeating: "long ", count: 1_000),
    "مرحبا بالعالم שלום עולם",
  ]

  /// Texts that only an administrator or another server can put there.
  package static let forbidden: [String] = [
    "\u{1B}[2J\u{1B}[H cleared",
    "\u{1B}]0;title\u{07} and \u{1B}]52;c;ZXZpbA==\u{07}",
    "\u{9B}31m eight bit \u{9D}0;x\u{9C}",
    "author\rforged",
    "back\u{08}\u{08}\u{08}\u{08}space",
    "nul\u{0}byte",
    "tab\tand\u{0B}vertical\u{0C}feed",
    "\u{1B}[6n\u{1B}[c answer",
    "\u{1B}P+q544e\u{1B}\\ device",
    "shift \u{0E}\u{0F} out",
  ]
}
