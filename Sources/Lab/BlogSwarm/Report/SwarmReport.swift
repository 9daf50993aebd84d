package import BlogChecker
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
  /// How long it took from the end of the storm until all clients showed the same, if they did.
  package var convergence: Duration?
  /// What the processes took of the machine while the storm lasted.
  package var resources: [ResourceTrend] = []
  /// What the checker has found.
  package var check: CheckReport
  /// What went wrong beside that: a client that ended, a server that did not stop.
  package var mishaps: [String] = []
  /// Where histories and logs are; nil when nobody has to look at them.
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
    case .violated: "VIOLATED: \(check.violationCount) violations"
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
