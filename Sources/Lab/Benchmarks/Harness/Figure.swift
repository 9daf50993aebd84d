/// A measured amount with its unit.
struct Figure: Comparable {
  /// What an amount counts.
  enum Unit {
    /// Nanoseconds for one operation.
    case time
    /// Bytes of memory for one item.
    case memory
    /// Bytes in a second.
    case throughput
    /// Operations in a second.
    case rate
  }

  let value: Double
  let unit: Unit
  /// How long single operations took, where that was looked at.
  var latency: Latency?

  /// The time of one of so many operations.
  static func time(_ total: Duration, operations: Int = 1) -> Figure {
    Figure(value: total.nanoseconds / Double(operations), unit: .time)
  }

  /// The bytes that one of so many items takes.
  static func memory(_ bytes: Int, items: Int = 1) -> Figure {
    Figure(value: Double(bytes) / Double(items), unit: .memory)
  }

  /// The bytes of a second.
  static func throughput(_ bytes: Int, in time: Duration) -> Figure {
    Figure(value: Double(bytes) / (time.nanoseconds / 1e9), unit: .throughput)
  }

  /// The operations of a second, and how long single ones took, in nanoseconds.
  static func rate(_ operations: Int, in time: Duration, samples: [UInt32] = []) -> Figure {
    Figure(
      value: Double(operations) / (time.nanoseconds / 1e9),
      unit: .rate,
      latency: Latency(of: samples)
    )
  }

  /// The one in the middle of figures of one unit, with the latencies in the middle; nil of none.
  static func median(of figures: [Figure]) -> Figure? {
    guard !figures.isEmpty else { return nil }
    var median = figures.sorted()[figures.count / 2]
    let latencies = figures.compactMap(\.latency)
    if latencies.count == figures.count {
      median.latency = Latency(
        median: latencies.map(\.median).sorted()[latencies.count / 2],
        p99: latencies.map(\.p99).sorted()[latencies.count / 2]
      )
    }
    return median
  }

  static func == (left: Figure, right: Figure) -> Bool { left.value == right.value }

  static func < (left: Figure, right: Figure) -> Bool { left.value < right.value }
}

extension Figure: CustomStringConvertible {
  var description: String {
    switch unit {
    case .time:
      if value < 1_000 { return Self.text(value, unit: "ns") }
      if value < 1_000_000 { return Self.text(value / 1_000, unit: "µs") }
      return Self.text(value / 1_000_000, unit: "ms")
    case .memory: return Self.text(value, unit: "B")
    case .throughput: return Self.text(value / 1_000_000, unit: "MB/s")
    case .rate:
      if value < 10_000 { return "\(Int(value.rounded()))/s" }
      if value < 1_000_000 { return Self.text(value / 1_000, unit: "k/s") }
      return Self.text(value / 1_000_000, unit: "M/s")
    }
  }

  /// Three significant digits.
  private static func text(_ value: Double, unit: String) -> String {
    let rounded =
      switch value {
      case ..<10: "\((value * 100).rounded() / 100)"
      case ..<100: "\((value * 10).rounded() / 10)"
      default: "\(Int(value.rounded()))"
      }
    return "\(rounded) \(unit)"
  }
}

extension Duration {
  /// The whole length in nanoseconds.
  var nanoseconds: Double {
    Double(components.seconds) * 1e9 + Double(components.attoseconds) / 1e9
  }
}

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

/// What the design promises of a benchmark.
enum Aim {
  /// At least so many times the yardstick.
  case ratio(Double)
  /// At least so much, in the benchmark's unit.
  case atLeast(Figure)
  /// At most so much, in the benchmark's unit.
  case atMost(Figure)
  /// All but one in a hundred within this time.
  case p99(Duration)

  /// Whether a measurement keeps the promise; nil where it says nothing about it.
  func isMet(by figure: Figure, ratio: Double?) -> Bool? {
    switch self {
    case .ratio(let least): ratio.map { $0 >= least }
    case .atLeast(let least): figure >= least
    case .atMost(let most): figure <= most
    case .p99(let most): figure.latency.map { $0.p99 <= most.nanoseconds }
    }
  }
}

extension Aim: CustomStringConvertible {
  var description: String {
    switch self {
    case .ratio(let least): "≥ \(least)×"
    case .atLeast(let least): "≥ \(least)"
    case .atMost(let most): "≤ \(most)"
    case .p99(let most): "p99 ≤ \(Figure.time(most))"
    }
  }
}
