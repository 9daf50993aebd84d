private import RealtimeCore

/// What a process of clients tells the driver of a run, a line of JSON each.
package enum CrewReport: Sendable {
  /// It is connected and sees the lists.
  case ready
  /// So many things are under way.
  case pending(Int)
  /// What its views have: the different digests of each view.
  case views([String: [String]])
  /// What was done; the last report of a process.
  case tally(SwarmTally)
  /// It cannot go on.
  case failed(String)

  /// The report as a line.
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
      case .tally(let tally): ("tally", tally.json)
      case .failed(let reason): ("failed", .string(reason))
      }
    return JSONValue.object(member).text
  }

  /// Reads a line; nil when it is no report.
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
    case "tally": self = .tally(SwarmTally(member.value))
    case "failed": self = .failed(member.value.string ?? "")
    default: return nil
    }
  }
}
