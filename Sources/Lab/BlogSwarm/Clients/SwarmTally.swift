package import RealtimeCore

/// What the users of a process have done, and how long it took.
package struct SwarmTally: Sendable {
  /// How many operations were begun.
  package var begun = 0
  /// How many of the plan could not be done, for want of a post to do them with.
  package var skipped = 0
  /// How many transactions ended, where they are watched.
  package var transactions = 0
  /// How often their functions were asked for data.
  package var attempts = 0
  /// How often a connection was made.
  package var connections = 0
  /// From when an operation was due to its acknowledgement.
  package var acknowledged = Latencies()
  /// From when an operation was due to its showing at another client.
  package var seen = Latencies()
  /// From when an operation was due to its beginning.
  package var lateness = Latencies()

  /// Makes the tally of nothing.
  package init() {}

  /// Adds what was done elsewhere.
  package mutating func add(_ other: SwarmTally) {
    begun += other.begun
    skipped += other.skipped
    transactions += other.transactions
    attempts += other.attempts
    connections += other.connections
    acknowledged.add(other.acknowledged)
    seen.add(other.seen)
    lateness.add(other.lateness)
  }

  /// The tally as another process reads it.
  package var json: JSONValue {
    .object(
      ("begun", .integer(Int64(begun))),
      ("skipped", .integer(Int64(skipped))),
      ("transactions", .integer(Int64(transactions))),
      ("attempts", .integer(Int64(attempts))),
      ("connections", .integer(Int64(connections))),
      ("acknowledged", acknowledged.json),
      ("seen", seen.json),
      ("lateness", lateness.json)
    )
  }

  /// Reads the tally of another process; what is missing counts as nothing.
  package init(_ json: JSONValue) {
    func count(_ name: String) -> Int { json[name]?.integer.flatMap { Int(exactly: $0) } ?? 0 }
    begun = count("begun")
    skipped = count("skipped")
    transactions = count("transactions")
    attempts = count("attempts")
    connections = count("connections")
    acknowledged = Latencies(json["acknowledged"] ?? .null)
    seen = Latencies(json["seen"] ?? .null)
    lateness = Latencies(json["lateness"] ?? .null)
  }
}
