package import RealtimeCore

/// The result of a check.
package struct CheckReport: Sendable {
  /// One line of the report, for one promise or several.
  package struct Line: Sendable {
    /// The numbers of the promises, such as "I6/G7".
    package let name: String
    /// The promises.
    package let promises: [Promise]
    /// What the promises say.
    package let statement: String
    /// How often the promises were checked.
    package let checked: Int
    /// How often the promises did not hold.
    package let violationCount: Int
    /// The first violations.
    package let violations: [Violation]

    init(_ invariant: any Invariant) {
      promises = type(of: invariant).promises
      name = Self.name(of: promises)
      statement = type(of: invariant).statement
      checked = invariant.findings.checked
      violationCount = invariant.findings.violationCount
      violations = invariant.findings.violations
    }

    static func name(of promises: [Promise]) -> String {
      promises.map(\.rawValue).joined(separator: "/")
    }
  }

  /// The outcome of a check.
  package enum Verdict: Hashable, Sendable {
    /// Enough was done, and everything held.
    case held
    /// Something did not hold.
    case violated
    /// Nothing was wrong, but too little was done to mean anything; the texts name the shortages.
    case tooLittle([String])
  }

  /// The lines of all promises.
  package let lines: [Line]
  /// How much was done.
  package let activity: Activity
  /// The outcome.
  package let verdict: Verdict

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
  package var unchecked: [Line] { lines.filter { $0.checked == 0 } }

  /// The total number of violations.
  package var violationCount: Int { lines.reduce(0) { $0 + $1.violationCount } }

  /// The promises that were not kept.
  package var violated: Set<Promise> {
    Set(lines.filter { $0.violationCount > 0 }.flatMap(\.promises))
  }
}

extension CheckReport {
  /// The report as a table for people, with the first violations below it.
  ///
  /// It quotes text written by users, which must be escaped before it is printed.
  package var text: String {
    let width = lines.map(\.statement.count).max() ?? 0
    var rows = [
      "\(Self.padded("promise", to: 8)) \(Self.padded("what it says", to: width))    checked  violations"
    ]
    for line in lines {
      rows.append(
        "\(Self.padded(line.name, to: 8)) \(Self.padded(line.statement, to: width)) "
          + "\(Self.padded(String(line.checked), to: 10, isNumber: true)) "
          + "\(Self.padded(String(line.violationCount), to: 11, isNumber: true))"
      )
    }
    rows.append(
      "\(Words.count(activity.clients, "client")), \(Words.count(activity.operations, "operation")) "
        + "(\(activity.acknowledged) acknowledged, \(activity.refused) refused, "
        + "\(activity.unknown) unknown), \(activity.shown) shown, "
        + "\(Words.count(activity.commits, "commit")), \(Words.count(activity.gaps, "gap")), "
        + Words.count(activity.crashes, "crash", plural: "crashes")
    )
    for line in lines where line.violationCount > 0 {
      rows.append("")
      rows.append("\(line.name): \(Words.count(line.violationCount, "violation"))")
      for violation in line.violations.prefix(3) {
        rows.append("  \(violation.location): \(violation.problem)")
        rows += violation.evidence.map { "    \($0)" }
      }
    }
    rows.append(verdictText)
    return rows.joined(separator: "\n")
  }

  private var verdictText: String {
    switch verdict {
    case .held: "violations: 0"
    case .violated: "violations: \(violationCount)"
    case .tooLittle(let shortages):
      "too little was done to mean anything: \(shortages.joined(separator: ", "))"
    }
  }

  private static func padded(_ text: String, to width: Int, isNumber: Bool = false) -> String {
    let blanks = String(repeating: " ", count: max(0, width - text.count))
    return isNumber ? blanks + text : text + blanks
  }

  /// The report as JSON.
  package var json: JSONValue {
    .object(
      ("verdict", .string(verdictName)),
      ("violations", .integer(Int64(violationCount))),
      ("activity", activity.json),
      ("promises", .array(lines.map(\.json)))
    )
  }

  private var verdictName: String {
    switch verdict {
    case .held: "held"
    case .violated: "violated"
    case .tooLittle: "too little"
    }
  }
}

extension CheckReport.Line {
  fileprivate var json: JSONValue {
    .object(
      ("name", .string(name)),
      ("statement", .string(statement)),
      ("checked", .integer(Int64(checked))),
      ("violations", .integer(Int64(violationCount))),
      (
        "first",
        .array(
          violations.map { violation in
            .object(
              ("place", .string(violation.location)),
              ("problem", .string(violation.problem)),
              ("evidence", .array(violation.evidence.map { .string($0) }))
            )
          }
        )
      )
    )
  }
}

extension Activity {
  fileprivate var json: JSONValue {
    let counts = [
      ("clients", clients), ("operations", operations), ("acknowledged", acknowledged),
      ("refused", refused), ("unknown", unknown), ("comments", comments), ("stars", stars),
      ("shown", shown), ("commits", commits), ("gaps", gaps), ("crashes", crashes),
    ]
    return .object(counts.map { JSONMember($0.0, .integer(Int64($0.1))) })
  }
}

/// How much was done in a run.
package struct Activity: Hashable, Sendable {
  /// The number of clients, without the driver.
  package let clients: Int
  /// The number of operations that began.
  package let operations: Int
  /// The number of operations that were acknowledged.
  package let acknowledged: Int
  /// The number of operations that were refused.
  package let refused: Int
  /// The number of operations whose outcome is unknown.
  package let unknown: Int
  /// The number of acknowledged comments.
  package let comments: Int
  /// The number of acknowledged stars, added or removed.
  package let stars: Int
  /// The number of things that listeners have shown.
  package let shown: Int
  /// The number of commits that were seen one by one.
  package let commits: Int
  /// How often commits were missed.
  package let gaps: Int
  /// How often the server was killed.
  package let crashes: Int

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
    stars = operations.count { operation in
      switch operation.intent {
      case .star, .unstar: operation.isAcknowledged
      case .post, .editPost, .deletePost, .comment, .deleteComment, .increment, .read, .starAs,
        .editOther, .administer:
        false
      }
    }
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
