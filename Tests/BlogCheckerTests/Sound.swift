import RealtimeCore
import Testing

@testable import HearthLab

/// A correct history, which tests corrupt.
enum Sound {
  /// Two users, two posts with comments and stars, everything shown and finished.
  static func run(
    _ strategy: HistoryHeader.Strategy = .increment,
    _ change: (inout Scenario) -> Void = { _ in }
  ) -> Scenario {
    var run = Scenario("ann", "bob", strategy: strategy)
    // What a process shows right after its start counts for less.
    for client in ["ann", "bob"] { run.look(client) }
    run.wait(.seconds(9))
    run.post("ann", "-p1")
    run.post("bob", "-p2")
    for client in ["ann", "bob"] {
      run.show(client, post: "-p1")
      run.show(client, post: "-p2")
    }
    run.comment("ann", "-q1", on: "-p1")
    run.comment("bob", "-q2", on: "-p1")
    run.comment("ann", "-q3", on: "-p1")
    run.show("ann", commentsOn: "-p1")
    run.star("bob", "-p1")
    run.show("ann", post: "-p1")
    run.show("bob", post: "-p1")
    run.star("ann", "-p1")
    run.star("bob", "-p1", false)
    run.show("ann", post: "-p1")
    run.increment("ann", "counters/x", by: 2)
    run.increment("bob", "counters/x", by: 3)
    change(&run)
    return run
  }

  static func finished(
    _ strategy: HistoryHeader.Strategy = .increment,
    _ change: (inout Scenario) -> Void = { _ in }
  ) throws -> CheckReport {
    var run = Self.run(strategy, change)
    run.finish("ann")
    run.finish("bob")
    return try run.check()
  }

  /// Expects exactly these promises to be broken when the history is changed.
  static func expect(
    _ promises: Set<Promise>,
    _ strategy: HistoryHeader.Strategy = .increment,
    sourceLocation: SourceLocation = #_sourceLocation,
    _ change: (inout Scenario) -> Void
  ) throws {
    try finished(strategy, change).expect(promises, sourceLocation: sourceLocation)
  }
}

extension CheckReport {
  /// Expects exactly these promises to be broken.
  func expect(_ promises: Set<Promise>, sourceLocation: SourceLocation = #_sourceLocation) {
    #expect(
      violated == promises,
      "\(lines.flatMap(\.violations))",
      sourceLocation: sourceLocation
    )
  }
}
