private import Foundation

/// A message between the driver of a run and a client process: a line of JSON.
package protocol CrewMessage: Codable, Sendable {}

extension CrewMessage {
  package var line: String {
    (try? JSONEncoder().encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? ""
  }

  package init?(_ line: String) {
    guard let message = try? JSONDecoder().decode(Self.self, from: Data(line.utf8)) else {
      return nil
    }
    self = message
  }
}

/// An order from the driver of a run to a client process.
package enum CrewOrder: CrewMessage, Hashable {
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
}

/// A report from a client process to the driver of a run.
package enum CrewReport: CrewMessage {
  /// This many things are under way.
  case pending(Int)
  /// What the views show: the distinct digests of each view.
  case views([String: [String]])
  /// How long the operations took that were acknowledged since the last such report.
  case acknowledged(Latencies)
  /// What the users did; the last report of a process.
  case tally(SwarmTally)
}
