/// What a check tolerates, and the minimum that must have been done.
package struct CheckOptions: Sendable {
  /// The minimum that a run must contain, so that a run in which nothing happened does not pass.
  package struct Least: Hashable, Sendable {
    package var acknowledged = 50
    /// The number of commits seen one by one.
    package var commits = 50
    package var comments = 5
    package var stars = 5
    package var shown = 20
    /// The promises that must each have been checked, regardless of the other minimums.
    package var promises: Set<Promise> = []

    package init() {}

    /// What this part of a run must contain; no promise has to be checked in less than all of it.
    package func scaled(by share: Double) -> Least {
      var least = Least()
      for part in [\Least.acknowledged, \.commits, \.comments, \.stars, \.shown] {
        least[keyPath: part] = Int(Double(self[keyPath: part]) * min(max(share, 0), 1))
      }
      return least
    }

    /// No minimum, for a test of a few operations.
    package static var nothing: Least { Least().scaled(by: 0) }
  }

  package var least = Least()
  /// How long a client may take to show its own writes.
  package var echo: Duration = .seconds(2)
  /// How long it may take until a client is told what was committed.
  package var freshness: Duration = .seconds(2)
  /// How long a client's presence may persist after the client has ended.
  package var absence: Duration = .seconds(60)
  /// The maximum memory of the server, in bytes.
  package var residentBytes: Int64 = 1 << 30
  /// The maximum number of files and sockets that the server may have open.
  package var descriptors: Int64 = 4_096
  /// The maximum 99th percentile of the response times.
  package var p99: Duration = .seconds(10)
  /// The maximum number of commits against which the rules are evaluated, evenly spread; evaluation
  /// is slow.
  package var ruledCommits = 5_000
  /// The longest history of one star or number that is searched for an order.
  package var searchedOperations = 200

  package init() {}
}
