/// What a check tolerates, and how much must have been done to mean anything.
package struct CheckOptions: Sendable {
  /// The least that a run must have, so that one in which nothing happened does not pass.
  package struct Least: Hashable, Sendable {
    /// Acknowledged operations.
    package var acknowledged = 50
    /// Commits seen one by one.
    package var commits = 50
    /// Acknowledged comments.
    package var comments = 5
    /// Acknowledged stars, set or taken away.
    package var stars = 5
    /// Things shown by listeners.
    package var shown = 20
    /// The promises that must each have been checked, whatever else was.
    package var promises: Set<Promise> = []

    /// Makes the least of an ordinary run.
    package init() {}

    /// What suits a test of a few operations.
    package static var nothing: Least {
      var least = Least()
      least.acknowledged = 0
      least.commits = 0
      least.comments = 0
      least.stars = 0
      least.shown = 0
      return least
    }
  }

  /// How much must have been done.
  package var least = Least()
  /// How long a client may take to show what it has written itself.
  package var echo: Duration = .seconds(2)
  /// How long it may take until a client is told what was committed.
  package var freshness: Duration = .seconds(2)
  /// How long after the end of a client its presence may stay.
  package var absence: Duration = .seconds(60)
  /// The most memory that the server may take, in bytes.
  package var residentBytes: Int64 = 1 << 30
  /// The most files and sockets that the server may have open.
  package var descriptors: Int64 = 4_096
  /// The slowest that one answer in a hundred may be.
  package var p99: Duration = .seconds(10)
  /// The most commits that the rules are asked about, evenly spread; asking is slow.
  package var ruledCommits = 5_000
  /// The longest histories of one star or number that are searched for an order.
  package var searchedOperations = 200

  /// Makes the options of an ordinary run.
  package init() {}
}
