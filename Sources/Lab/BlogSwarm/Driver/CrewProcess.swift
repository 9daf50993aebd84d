package import BlogChecker
package import Foundation

/// A process of clients as the driver of a run sees it.
package actor CrewProcess {
  /// Which process, counted from 0.
  package nonisolated let number: Int
  private let arguments: [String]
  private let errors: String
  private var child: ChildProcess?
  private var start: Moment?
  private var question = 0
  private var waiting: CheckedContinuation<CrewReport?, Never>?

  /// Describes a process, which does not run yet.
  ///
  /// - Parameters:
  ///   - number: Which one.
  ///   - arguments: What the program is started with.
  ///   - errors: The file that takes what it says on stderr.
  package init(_ number: Int, arguments: [String], errors: String) {
    self.number = number
    self.arguments = arguments
    self.errors = errors
  }

  /// The number of the process, or nil while there is none.
  package var processID: pid_t? {
    child.flatMap { $0.isRunning ? $0.id : nil }
  }

  /// Starts the process.
  ///
  /// - Throws: `ChildProcess.Problem`.
  package func launch() throws {
    let child = try ChildProcess(arguments, errors: errors)
    self.child = child
    if let start { child.tell(CrewOrder.begin(start.microseconds).line) }
    Task { [weak self] in
      for await line in child.lines {
        if let report = CrewReport(line) { await self?.take(report) }
      }
      await self?.hear(nil, from: child)
    }
  }

  /// Has the users begin with the plan.
  package func begin(_ start: Moment) {
    self.start = start
    child?.tell(CrewOrder.begin(start.microseconds).line)
  }

  /// Tells the process something that needs no answer.
  package func tell(_ order: CrewOrder) {
    child?.tell(order.line)
  }

  /// Sends a signal to the process.
  package func send(_ signal: Int32) {
    child?.send(signal)
  }

  /// Kills the process and starts another one after a while.
  ///
  /// - Throws: `ChildProcess.Problem`.
  package func killAndRestart(after pause: Duration) async throws {
    guard let child, child.isRunning else { return }
    child.send(SIGKILL)
    await child.end()
    await Pause.lasting(pause)
    try launch()
  }

  /// Asks how many things are under way; nil when there is no answer in time.
  package func pending() async -> Int? {
    guard case .pending(let count)? = await ask(.count) else { return nil }
    return count
  }

  /// Asks what the views have; nil when there is no answer in time.
  package func views() async -> [String: [String]]? {
    guard case .views(let views)? = await ask(.view) else { return nil }
    return views
  }

  /// Has the process end by itself, and returns what its users did.
  package func conclude() async -> SwarmTally? {
    guard case .tally(let tally)? = await ask(.conclude) else { return nil }
    await child?.end()
    return tally
  }

  /// Ends the process whatever it does.
  package func end() async {
    child?.send(SIGKILL)
    await child?.end()
  }

  /// Asks and waits for the answer, one question at a time.
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

  private func take(_ report: CrewReport?) {
    waiting?.resume(returning: report)
    waiting = nil
  }
}
