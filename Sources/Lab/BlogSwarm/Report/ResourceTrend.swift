package import RealtimeCore

/// How something that a process takes has developed over a run, and whether it stays where it is.
package struct ResourceTrend: Hashable, Sendable {
  /// One measurement.
  package struct Sample: Hashable, Sendable {
    /// When it was made, in seconds since the first.
    package var seconds: Double
    /// What was measured.
    package var value: Double

    /// Makes a sample.
    package init(seconds: Double, value: Double) {
      self.seconds = seconds
      self.value = value
    }
  }

  /// The part at the beginning that tells nothing: buffers, caches and heaps find their size in it.
  private static let warmUp = 1.0 / 3
  /// The fewest samples that make a trend.
  private static let fewest = 6
  /// The part of its mean by which something may grow and be called flat.
  private static let share = 0.1

  /// What was measured, such as "server, MB".
  package let name: String
  /// The first value after the warm-up, by the line that fits all of them best.
  package let first: Double
  /// The last value by that line.
  package let last: Double
  /// How much it grows in an hour by that line.
  package let perHour: Double
  /// Whether it grew by no more than what is usual.
  package let isFlat: Bool

  /// Fits a line to what was measured; nil when that is too little to tell.
  ///
  /// - Parameters:
  ///   - name: What was measured.
  ///   - samples: The measurements in the order of time.
  ///   - tolerance: How much it may grow in any case.
  package init?(_ name: String, _ samples: [Sample], tolerance: Double) {
    guard let end = samples.last?.seconds else { return nil }
    let settled = samples.filter { $0.seconds >= end * Self.warmUp }
    let start = settled.first?.seconds ?? end
    guard settled.count >= Self.fewest, end > start else { return nil }
    let count = Double(settled.count)
    let meanTime = settled.reduce(0) { $0 + $1.seconds } / count
    let mean = settled.reduce(0) { $0 + $1.value } / count
    let spread = settled.reduce(0) { $0 + ($1.seconds - meanTime) * ($1.seconds - meanTime) }
    let slope =
      settled.reduce(0) { $0 + ($1.seconds - meanTime) * ($1.value - mean) } / spread
    self.name = name
    first = mean + slope * (start - meanTime)
    last = mean + slope * (end - meanTime)
    perHour = slope * 3_600
    isFlat = last - first <= max(tolerance, mean * Self.share)
  }

  /// The trend for programs.
  package var json: JSONValue {
    .object(
      ("name", .string(name)),
      ("first", .double(first)),
      ("last", .double(last)),
      ("perHour", .double(perHour)),
      ("flat", .bool(isFlat))
    )
  }
}
