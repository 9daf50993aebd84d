private import Foundation
private import RealtimeCore

/// Samples the server's resources and response times, and records when it merges changes.
struct ServerSampling: Sendable {
  let stage: SwarmStage
  let history: HistoryWriter

  /// The pause before each request to the server.
  private static let interval = Duration.milliseconds(50)
  /// The number of responses in a sample.
  private static let answers = 10
  private static let metrics = "/.info/metrics"

  /// Measures until the task is cancelled.
  func run() async {
    var coalesced: (count: Int64, at: Moment)?
    while !Task.isCancelled {
      let latencies = await latencies()
      let start = Moment.now
      if let count = await coalescedPushes() {
        let now = Moment.now
        noteStall(now.since(start))
        if let coalesced, coalesced.count != count {
          history.append(.coalesced(microseconds: now.since(coalesced.at).microseconds))
        }
        coalesced = (count, now)
      }
      guard stage.ownsServers, latencies.count > 0,
        let facts = await stage.serverProcess.flatMap(ProcessFacts.init(of:))
      else { continue }
      history.append(
        .sample(
          residentBytes: facts.residentBytes,
          descriptors: facts.descriptors,
          p99Microseconds: Int64(latencies.milliseconds(atPercentile: 99) * 1_000)
        )
      )
    }
  }

  /// Queries the swarm's own server repeatedly; a server elsewhere is left in peace.
  private func latencies() async -> Latencies {
    var latencies = Latencies()
    for _ in 0..<Self.answers where !Task.isCancelled {
      let start = Moment.now
      if stage.ownsServers, (try? await stage.admin.get("/users/nobody")) != nil {
        let latency = Moment.now.since(start)
        latencies.record(microseconds: latency.microseconds)
        noteStall(latency)
      }
      await pause()
    }
    return latencies
  }

  /// Waits, and records when the machine has made the wait longer.
  private func pause() async {
    let start = Moment.now
    await Pause.lasting(Self.interval)
    noteStall(Moment.now.since(start) - Self.interval)
  }

  /// Records that everything is slow; whether the server answers in time is a separate promise.
  private func noteStall(_ delay: Duration) {
    if delay > Self.interval * 4 { history.append(.stalled(microseconds: delay.microseconds)) }
  }

  /// How often the server has merged changes for a slow client; nil if it does not report that.
  private func coalescedPushes() async -> Int64? {
    guard let metrics = try? await stage.admin.get(Self.metrics) else { return nil }
    return (metrics["databases"]?.members ?? []).reduce(0) {
      $0 + ($1.value["coalescedPushes"]?.integer ?? 0)
    }
  }
}

/// Measures throughout a run which resources the server and the clients use.
struct ResourceWatch: Sendable {
  let stage: SwarmStage

  /// The shortest and the longest interval between samples, in seconds.
  private static let intervals = (shortest: 0.25, longest: 10.0)
  /// The number of samples a run should have.
  private static let samples = 400.0
  /// How much the memory of a process may always grow, in MB.
  private static let memoryTolerance = 16.0
  /// How many more descriptors a process may always have.
  private static let descriptorTolerance = 64.0

  /// Measures until the task is cancelled.
  ///
  /// - Returns: The trend of each quantity that was measured often enough, and the memory of a
  ///   client over time.
  func run(for seconds: Double) async -> ResourceUse {
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
      if let id = await stage.serverProcess, let facts = ProcessFacts(of: id) {
        // The counters of a new process start at 0.
        if process != id { server = [] }
        process = id
        server.append((at, facts))
      }
      let ids = await stage.eachCrew { await $0.processID }
      let facts = ids.compactMap { $0.flatMap(ProcessFacts.init(of:)) }
      if !facts.isEmpty { clients.append((at, facts)) }
      await Pause.lasting(.seconds(interval))
    }
    let memory = clients.map { sample in
      let sum = sample.facts.reduce(0) { $0 + Double($1.residentBytes) / 1_048_576 }
      return ResourceTrend.Sample(seconds: sample.at, value: sum / Double(sample.facts.count))
    }
    return ResourceUse(
      trends: Self.trends(of: "the server", samples: server.map { ($0.at, [$0.facts]) })
        + Self.trends(of: "a client", samples: clients),
      clientMemory: memory
    )
  }

  /// The trends of the means over several processes.
  private static func trends(
    of who: String,
    samples: [(at: Double, facts: [ProcessFacts])]
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
        samples: mean { Double($0.residentBytes) / 1_048_576 },
        tolerance: memoryTolerance
      ),
      ResourceTrend(
        "descriptors of \(who)",
        samples: mean { Double($0.descriptors) },
        tolerance: descriptorTolerance
      ),
    ].compactMap(\.self)
  }
}

struct ResourceUse: Sendable {
  var trends: [ResourceTrend]
  /// The mean memory of a client process, in MB.
  var clientMemory: [ResourceTrend.Sample]
}
