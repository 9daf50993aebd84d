/// Checks all promises against what a run has left.
///
///     let observer = try LogObserver(database)
///     observer.start()
///     // … the clients run; observer.serverCrashed(after:) whenever the server was killed …
///     let checker = try Checker(history: directory, commits: try observer.finish())
///     let report = checker.check()
package struct Checker: Sendable {
  private let evidence: Evidence

  /// Reads the files that clients have written.
  ///
  /// - Parameters:
  ///   - directory: Where the files are, each named `CLIENT.jsonl`.
  ///   - commits: What an observer saw of the database.
  ///   - options: What is tolerated, and how much must have been done.
  /// - Throws: ``HistoryError`` when a file cannot be read.
  package init(
    history directory: String,
    commits: CommitHistory,
    options: CheckOptions = CheckOptions()
  ) throws(HistoryError) {
    self.init(try HistoryReader.all(in: directory), commits: commits, options: options)
  }

  /// Makes a checker of histories that were read already.
  package init(
    _ history: History,
    commits: CommitHistory,
    options: CheckOptions = CheckOptions()
  ) {
    evidence = Evidence(history: history, commits: commits, options: options)
  }

  /// All promises that are checked, in the order of a report.
  static let invariants: [any Invariant.Type] = [
    StarCounts.self, CopiesAgree.self, CommentsComplete.self, SendOrder.self, CounterSums.self,
    Convergence.self, OwnWritesShown.self, MonotonicViews.self, Authorship.self,
    PresenceLedger.self, CrashDurability.self, ExactlyOnce.self, ScreenIntegrity.self,
    Bounds.self, RevisionOrder.self, BlackBoxOrder.self, AtomicUpdates.self, EventOrder.self,
    SessionReads.self, RulesOracle.self, ServerAlive.self, ChangesTold.self, ChangesInTime.self,
    ChangesInOrder.self,
  ]

  /// Checks everything.
  ///
  /// - Returns: What was checked how often, and what was wrong.
  /// - Complexity: O(commits + operations + what was shown), times the logarithm of the data
  package func check() -> CheckReport {
    var invariants = Self.invariants.map { $0.init(evidence) }
    var replay = Replay(evidence.commits)
    while let moment = replay.next() {
      for index in invariants.indices {
        switch moment {
        case .step(let step): invariants[index].observe(step)
        case .crash(let crash): invariants[index].observeCrash(crash)
        }
      }
    }
    for index in invariants.indices { invariants[index].conclude() }
    return CheckReport(
      lines: invariants.map { CheckReport.Line($0) },
      activity: Activity(evidence),
      least: evidence.options.least
    )
  }
}
