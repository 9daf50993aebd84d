private import Histogram
package import RealtimeCore

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
