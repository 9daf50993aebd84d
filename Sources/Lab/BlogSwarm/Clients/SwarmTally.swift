private import Histogram
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
  package private(set) var attempts = 0
  /// How many transactions came to a first attempt, a second one and so on; the last number stands for
  /// all above it.
  package private(set) var reached = [Int](repeating: 0, count: 10)
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

  /// Counts an attempt at a transaction, by its number from 1.
  package mutating func countAttempt(number: Int) {
    attempts += 1
    reached[min(max(number, 1), reached.count) - 1] += 1
  }

  /// How many transactions took one try, two and so on; the last number stands for all above it.
  package var tries: [Int] {
    reached.indices.map { index in
      max(0, reached[index] - (index + 1 < reached.count ? reached[index + 1] : 0))
    }
  }

  /// Adds what was done elsewhere.
  package mutating func add(_ other: SwarmTally) {
    for index in reached.indices { reached[index] += other.reached[index] }
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
      ("reached", .array(reached.map { .integer(Int64($0)) })),
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
    for (index, number) in (json["reached"]?.elements ?? []).enumerated()
    where reached.indices.contains(index) {
      reached[index] = number.integer.flatMap { Int(exactly: $0) } ?? 0
    }
    connections = count("connections")
    acknowledged = Latencies(json["acknowledged"] ?? .null)
    seen = Latencies(json["seen"] ?? .null)
    lateness = Latencies(json["lateness"] ?? .null)
  }
}

/// How long something took, over and over: a histogram with three significant digits.
package struct Latencies: Sendable {
  private var histogram = Histogram<UInt64>(
    highestTrackableValue: 3_600_000_000,
    numberOfSignificantValueDigits: .three
  )

  /// Makes a histogram of nothing.
  package init() {}

  /// How often something was measured.
  package var count: UInt64 { histogram.totalCount }

  /// Notes one duration; a negative one counts as none.
  package mutating func record(microseconds: Int64) {
    _ = histogram.record(UInt64(min(max(0, microseconds), 3_600_000_000)))
  }

  /// Adds what was measured elsewhere.
  ///
  /// - Complexity: O(buckets)
  package mutating func add(_ other: Latencies) {
    histogram.add(other.histogram)
  }

  /// The duration, in milliseconds, that so many of a hundred were not longer than.
  package func milliseconds(atPercentile percentile: Double) -> Double {
    Double(histogram.valueAtPercentile(percentile)) / 1_000
  }

  /// The longest duration in milliseconds.
  package var maximum: Double { count == 0 ? 0 : Double(histogram.max) / 1_000 }

  /// What was measured, as values with how often they were: for another process to add.
  package var json: JSONValue {
    .array(
      histogram.recordedValues().map {
        .array([.integer(Int64($0.value)), .integer(Int64($0.count))])
      }
    )
  }

  /// Reads what another process has measured; what cannot be read is left out.
  package init(_ json: JSONValue) {
    for pair in json.elements ?? [] {
      guard let parts = pair.elements, parts.count == 2, let value = parts[0].integer,
        let count = parts[1].integer, value >= 0, count > 0
      else { continue }
      _ = histogram.record(UInt64(value), count: UInt64(count))
    }
  }

  /// The usual percentiles, for reports.
  package var summary: JSONValue {
    .object(
      ("count", .integer(Int64(count))),
      ("p50", .double(milliseconds(atPercentile: 50))),
      ("p90", .double(milliseconds(atPercentile: 90))),
      ("p99", .double(milliseconds(atPercentile: 99))),
      ("max", .double(maximum))
    )
  }
}
