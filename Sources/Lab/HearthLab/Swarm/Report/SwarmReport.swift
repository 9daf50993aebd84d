private import Foundation
package import RealtimeCore

/// The report of a run, for people and for programs.
package struct SwarmReport: Sendable {
  var settings: SwarmSettings
  var tally = SwarmTally()
  /// How often each fault was injected.
  var faults: [FaultKind: Int] = [:]
  var serverEnds = 0
  var awakenings = Awakenings()
  /// The time from the end of the storm until all clients showed the same content, if they did.
  var convergence: Duration?
  /// The resources that the processes used during the storm.
  var resources: [ResourceTrend] = []
  var check: CheckReport
  /// Other failures, such as a client that ended or a server that did not stop.
  package var mishaps: [String] = []
  var timeline = SwarmTimeline()
  /// The directory of histories and logs; nil if they are of no interest.
  package var directory: String?

  /// Whether every promise held and enough was done.
  package var isClean: Bool { check.verdict == .held && mishaps.isEmpty }

  /// The outcome of the run, in a few words.
  var verdict: String {
    switch check.verdict {
    case .held: mishaps.isEmpty ? "held" : "failed: " + mishaps.joined(separator: "; ")
    case .violated: "VIOLATED: \(Words.count(check.violationCount, "violation"))"
    case .tooLittle(let shortages):
      "too little to mean anything: " + shortages.joined(separator: ", ")
    }
  }

  /// How many attempts at transactions were retries.
  var retries: Int { max(0, tally.attempts - tally.transactions) }

  package var json: JSONValue {
    let fields: JSONFields = [
      "verdict": verdict, "clean": isClean, "violations": check.violationCount,
      "settings": settings.fields, "activity": activity, "faults": faultCounts,
      "serverEnds": serverEnds, "awakenings": awakenings.count,
      "convergenceMilliseconds": convergence.map { .double($0 / .milliseconds(1)) }
        ?? JSONValue.null,
      "transactions": ["count": tally.transactions, "retries": retries] as JSONFields,
      "latencyMilliseconds": latency, "resources": resources.map(\.fields), "mishaps": mishaps,
      "promises": check.lines.map(Self.promise), "unchecked": check.unchecked.map(\.name),
      "directory": directory?.json ?? JSONValue.null,
    ]
    return fields.object
  }

  private var latency: JSONFields {
    [
      "acknowledged": tally.acknowledged.summary, "seen": tally.seen.summary,
      "late": tally.lateness.summary,
    ]
  }

  private var faultCounts: JSONValue {
    .object(
      FaultKind.allCases.compactMap { kind in
        faults[kind].map { JSONMember(kind.rawValue, .integer(Int64($0))) }
      }
    )
  }

  private var activity: JSONFields {
    let activity = check.activity
    return [
      "clients": activity.clients, "operations": activity.operations,
      "acknowledged": activity.acknowledged, "refused": activity.refused,
      "unknown": activity.unknown, "skipped": tally.skipped, "comments": activity.comments,
      "stars": activity.stars, "shown": activity.shown, "commits": activity.commits,
      "connections": tally.connections, "crashes": activity.crashes,
    ]
  }

  private static func promise(_ line: CheckReport.Line) -> JSONFields {
    [
      "name": line.name, "statement": line.statement, "checked": line.checked,
      "violations": line.violationCount, "first": line.violations.prefix(3).map(\.description),
    ]
  }
}

extension SwarmSettings {
  /// The settings in the form that a report contains.
  var fields: JSONFields {
    [
      "users": users, "processes": processes, "servers": servers, "seconds": seconds, "seed": seed,
      "mix": mix.text, "rate": rate, "faults": faults.map(\.rawValue), "stars": stars,
      "hotPosts": hotPosts,
    ]
  }
}

extension SwarmReport {
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
        + "\(Plot.number(settings.seconds)) s, seed \(settings.seed), "
        + "stars by \(settings.stars.rawValue)",
      "  mix \(settings.mix.text) at \(Plot.number(settings.rate)) operations/s, open loop",
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

  /// How often servers ended, and what those that woke did.
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
        let numbers = [50.0, 90, 99].map { Plot.number(latencies.milliseconds(atPercentile: $0)) }
        return Self.cell(name, width: 26)
          + Self.columns(["\(latencies.count)"] + numbers + [Plot.number(latencies.maximum)])
      }
  }

  private var trends: [String] {
    if resources.isEmpty { return [] }
    let title =
      Self.cell("taken of the machine", width: 26) + Self.columns(["first", "last", "per hour"])
    return [title]
      + resources.map { trend in
        let numbers = [trend.first, trend.last, trend.perHour].map(Plot.number)
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
      convergence.map { "all clients showed the same after \(Plot.number($0 / .seconds(1))) s" }
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
}

/// How the use of a resource has developed over a run, and whether it is level.
struct ResourceTrend: Hashable, Sendable {
  struct Sample: Hashable, Sendable {
    /// When it was made, in seconds since the start of the measurement.
    var seconds: Double
    var value: Double
  }

  /// The initial part that is ignored, in which buffers, caches and heaps reach their size.
  private static let warmUp = 1.0 / 3
  /// The minimum number of samples for a trend.
  private static let fewest = 6
  /// The fraction of its mean by which a value may grow and still count as flat.
  private static let share = 0.1

  /// What was measured, such as "server, MB".
  let name: String
  /// The first value after the warm-up, according to the best-fitting line.
  let first: Double
  /// The last value according to that line.
  let last: Double
  /// The growth per hour according to that line.
  let perHour: Double
  /// Whether the growth is within the tolerance.
  let isFlat: Bool

  /// Fits a line to the samples; nil when there are too few.
  init?(_ name: String, samples: [Sample], tolerance: Double) {
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

  var fields: JSONFields {
    ["name": name, "first": first, "last": last, "perHour": perHour, "flat": isFlat]
  }
}

/// What leaders did after they were frozen for longer than their lease.
struct Awakenings: Hashable, Sendable {
  /// How often a leader woke while another led, and was asked to read and to write.
  private(set) var count = 0
  /// What a woken leader should not have done.
  private(set) var wrongs: [String] = []

  mutating func add(_ found: [String]) {
    count += 1
    wrongs += found
  }
}
