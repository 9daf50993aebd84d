/// The medians of a benchmark and its yardsticks, measured in turn.
struct Measurement {
  /// A yardstick with its median, or the reason why there is none.
  struct Comparison {
    let name: String
    let outcome: Result<Figure, MissingTool>
  }

  let benchmark: Benchmark
  let figure: Figure
  let comparisons: [Comparison]

  /// Takes the measurement; the first pass of each warms up and does not count.
  ///
  /// - Throws: The benchmark's error; a yardstick whose tool is missing is only left out.
  init(of benchmark: Benchmark, passes: Int) throws {
    self.benchmark = benchmark
    let pass = try benchmark.prepare()
    var figures: [Figure] = []
    var prepared = try benchmark.yardsticks.map { try Series($0) }
    for number in 0...passes {
      let figure = try pass()
      if number > 0 { figures.append(figure) }
      for index in prepared.indices { try prepared[index].run(counts: number > 0) }
    }
    guard let median = Figure.median(of: figures) else {
      throw MissingTool(description: "at least one pass is needed")
    }
    figure = median
    comparisons = prepared.map(\.comparison)
  }

  /// The ratio of the benchmark to the first yardstick.
  var ratio: Double? { comparisons.first.flatMap(ratio(to:)) }

  /// The ratio of the benchmark to a yardstick; nil if the units differ.
  func ratio(to comparison: Comparison) -> Double? {
    guard case .success(let other) = comparison.outcome, other.unit == figure.unit else {
      return nil
    }
    return figure.value / other.value
  }

  /// Whether every aim is met; nil if no aim allows a verdict.
  var isMet: Bool? {
    let verdicts = benchmark.aims.compactMap { $0.isMet(by: figure, ratio: ratio) }
    return verdicts.isEmpty ? nil : verdicts.allSatisfy(\.self)
  }
}

extension Measurement {
  /// The passes of one yardstick.
  private struct Series {
    let name: String
    private let pass: Result<Benchmark.Pass, MissingTool>
    private var figures: [Figure] = []

    init(_ yardstick: Yardstick) throws {
      name = yardstick.name
      do {
        pass = .success(try yardstick.prepare())
      } catch let error as MissingTool {
        pass = .failure(error)
      }
    }

    mutating func run(counts: Bool) throws {
      guard case .success(let pass) = pass else { return }
      let figure = try pass()
      if counts { figures.append(figure) }
    }

    var comparison: Comparison {
      let outcome = pass.flatMap { _ in
        Figure.median(of: figures).map { .success($0) }
          ?? .failure(MissingTool(description: "no pass"))
      }
      return Comparison(name: name, outcome: outcome)
    }
  }
}

/// The printed table.
enum Report {
  static let header = row(
    "benchmark",
    "median",
    "p50 / p99",
    "ratio",
    "yardstick",
    "aim"
  )

  /// The lines of a measurement: one per yardstick.
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
