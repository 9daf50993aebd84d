import BlogModel
private import Foundation

/// The settings of a run of a swarm: equal settings make an equal plan.
package struct SwarmSettings: Hashable, Codable, Sendable {
  package var users = 10
  /// How long the storm lasts, in seconds.
  package var seconds: Double = 10
  package var seed: UInt64 = 1
  package var mix = SwarmMix.usual
  /// The number of actions per second, over all users.
  package var rate: Double = 20
  package var faults: [FaultKind] = []
  package var stars = StarStrategy.increment
  /// The number of posts that everybody works with.
  package var hotPosts = 5
  /// The number of servers of the swarm's own blog; several share a PostgreSQL.
  package var servers = 1
  /// The number of users that share a process.
  package var usersPerProcess = 1
  /// The number of users who announce their presence and record everything that they see.
  var watchers = 16

  /// The user IDs at a database that does not use the swarm's own names.
  ///
  /// If there are any, other users' posts are left alone.
  package var uids: [String] = []

  /// The hosts of the servers, where there are several: watchers also read at each of them.
  var hosts: [String] = []

  package init() {}

  /// The number of processes that the users need.
  var processes: Int { (users + usersPerProcess - 1) / usersPerProcess }

  /// The users of a process, counted from 0.
  func users(ofProcess process: Int) -> Range<Int> {
    let first = process * usersPerProcess
    return first..<min(users, first + usersPerProcess)
  }

  /// The user ID of a user; beyond the last user, one that nobody has.
  func uid(_ user: Int) -> String {
    uids.indices.contains(user) ? uids[user] : Self.name(user)
  }

  /// A user's name as others see it.
  package static func name(_ user: Int) -> String { "swarm\(user)" }

  /// The title of a post that everybody works with.
  static func hotTitle(_ number: Int) -> String { "hot \(number)" }
}

/// How a star is added: by the strategies of this program, or by those of other programs.
package typealias StarStrategy = HistoryHeader.Strategy

extension StarStrategy: Codable {
  /// The way a blog writes stars by this strategy; for strategies that the blog lacks, any will do.
  var method: StarMethod { self == .increment ? .increment : .transaction }
}

/// Counters that users of a swarm increment, which show how often a write took effect.
///
/// The counters and the rules that allow them belong to the swarm, not to the blog.
enum SwarmCounters {
  /// The child of the root that contains the counters.
  static let root = "swarm-counters"

  /// The path of a number that everybody adds to.
  static func shared(_ number: Int) -> String { "/\(root)/shared/\(number)" }

  /// The path of a number that only one user adds to.
  static func own(_ uid: String) -> String { "/\(root)/own/\(uid)" }

  /// The same rules, extended for the counters; nil for a document without rules.
  static func allowed(in rules: String) -> String? {
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

/// Texts that are meant to break screens: what a malicious user's post may contain.
enum HostileTexts {
  /// Texts that the rules of a blog permit.
  static let permitted: [String] = [
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

  /// Texts that only an administrator or another server can write.
  static let forbidden: [String] = [
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
