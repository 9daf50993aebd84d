package struct CheckReport: Sendable {
  /// One line of the report, for one promise or several.
  package struct Line: Sendable {
    /// The numbers of the promises, such as "I6/G7".
    let name: String
    let promises: [Promise]
    let statement: String
    /// How often the promises were checked.
    let checked: Int
    /// How often the promises did not hold.
    let violationCount: Int
    let violations: [Violation]

    init(_ invariant: any Invariant) {
      promises = type(of: invariant).promises
      name = Self.name(of: promises)
      statement = type(of: invariant).statement
      checked = invariant.findings.checked
      violationCount = invariant.findings.violationCount
      violations = invariant.findings.violations
    }

    static func name(of promises: [Promise]) -> String {
      promises.map(\.name).joined(separator: "/")
    }
  }

  enum Verdict: Hashable, Sendable {
    /// Enough was done, and everything held.
    case held
    case violated
    /// Nothing was wrong, but too little was done to mean anything; the texts name the shortages.
    case tooLittle([String])
  }

  let lines: [Line]
  let activity: Activity
  let verdict: Verdict

  init(lines: [Line], activity: Activity, least: CheckOptions.Least) {
    self.lines = lines
    self.activity = activity
    let shortages =
      activity.shortages(least)
      + lines.filter { $0.checked == 0 && !least.promises.isDisjoint(with: $0.promises) }
      .map { "\($0.name) was never checked" }
    if lines.contains(where: { $0.violationCount > 0 }) {
      verdict = .violated
    } else {
      verdict = shortages.isEmpty ? .held : .tooLittle(shortages)
    }
  }

  /// The promises that were never checked because nothing in the run involved them.
  var unchecked: [Line] { lines.filter { $0.checked == 0 } }

  var violationCount: Int { lines.reduce(0) { $0 + $1.violationCount } }
}

/// How much was done in a run.
struct Activity: Hashable, Sendable {
  /// The number of clients, without the driver.
  let clients: Int
  let operations: Int
  let acknowledged: Int
  let refused: Int
  let unknown: Int
  let comments: Int
  /// The number of acknowledged stars, added or removed.
  let stars: Int
  /// The number of things that listeners have shown.
  let shown: Int
  /// The number of commits that were seen one by one.
  let commits: Int
  /// How often commits were missed.
  let gaps: Int
  let crashes: Int

  init(_ evidence: Evidence) {
    let operations = evidence.history.operations.filter { !$0.intent.isRead }
    clients = evidence.history.clients.count { $0.header.role != .driver }
    self.operations = operations.count
    acknowledged = operations.count(where: \.isAcknowledged)
    refused = operations.count(where: \.isRefused)
    unknown = operations.count(where: \.isUnknown)
    comments = operations.count { operation in
      if case .comment = operation.intent { operation.isAcknowledged } else { false }
    }
    stars = operations.count { $0.starred != nil && $0.isAcknowledged }
    shown = evidence.history.clients.reduce(0) { sum, client in
      sum + client.lines.count { if case .shown = $0.event { true } else { false } }
    }
    commits = evidence.commits.commitCount
    gaps = evidence.commits.gapCount
    crashes = evidence.commits.entries.count { if case .crash = $0 { true } else { false } }
  }

  /// The shortages in words; empty if enough of everything was done.
  func shortages(_ least: CheckOptions.Least) -> [String] {
    [
      (acknowledged, least.acknowledged, "acknowledged operations"),
      (commits, least.commits, "commits"),
      (comments, least.comments, "acknowledged comments"),
      (stars, least.stars, "acknowledged stars"),
      (shown, least.shown, "things shown"),
    ].filter { $0.0 < $0.1 }.map { "\($0.0) \($0.2) of at least \($0.1)" }
  }
}
