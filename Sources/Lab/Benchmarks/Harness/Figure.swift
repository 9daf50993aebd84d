/// A measured amount with its unit.
struct Figure: Comparable {
  enum Unit {
    /// Nanoseconds per operation.
    case time
    /// Bytes of memory per item.
    case memory
    /// Bytes per second.
    case throughput
    /// Operations per second.
    case rate
  }

  let value: Double
  let unit: Unit
  /// How long single operations took, where that was measured.
  var latency: Latency?

  static func time(_ total: Duration, operations: Int = 1) -> Figure {
    Figure(value: total.nanoseconds / Double(operations), unit: .time)
  }

  /// The time of an operation that a closure does in each of several rounds.
  static func time(over rounds: Int, of body: (_ round: Int) throws -> Void) rethrows -> Figure {
    let total = try ContinuousClock().measure { for round in 0..<rounds { try body(round) } }
    return .time(total, operations: rounds)
  }

  static func memory(_ bytes: Int, items: Int = 1) -> Figure {
    Figure(value: Double(bytes) / Double(items), unit: .memory)
  }

  static func throughput(_ bytes: Int, in time: Duration) -> Figure {
    Figure(value: Double(bytes) / (time.nanoseconds / 1e9), unit: .throughput)
  }

  /// The operations per second, with the durations of single operations in nanoseconds.
  static func rate(_ operations: Int, in time: Duration, samples: [UInt32] = []) -> Figure {
    Figure(
      value: Double(operations) / (time.nanoseconds / 1e9),
      unit: .rate,
      latency: Latency(of: samples)
    )
  }

  /// The operations per second and their latency, by their durations; the total is by default the
  /// sum.
  static func rate(_ times: [Duration], in total: Duration? = nil) -> Figure {
    rate(
      times.count,
      in: total ?? times.reduce(.zero, +),
      samples: times.map { UInt32(clamping: Int64($0.nanoseconds)) }
    )
  }

  /// The rate and the latency of what a closure does again and again for a time.
  static func rate(for time: Duration, of body: () throws -> Void) rethrows -> Figure {
    let clock = ContinuousClock()
    let begin = clock.now
    var times: [Duration] = []
    while clock.now - begin < time { times.append(try clock.measure(body)) }
    return rate(times, in: clock.now - begin)
  }

  /// The median of figures of one unit, with the median latencies; nil if there are none.
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

  /// A number with three significant digits.
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

/// The median and the 99th percentile of the durations of single operations.
struct Latency {
  /// The median, in nanoseconds.
  let median: Double
  /// The 99th percentile, in nanoseconds.
  let p99: Double
}

extension Latency {
  /// Computes the latency from times in nanoseconds; nil without any.
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

/// A target that the design sets for a benchmark.
enum Aim {
  /// At least this many times the yardstick.
  case ratio(Double)
  /// At least this amount, in the benchmark's unit.
  case atLeast(Figure)
  /// At most this amount, in the benchmark's unit.
  case atMost(Figure)
  /// All but one operation in a hundred within this time.
  case p99(Duration)

  /// Whether a measurement meets the target; nil if the measurement does not allow a verdict.
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
