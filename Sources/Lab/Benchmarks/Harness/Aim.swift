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
