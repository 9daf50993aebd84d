private import Histogram

/// What the users of a process did, and how long it took.
package struct SwarmTally: Codable, Sendable {
  package var begun = 0
  /// The number of planned operations that were skipped for want of a suitable post.
  package var skipped = 0
  /// The number of transactions that ended; only watchers count theirs.
  package var transactions = 0
  /// How often the update functions of those transactions ran.
  package private(set) var attempts = 0
  /// The number of transactions that reached a first attempt, a second one and so on; the last
  /// element counts all further attempts.
  package private(set) var reached = [Int](repeating: 0, count: 10)
  package var connections = 0
  /// The times from when operations were due to their acknowledgement.
  package var acknowledged = Latencies()
  /// The times from when operations were due to when another client showed them.
  package var seen = Latencies()
  /// The times from when operations were due to when they started.
  package var lateness = Latencies()

  package init() {}

  /// Counts an attempt at a transaction; the first attempt is number 1.
  package mutating func countAttempt(number: Int) {
    attempts += 1
    reached[min(max(number, 1), reached.count) - 1] += 1
  }

  /// The number of transactions that took one attempt, two and so on; the last element includes all
  /// higher numbers.
  package var tries: [Int] {
    reached.indices.map { index in
      max(0, reached[index] - (index + 1 < reached.count ? reached[index + 1] : 0))
    }
  }

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
}

/// A histogram of durations with three significant digits.
package struct Latencies: Sendable {
  private var histogram = Histogram<UInt64>(
    highestTrackableValue: 3_600_000_000,
    numberOfSignificantValueDigits: .three
  )

  package init() {}

  package var count: UInt64 { histogram.totalCount }

  /// Records one duration; a negative one counts as 0.
  package mutating func record(microseconds: Int64) {
    _ = histogram.record(UInt64(min(max(0, microseconds), 3_600_000_000)))
  }

  /// Adds the durations of another histogram.
  ///
  /// - Complexity: O(buckets)
  package mutating func add(_ other: Latencies) {
    histogram.add(other.histogram)
  }

  /// The duration in milliseconds that this percentage of durations does not exceed.
  package func milliseconds(atPercentile percentile: Double) -> Double {
    Double(histogram.valueAtPercentile(percentile)) / 1_000
  }

  /// The longest duration in milliseconds.
  package var maximum: Double { count == 0 ? 0 : Double(histogram.max) / 1_000 }

  /// The usual percentiles in a few words.
  package var brief: String {
    guard count > 0 else { return "not measured yet" }
    let (half, most) = (milliseconds(atPercentile: 50), milliseconds(atPercentile: 99))
    return "p50 \(Int(half)) ms, p99 \(Int(most)) ms"
  }

  /// The usual percentiles, for reports.
  var summary: JSONFields {
    [
      "count": Int64(count), "p50": milliseconds(atPercentile: 50),
      "p90": milliseconds(atPercentile: 90), "p99": milliseconds(atPercentile: 99), "max": maximum,
    ]
  }
}

extension Latencies: Codable {
  package init(from decoder: any Decoder) throws {
    for pair in try [[UInt64]](from: decoder) where pair.count == 2 {
      _ = histogram.record(pair[0], count: pair[1])
    }
  }

  /// Encodes the recorded values, each with its count.
  package func encode(to encoder: any Encoder) throws {
    try histogram.recordedValues().map { [$0.value, UInt64($0.count)] }.encode(to: encoder)
  }
}
