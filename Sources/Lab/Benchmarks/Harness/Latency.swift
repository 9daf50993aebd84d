/// How long single operations took: half of them at most, and all but one in a hundred.
struct Latency {
  /// In nanoseconds.
  let median: Double
  /// In nanoseconds.
  let p99: Double

  init(median: Double, p99: Double) {
    self.median = median
    self.p99 = p99
  }

  /// Nil without samples.
  ///
  /// - Parameter samples: Times in nanoseconds.
  /// - Complexity: O(n log n)
  init?(of samples: [UInt32]) {
    guard !samples.isEmpty else { return nil }
    let sorted = samples.sorted()
    median = Double(sorted[sorted.count / 2])
    p99 = Double(sorted[min(sorted.count - 1, sorted.count * 99 / 100)])
  }
}

extension Latency: CustomStringConvertible {
  var description: String {
    "\(Figure(value: median, unit: .time)) / \(Figure(value: p99, unit: .time))"
  }
}
