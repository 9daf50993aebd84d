/// The table that is printed.
enum Report {
  static let header = row(
    "benchmark",
    "median",
    "p50 / p99",
    "ratio",
    "yardstick",
    "aim"
  )

  /// The lines of a measurement: one for each yardstick.
  static func lines(_ measurement: Measurement) -> String {
    let figure = measurement.figure
    guard !measurement.comparisons.isEmpty else {
      let latency = figure.latency?.description ?? ""
      return row(measurement.benchmark.name, "\(figure)", latency, "–", "", aims(measurement))
    }
    return measurement.comparisons.enumerated().map { number, comparison in
      let ratio = measurement.ratio(to: comparison).map { "\(($0 * 100).rounded() / 100)×" }
      return row(
        number == 0 ? measurement.benchmark.name : "",
        number == 0 ? "\(figure)" : "",
        number == 0 ? figure.latency?.description ?? "" : "",
        ratio ?? "–",
        text(comparison),
        number == 0 ? aims(measurement) : ""
      )
    }.joined(separator: "\n")
  }

  private static func text(_ comparison: Measurement.Comparison) -> String {
    switch comparison.outcome {
    case .success(let figure):
      let latency = figure.latency.map { " (\($0))" } ?? ""
      return "\(comparison.name), \(figure)\(latency)"
    case .failure(let missing): return "\(comparison.name): \(missing)"
    }
  }

  private static func aims(_ measurement: Measurement) -> String {
    let aims = measurement.benchmark.aims.map(\.description).joined(separator: ", ")
    guard let isMet = measurement.isMet else { return aims }
    return "\(aims): \(isMet ? "met" : "missed")"
  }

  private static func row(_ columns: String...) -> String {
    let widths = [34, 12, 20, 9, 48]
    let padded = zip(columns, widths).map { text, width in
      text + String(repeating: " ", count: max(1, width - text.count))
    }
    return padded.joined() + columns[widths.count...].joined()
  }
}
