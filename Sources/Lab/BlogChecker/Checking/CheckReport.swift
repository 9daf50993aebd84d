/// What a check has found.
package struct CheckReport: Sendable {
  /// One promise of the report.
  package struct Line: Sendable {
    /// The numbers of the promises, such as "I6/G7".
    package let name: String
    /// The promises.
    package let promises: [Promise]
    /// What it says.
    package let statement: String
    /// How often it was checked.
    package let checked: Int
    /// How often it did not hold.
    package let violationCount: Int
    /// The first violations.
    package let violations: [Violation]

    init(_ invariant: any Invariant) {
      promises = type(of: invariant).promises
      name = promises.map(\.rawValue).joined(separator: "/")
      statement = type(of: invariant).statement
      checked = invariant.findings.checked
      violationCount = invariant.findings.violationCount
      violations = invariant.findings.violations
    }
  }

  /// How a check ends.
  package enum Verdict: Hashable, Sendable {
    /// Enough was done, and everything held.
    case held
    /// Something did not hold.
    case violated
    /// Nothing was wrong, but too little was done to mean anything; what there was too little of.
    case tooLittle([String])
  }

  /// All promises.
  package let lines: [Line]
  /// How much was done.
  package let activity: Activity
  /// How it ends.
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

  /// What was not checked at all: the run had nothing that it could be seen by.
  package var unchecked: [Line] { lines.filter { $0.checked == 0 } }

  /// How many violations there are.
  package var violationCount: Int { lines.reduce(0) { $0 + $1.violationCount } }

  /// The promises that were not kept.
  package var violated: Set<Promise> {
    Set(lines.filter { $0.violationCount > 0 }.flatMap(\.promises))
  }
}
