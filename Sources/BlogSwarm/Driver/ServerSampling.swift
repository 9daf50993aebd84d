internal import BlogChecker

/// Measures now and then what the server takes and how fast it answers.
struct ServerSampling: Sendable {
  private let stage: SwarmStage
  private let history: HistoryWriter

  /// How often the server is asked for something.
  private static let interval = Duration.milliseconds(50)
  /// How many answers make a sample.
  private static let answers = 10

  init(_ stage: SwarmStage, history: HistoryWriter) {
    self.stage = stage
    self.history = history
  }

  /// Measures until the task is cancelled.
  func run() async {
    guard let server = stage.server, let door = stage.door else { return }
    while !Task.isCancelled {
      var latencies = Latencies()
      for _ in 0..<Self.answers where !Task.isCancelled {
        let start = Moment.now
        if (try? await door.get("/users/nobody")) != nil {
          latencies.record(microseconds: Moment.now.microseconds - start.microseconds)
        }
        await Pause.lasting(Self.interval)
      }
      guard latencies.count > 0, let facts = await server.processID.flatMap(ProcessFacts.init(of:))
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
}
