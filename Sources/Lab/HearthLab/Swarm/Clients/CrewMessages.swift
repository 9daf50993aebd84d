private import RealtimeCore

/// An order from the driver of a run to a client process, one per line.
package enum CrewOrder: Hashable, Sendable {
  /// Start the plan, which began at this time of the monotonic clock, in microseconds.
  case begin(Int64)
  /// Report twice a second what was acknowledged.
  case watch
  /// Start no more operations.
  case finish
  /// Report how much is under way.
  case count
  /// Report what the views show.
  case view
  /// Record the final views, report what was done, and exit.
  case conclude
  /// Make a mistake on purpose.
  case misbehave(InjectedBug)

  /// The order as a line of text.
  package var line: String {
    switch self {
    case .begin(let start): "begin \(start)"
    case .watch: "watch"
    case .finish: "finish"
    case .count: "count"
    case .view: "view"
    case .conclude: "conclude"
    case .misbehave(let bug): "misbehave \(bug.rawValue)"
    }
  }

  /// Parses a line; nil when it is not an order.
  package init?(_ line: String) {
    let words = line.split(separator: " ", maxSplits: 1).map(String.init)
    switch (words.first, words.count > 1 ? words[1] : nil) {
    case ("begin", let start?):
      guard let start = Int64(start) else { return nil }
      self = .begin(start)
    case ("watch", nil): self = .watch
    case ("finish", nil): self = .finish
    case ("count", nil): self = .count
    case ("view", nil): self = .view
    case ("conclude", nil): self = .conclude
    case ("misbehave", let bug?):
      guard let bug = InjectedBug(rawValue: bug) else { return nil }
      self = .misbehave(bug)
    default: return nil
    }
  }
}

/// A report from a client process to the driver of a run, one line of JSON each.
package enum CrewReport: Sendable {
  /// The process is connected and sees the lists.
  case ready
  /// This many things are under way.
  case pending(Int)
  /// What the views show: the distinct digests of each view.
  case views([String: [String]])
  /// How long the operations took that were acknowledged since the last such report.
  case acknowledged(Latencies)
  /// What the users did; the last report of a process.
  case tally(SwarmTally)
  /// The process cannot continue.
  case failed(String)

  /// The report as a line of JSON.
  package var line: String {
    let member: (String, JSONValue) =
      switch self {
      case .ready: ("ready", .bool(true))
      case .pending(let count): ("pending", .integer(Int64(count)))
      case .views(let views):
        (
          "views",
          .object(
            views.sorted { $0.key < $1.key }.map { name, digests in
              JSONMember(name, .array(digests.map { .string($0) }))
            }
          )
        )
      case .acknowledged(let latencies): ("acknowledged", latencies.json)
      case .tally(let tally): ("tally", tally.json)
      case .failed(let reason): ("failed", .string(reason))
      }
    return JSONValue.object(member).text
  }

  /// Parses a line; nil when it is not a report.
  package init?(_ line: String) {
    guard let json = try? JSONParser.parse(line), let member = json.members?.first else {
      return nil
    }
    switch member.name {
    case "ready": self = .ready
    case "pending": self = .pending(Int(member.value.integer ?? 0))
    case "views":
      let pairs = (member.value.members ?? []).map { view in
        (view.name, (view.value.elements ?? []).compactMap(\.string))
      }
      self = .views(Dictionary(pairs, uniquingKeysWith: +))
    case "acknowledged": self = .acknowledged(Latencies(member.value))
    case "tally": self = .tally(SwarmTally(member.value))
    case "failed": self = .failed(member.value.string ?? "")
    default: return nil
    }
  }
}
