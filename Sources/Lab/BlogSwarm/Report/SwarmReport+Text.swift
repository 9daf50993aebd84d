private import BlogChecker
private import Foundation

extension SwarmReport {
  /// The report as a person reads it, a line each.
  package var lines: [String] {
    header + [""] + latencies + [""] + trends + promises + [""] + ending
  }

  private var header: [String] {
    let activity = check.activity
    let faults = FaultKind.allCases.compactMap { kind in
      self.faults[kind].map { "\(kind.rawValue) \($0)" }
    }
    return [
      "swarm: \(settings.users) users in \(settings.processes) processes, "
        + "\(Self.number(settings.seconds)) s, seed \(settings.seed), "
        + "stars by \(settings.stars.rawValue)",
      "  mix \(settings.mix.text) at \(Self.number(settings.rate)) operations/s, open loop",
      "  faults: \(faults.isEmpty ? "none" : faults.joined(separator: ", "))"
        + "; the server ended \(serverEnds) times",
      "  operations: \(activity.operations) begun, \(activity.acknowledged) acknowledged, "
        + "\(activity.refused) refused, \(activity.unknown) unknown, \(tally.skipped) skipped",
      "  commits: \(activity.commits); shown: \(activity.shown); "
        + "connections: \(tally.connections); "
        + "transactions: \(tally.transactions) with \(retries) retries (of the watched clients)",
    ]
  }

  private var latencies: [String] {
    let rows = [
      ("write to acknowledged", tally.acknowledged),
      ("write to seen elsewhere", tally.seen),
      ("due to begun", tally.lateness),
    ]
    let title =
      Self.cell("latency in ms", 26) + Self.columns(["count", "p50", "p90", "p99", "max"])
    return [title]
      + rows.map { name, latencies in
        let numbers = [50.0, 90, 99].map { Self.number(latencies.milliseconds(atPercentile: $0)) }
        return Self.cell(name, 26)
          + Self.columns(["\(latencies.count)"] + numbers + [Self.number(latencies.maximum)])
      }
  }

  private var trends: [String] {
    if resources.isEmpty { return [] }
    let title = Self.cell("taken of the machine", 26) + Self.columns(["first", "last", "per hour"])
    return [title]
      + resources.map { trend in
        let numbers = [trend.first, trend.last, trend.perHour].map(Self.number)
        return Self.cell(trend.name, 26) + Self.columns(numbers)
          + (trend.isFlat ? "  flat" : "  GROWS")
      } + [""]
  }

  private var promises: [String] {
    let title = Self.cell("promise", 12) + Self.columns(["checked", "violations"]) + "  statement"
    return [title]
      + check.lines.flatMap { line in
        [
          Self.cell(line.name, 12)
            + Self.columns(["\(line.checked)", "\(line.violationCount)"]) + "  \(line.statement)"
        ] + line.violations.prefix(3).map { "    ! \($0)" }
      }
  }

  private var ending: [String] {
    let convergence =
      convergence.map { "all clients showed the same after \(Self.number($0 / .seconds(1))) s" }
      ?? "the clients never showed the same"
    let unchecked = check.unchecked.map { "\($0.name) (\($0.statement))" }
    return mishaps.map { "mishap: \($0)" } + [
      convergence,
      unchecked.isEmpty
        ? "every promise was checked"
        : "NOT CHECKED, for want of anything to see it by: \(unchecked.joined(separator: ", "))",
      "verdict: \(verdict)",
    ] + (directory.map { ["histories: \($0)"] } ?? [])
  }

  private static func columns(_ texts: [String]) -> String {
    texts.map { String(repeating: " ", count: max(1, 11 - $0.count)) + $0 }.joined()
  }

  private static func cell(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(1, width - text.count))
  }

  /// A number with at most one digit after the point.
  private static func number(_ value: Double) -> String {
    let text = String(format: "%.1f", value)
    return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
  }
}
