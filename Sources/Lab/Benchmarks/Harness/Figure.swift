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
      if value < 1_000 { return Self.text(value, "ns") }
      if value < 1_000_000 { return Self.text(value / 1_000, "µs") }
      return Self.text(value / 1_000_000, "ms")
    case .memory: return Self.text(value, "B")
    case .throughput: return Self.text(value / 1_000_000, "MB/s")
    case .rate:
      if value < 10_000 { return "\(Int(value.rounded()))/s" }
      if value < 1_000_000 { return Self.text(value / 1_000, "k/s") }
      return Self.text(value / 1_000_000, "M/s")
    }
  }

  /// Three significant digits.
  private static func text(_ value: Double, _ unit: String) -> String {
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
