import Foundation

/// A client process as the driver of a run sees it.
actor CrewProcess {
  /// The number of the process, from 0.
  nonisolated let number: Int
  private let arguments: [String]
  private let errors: String
  private var child: ChildProcess?
  private var start: Moment?
  private var pulse: (@Sendable (Latencies) -> Void)?
  private var question = 0
  private var waiting: CheckedContinuation<CrewReport?, Never>?

  /// Describes a process that is not running yet.
  init(_ number: Int, arguments: [String], errors: String) {
    self.number = number
    self.arguments = arguments
    self.errors = errors
  }

  var processID: pid_t? {
    child.flatMap { $0.isRunning ? $0.id : nil }
  }

  func launch() throws {
    let child = try ChildProcess(arguments, errors: errors)
    self.child = child
    if let start { begin(start, reportsTo: pulse) }
    Task { [weak self] in
      for await line in child.lines {
        if let report = CrewReport(line) { await self?.receive(report) }
      }
      await self?.hear(nil, from: child)
    }
  }

  /// Makes the users start the plan.
  ///
  /// - Parameters:
  ///   - start: When the plan begins.
  ///   - pulse: Called twice a second with the latencies of what was acknowledged; nil if nobody
  ///     wants to know.
  func begin(_ start: Moment, reportsTo pulse: (@Sendable (Latencies) -> Void)? = nil) {
    self.start = start
    self.pulse = pulse
    child?.tell(CrewOrder.begin(start.microseconds).line)
    if pulse != nil { child?.tell(CrewOrder.watch.line) }
  }

  /// Sends the process an order that needs no answer.
  func tell(_ order: CrewOrder) {
    child?.tell(order.line)
  }

  func send(_ signal: Int32) {
    child?.send(signal)
  }

  /// Kills the process and starts it again after a pause.
  func killAndRestart(after pause: Duration) async throws {
    guard let child, child.isRunning else { return }
    child.send(SIGKILL)
    await child.end()
    await Pause.lasting(pause)
    try launch()
  }

  /// Asks how much is under way; nil when no answer arrives in time.
  func pending() async -> Int? {
    guard case .pending(let count)? = await ask(.count) else { return nil }
    return count
  }

  /// Asks what the views show; nil when no answer arrives in time.
  func views() async -> [String: [String]]? {
    guard case .views(let views)? = await ask(.view) else { return nil }
    return views
  }

  /// Makes the process exit on its own, and returns what its users did.
  func conclude() async -> SwarmTally? {
    guard case .tally(let tally)? = await ask(.conclude) else { return nil }
    await child?.end()
    return tally
  }

  /// Kills the process, whatever it is doing.
  func end() async {
    child?.send(SIGKILL)
    await child?.end()
  }

  /// Asks and waits for the answer; only one question at a time is allowed.
  private func ask(_ order: CrewOrder, within limit: Duration = .seconds(60)) async -> CrewReport? {
    guard let child, child.isRunning, waiting == nil else { return nil }
    question += 1
    let asked = question
    Task { [weak self] in
      await Pause.lasting(limit)
      await self?.giveUp(asked)
    }
    return await withCheckedContinuation { continuation in
      waiting = continuation
      child.tell(order.line)
    }
  }

  private func giveUp(_ asked: Int) {
    if asked == question { take(nil) }
  }

  private func hear(_ report: CrewReport?, from child: ChildProcess) {
    if self.child === child { take(report) }
  }

  private func receive(_ report: CrewReport) {
    if case .acknowledged(let latencies) = report { pulse?(latencies) } else { take(report) }
  }

  private func take(_ report: CrewReport?) {
    waiting?.resume(returning: report)
    waiting = nil
  }
}
