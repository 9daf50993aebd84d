internal import BlogChecker
private import RealtimeCore

/// Measures now and then what the server takes and how fast it answers, and looks what it leaves out.
struct ServerSampling: Sendable {
  private let stage: SwarmStage
  private let history: HistoryWriter

  /// How often the server is asked for something.
  private static let interval = Duration.milliseconds(50)
  /// How many answers make a sample.
  private static let answers = 10
  /// Where the server says what it has done.
  private static let metrics = "/.info/metrics"

  init(_ stage: SwarmStage, history: HistoryWriter) {
    self.stage = stage
    self.history = history
  }

  /// Measures until the task is cancelled.
  func run() async {
    guard let door = stage.door else { return }
    var coalesced: (count: Int64, at: Moment)?
    while !Task.isCancelled {
      let latencies = await latencies(door)
      let start = Moment.now
      if let count = await Self.coalescedPushes(door) {
        let now = Moment.now
        noteStall(now.since(start))
        if let coalesced, coalesced.count != count {
          history.append(.coalesced(microseconds: now.since(coalesced.at).microseconds))
        }
        coalesced = (count, now)
      }
      guard let server = stage.server, latencies.count > 0,
        let facts = await server.processID.flatMap(ProcessFacts.init(of:))
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

  /// Asks the server of one's own for something, over and over; one elsewhere is left in peace.
  private func latencies(_ door: AdministratorDoor) async -> Latencies {
    var latencies = Latencies()
    for _ in 0..<Self.answers where !Task.isCancelled {
      let start = Moment.now
      if stage.server != nil, (try? await door.get("/users/nobody")) != nil {
        let latency = Moment.now.since(start)
        latencies.record(microseconds: latency.microseconds)
        noteStall(latency)
      }
      await pause()
    }
    return latencies
  }

  /// Waits, and notes when the machine has made that longer.
  private func pause() async {
    let start = Moment.now
    await Pause.lasting(Self.interval)
    noteStall(Moment.now.since(start) - Self.interval)
  }

  /// Notes that everything takes long; whether the server answers in time is another promise.
  private func noteStall(_ delay: Duration) {
    if delay > Self.interval * 4 { history.append(.stalled(microseconds: delay.microseconds)) }
  }

  /// How often the server has told somebody several changes as one; nil where it does not say.
  private static func coalescedPushes(_ door: AdministratorDoor) async -> Int64? {
    guard let metrics = try? await door.get(metrics) else { return nil }
    return (metrics["databases"]?.members ?? []).reduce(0) {
      $0 + ($1.value["coalescedPushes"]?.integer ?? 0)
    }
  }
}
