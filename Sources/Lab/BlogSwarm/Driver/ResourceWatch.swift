internal import BlogChecker
private import Foundation

/// Measures all through a run what the server and the clients take of the machine.
struct ResourceWatch: Sendable {
  private let stage: SwarmStage

  /// How often it looks, at most and at least.
  private static let intervals = (shortest: 0.25, longest: 10.0)
  /// How many samples a run is to have.
  private static let samples = 400.0
  /// How much the memory of a process may grow in any case, in MB.
  private static let memoryTolerance = 16.0
  /// How many more descriptors a process may have in any case.
  private static let descriptorTolerance = 64.0

  init(_ stage: SwarmStage) {
    self.stage = stage
  }

  /// Measures until the task is cancelled.
  ///
  /// - Parameter seconds: How long that is going to be.
  /// - Returns: What came of each thing that was measured often enough.
  func run(for seconds: Double) async -> [ResourceTrend] {
    let interval = min(
      Self.intervals.longest,
      max(Self.intervals.shortest, seconds / Self.samples)
    )
    let start = Moment.now
    var server: [(at: Double, facts: ProcessFacts)] = []
    var clients: [(at: Double, facts: [ProcessFacts])] = []
    var process: pid_t?
    while !Task.isCancelled {
      let at = Moment.now.since(start) / .seconds(1)
      if let id = await stage.server?.processID, let facts = ProcessFacts(of: id) {
        // Another process begins anew.
        if process != id { server = [] }
        process = id
        server.append((at, facts))
      }
      let ids = await stage.eachCrew { await $0.processID }
      let facts = ids.compactMap { $0.flatMap(ProcessFacts.init(of:)) }
      if !facts.isEmpty { clients.append((at, facts)) }
      await Pause.lasting(.seconds(interval))
    }
    return Self.trends("the server", server.map { ($0.at, [$0.facts]) })
      + Self.trends("a client", clients)
  }

  /// The trends of the means over some processes.
  private static func trends(
    _ who: String,
    _ samples: [(at: Double, facts: [ProcessFacts])]
  ) -> [ResourceTrend] {
    let start = samples.first?.at ?? 0
    func mean(_ value: (ProcessFacts) -> Double) -> [ResourceTrend.Sample] {
      samples.map { sample in
        let sum = sample.facts.reduce(0) { $0 + value($1) }
        return ResourceTrend.Sample(
          seconds: sample.at - start,
          value: sum / Double(sample.facts.count)
        )
      }
    }
    return [
      ResourceTrend(
        "memory of \(who), MB",
        mean { Double($0.residentBytes) / 1_048_576 },
        tolerance: memoryTolerance
      ),
      ResourceTrend(
        "descriptors of \(who)",
        mean { Double($0.descriptors) },
        tolerance: descriptorTolerance
      ),
    ].compactMap(\.self)
  }
}
