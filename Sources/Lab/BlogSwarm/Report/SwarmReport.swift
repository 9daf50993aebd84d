package import BlogChecker
private import Foundation
package import RealtimeCore

/// What a run of a swarm was, for people and for programs.
package struct SwarmReport: Sendable {
  /// What was wanted.
  package var settings: SwarmSettings
  /// What was done, and how long it took.
  package var tally = SwarmTally()
  /// How often each fault happened.
  package var faults: [FaultKind: Int] = [:]
  /// How often the server ended.
  package var serverEnds = 0
  /// What leaders did that were stopped for longer than their lease, and woke.
  package var awakenings = Awakenings()
  /// How long it took from the end of the storm until all clients showed the same, if they did.
  package var convergence: Duration?
  /// What the processes took of the machine while the storm lasted.
  package var resources: [ResourceTrend] = []
  /// What the checker has found.
  package var check: CheckReport
  /// Other failures: a client that ended, a server that did not stop.
  package var mishaps: [String] = []
  /// What happened when, as far as the clients have noted it.
  package var timeline = SwarmTimeline()
  /// Where histories and logs are; nil if they are of no interest.
  package var directory: String?

  /// Makes the report of a run.
  package init(settings: SwarmSettings, check: CheckReport, directory: String) {
    self.settings = settings
    self.check = check
    self.directory = directory
  }

  /// Whether everything held and enough was done.
  package var isClean: Bool { check.verdict == .held && mishaps.isEmpty }

  /// How the run ends, in a few words.
  package var verdict: String {
    switch check.verdict {
    case .held: mishaps.isEmpty ? "held" : "failed: " + mishaps.joined(separator: "; ")
    case .violated: "VIOLATED: \(Words.count(check.violationCount, "violation"))"
    case .tooLittle(let shortages):
      "too little to mean anything: " + shortages.joined(separator: ", ")
    }
  }

  /// How many transactions were tried again.
  package var retries: Int { max(0, tally.attempts - tally.transactions) }

  /// The report as JSON.
  package var json: JSONValue {
    let members: [JSONMember] = [
      JSONMember("verdict", .string(verdict)),
      JSONMember("clean", .bool(isClean)),
      JSONMember("violations", .integer(Int64(check.violationCount))),
      JSONMember("settings", settings.json),
      JSONMember("activity", activity),
      JSONMember("faults", .object(faultMembers)),
      JSONMember("serverEnds", .integer(Int64(serverEnds))),
      JSONMember("awakenings", .integer(Int64(awakenings.count))),
      JSONMember("convergenceMilliseconds", convergenceTime),
      JSONMember("transactions", transactions),
      JSONMember("latencyMilliseconds", latency),
      JSONMember("resources", .array(resources.map(\.json))),
      JSONMember("mishaps", .array(mishaps.map { JSONValue.string($0) })),
      JSONMember("promises", .array(check.lines.map(Self.promise))),
      JSONMember("unchecked", .array(check.unchecked.map { .string($0.name) })),
      JSONMember("directory", directory.map { .string($0) } ?? .null),
    ]
    return .object(members)
  }

  private var convergenceTime: JSONValue {
    guard let convergence else { return .null }
    return .double(convergence / .milliseconds(1))
  }

  private var transactions: JSONValue {
    .object(("count", .integer(Int64(tally.transactions))), ("retries", .integer(Int64(retries))))
  }

  private var latency: JSONValue {
    .object(
      ("acknowledged", tally.acknowledged.summary),
      ("seen", tally.seen.summary),
      ("late", tally.lateness.summary)
    )
  }

  private var faultMembers: [JSONMember] {
    FaultKind.allCases.compactMap { kind in
      faults[kind].map { JSONMember(kind.rawValue, .integer(Int64($0))) }
    }
  }

  private var activity: JSONValue {
    let activity = check.activity
    let numbers = [
      ("clients", activity.clients), ("operations", activity.operations),
      ("acknowledged", activity.acknowledged), ("refused", activity.refused),
      ("unknown", activity.unknown), ("skipped", tally.skipped), ("comments", activity.comments),
      ("stars", activity.stars), ("shown", activity.shown), ("commits", activity.commits),
      ("connections", tally.connections), ("crashes", activity.crashes),
    ]
    return .object(numbers.map { JSONMember($0.0, .integer(Int64($0.1))) })
  }

  private static func promise(_ line: CheckReport.Line) -> JSONValue {
    .object(
      ("name", .string(line.name)),
      ("statement", .string(line.statement)),
      ("checked", .integer(Int64(line.checked))),
      ("violations", .integer(Int64(line.violationCount))),
      ("first", .array(line.violations.prefix(3).map { .string($0.description) }))
    )
  }
}

extension SwarmSettings {
  /// The settings as a report has them.
  package var json: JSONValue {
    .object(
      ("users", .integer(Int64(users))),
      ("processes", .integer(Int64(processes))),
      ("servers", .integer(Int64(servers))),
      ("seconds", .double(seconds)),
      ("seed", .string(String(seed))),
      ("mix", .string(mix.text)),
      ("rate", .double(rate)),
      ("faults", .array(faults.map { .string($0.rawValue) })),
      ("stars", .string(stars.rawValue)),
      ("hotPosts", .integer(Int64(hotPosts)))
    )
  }
}

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
      "swarm: \(Words.count(settings.users, "user")) in "
        + Words.count(settings.processes, "process", plural: "processes") + ", "
        + "\(Self.number(settings.seconds)) s, seed \(settings.seed), "
        + "stars by \(settings.stars.rawValue)",
      "  mix \(settings.mix.text) at \(Self.number(settings.rate)) operations/s, open loop",
      "  faults: \(faults.isEmpty ? "none" : faults.joined(separator: ", "))"
        + "; " + ends,
      "  operations: \(activity.operations) begun, \(activity.acknowledged) acknowledged, "
        + "\(activity.refused) refused, \(activity.unknown) unknown, \(tally.skipped) skipped",
      "  commits: \(activity.commits); shown: \(activity.shown); "
        + "connections: \(tally.connections); "
        + "transactions: \(tally.transactions) with "
        + Words.count(retries, "retry", plural: "retries") + " (of the watched clients)",
    ]
  }

  /// How often servers ended, and what became of those that woke.
  private var ends: String {
    guard settings.servers > 1 else {
      return "the server ended \(Words.count(serverEnds, "time"))"
    }
    let times = awakenings.count == 1 ? "once" : "\(awakenings.count) times"
    return "of \(settings.servers) servers on PostgreSQL \(serverEnds) ended; a leader woke "
      + "after its lease \(times), and "
      + (awakenings.wrongs.isEmpty ? "neither answered nor stored anything" : "DID WRONG")
  }

  private var latencies: [String] {
    let rows = [
      ("write to acknowledged", tally.acknowledged),
      ("write to seen elsewhere", tally.seen),
      ("due to begun", tally.lateness),
    ]
    let title =
      Self.cell("latency in ms", width: 26) + Self.columns(["count", "p50", "p90", "p99", "max"])
    return [title]
      + rows.map { name, latencies in
        let numbers = [50.0, 90, 99].map { Self.number(latencies.milliseconds(atPercentile: $0)) }
        return Self.cell(name, width: 26)
          + Self.columns(["\(latencies.count)"] + numbers + [Self.number(latencies.maximum)])
      }
  }

  private var trends: [String] {
    if resources.isEmpty { return [] }
    let title =
      Self.cell("taken of the machine", width: 26) + Self.columns(["first", "last", "per hour"])
    return [title]
      + resources.map { trend in
        let numbers = [trend.first, trend.last, trend.perHour].map(Self.number)
        return Self.cell(trend.name, width: 26) + Self.columns(numbers)
          + (trend.isFlat ? "  flat" : "  GROWS")
      } + [""]
  }

  private var promises: [String] {
    let title =
      Self.cell("promise", width: 12) + Self.columns(["checked", "violations"]) + "  statement"
    return [title]
      + check.lines.flatMap { line in
        [
          Self.cell(line.name, width: 12)
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

  private static func cell(_ text: String, width: Int) -> String {
    text + String(repeating: " ", count: max(1, width - text.count))
  }

  /// A number with at most one digit after the point.
  private static func number(_ value: Double) -> String {
    let text = String(format: "%.1f", value)
    return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
  }
}

/// How something that a process takes has developed over a run, and whether it stays where it is.
package struct ResourceTrend: Hashable, Sendable {
  /// One measurement.
  package struct Sample: Hashable, Sendable {
    /// When it was made, in seconds since the first.
    package var seconds: Double
    /// What was measured.
    package var value: Double

    /// Makes a sample.
    package init(seconds: Double, value: Double) {
      self.seconds = seconds
      self.value = value
    }
  }

  /// The part at the beginning that tells nothing: buffers, caches and heaps find their size in it.
  private static let warmUp = 1.0 / 3
  /// The fewest samples that make a trend.
  private static let fewest = 6
  /// The part of its mean by which something may grow and be called flat.
  private static let share = 0.1

  /// What was measured, such as "server, MB".
  package let name: String
  /// The first value after the warm-up, by the line that fits all of them best.
  package let first: Double
  /// The last value by that line.
  package let last: Double
  /// How much it grows in an hour by that line.
  package let perHour: Double
  /// Whether it grew by no more than what is usual.
  package let isFlat: Bool

  /// Fits a line to what was measured; nil when that is too little to tell.
  ///
  /// - Parameters:
  ///   - name: What was measured.
  ///   - samples: The measurements in the order of time.
  ///   - tolerance: How much it may grow in any case.
  package init?(_ name: String, samples: [Sample], tolerance: Double) {
    guard let end = samples.last?.seconds else { return nil }
    let settled = samples.filter { $0.seconds >= end * Self.warmUp }
    let start = settled.first?.seconds ?? end
    guard settled.count >= Self.fewest, end > start else { return nil }
    let count = Double(settled.count)
    let meanTime = settled.reduce(0) { $0 + $1.seconds } / count
    let mean = settled.reduce(0) { $0 + $1.value } / count
    let spread = settled.reduce(0) { $0 + ($1.seconds - meanTime) * ($1.seconds - meanTime) }
    let slope =
      settled.reduce(0) { $0 + ($1.seconds - meanTime) * ($1.value - mean) } / spread
    self.name = name
    first = mean + slope * (start - meanTime)
    last = mean + slope * (end - meanTime)
    perHour = slope * 3_600
    isFlat = last - first <= max(tolerance, mean * Self.share)
  }

  /// The trend for programs.
  package var json: JSONValue {
    .object(
      ("name", .string(name)),
      ("first", .double(first)),
      ("last", .double(last)),
      ("perHour", .double(perHour)),
      ("flat", .bool(isFlat))
    )
  }
}
