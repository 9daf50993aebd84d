/// Checks all promises against the evidence that a run has left.
///
///     let observer = try LogObserver(database)
///     observer.start()
///     // … the clients run; observer.serverCrashed(after:) whenever the server was killed …
///     let history = try History(in: directory)
///     let checker = Checker(history, commits: try observer.finish())
///     let report = checker.check()
struct Checker: Sendable {
  private let evidence: Evidence

  init(
    _ history: History,
    commits: CommitHistory,
    options: CheckOptions = CheckOptions()
  ) {
    evidence = Evidence(history: history, commits: commits, options: options)
  }

  /// All promises to check, in the order of a report.
  static let invariants: [any Invariant.Type] = [
    StarCounts.self, CopiesAgree.self, CommentsComplete.self, SendOrder.self, CounterSums.self,
    Convergence.self, OwnWritesShown.self, MonotonicViews.self, Authorship.self,
    PresenceLedger.self, CrashDurability.self, ExactlyOnce.self, ScreenIntegrity.self,
    Bounds.self, RevisionOrder.self, BlackBoxOrder.self, AtomicUpdates.self, EventOrder.self,
    SessionReads.self, RulesOracle.self, ServerAlive.self, ChangesTold.self, ChangesInTime.self,
    ChangesInOrder.self,
  ]

  /// The names of the lines of every report, in its order.
  static var lineNames: [String] {
    invariants.map { CheckReport.Line.name(of: $0.promises) }
  }

  func check(_ tell: (CheckReport.Line) -> Void = { _ in }) -> CheckReport {
    var invariants = Self.invariants.map { $0.init(evidence: evidence, findings: Findings()) }
    for moment in Replay(evidence.commits) {
      for index in invariants.indices {
        switch moment {
        case .step(let step): invariants[index].observe(step)
        case .crash(let crash): invariants[index].observeCrash(crash)
        }
      }
    }
    let lines = invariants.indices.map { index in
      invariants[index].conclude()
      let line = CheckReport.Line(invariants[index])
      tell(line)
      return line
    }
    return CheckReport(
      lines: lines,
      activity: Activity(evidence),
      least: evidence.options.least
    )
  }
}
