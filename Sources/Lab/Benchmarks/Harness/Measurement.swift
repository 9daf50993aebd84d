/// The medians of a benchmark and its yardsticks, measured in turn.
struct Measurement {
  /// A yardstick with its median, or with the reason why there is none.
  struct Comparison {
    let name: String
    let outcome: Result<Figure, MissingTool>
  }

  let benchmark: Benchmark
  let figure: Figure
  let comparisons: [Comparison]

  /// Measures; the first pass of each warms up and does not count.
  ///
  /// - Throws: What the benchmark throws; a yardstick without its tool is only left out.
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

  /// How many times the first yardstick the benchmark is.
  var ratio: Double? { comparisons.first.flatMap(ratio(to:)) }

  /// How many times a yardstick the benchmark is; nil where the units differ.
  func ratio(to comparison: Comparison) -> Double? {
    guard case .success(let other) = comparison.outcome, other.unit == figure.unit else {
      return nil
    }
    return figure.value / other.value
  }

  /// Whether every aim is met; nil without any that can be told.
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
