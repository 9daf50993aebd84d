@testable import HearthLab

/// A correct history, which tests corrupt.
enum Sound {
  /// Two users, two posts with comments and stars, everything shown and finished.
  static func run(_ strategy: HistoryHeader.Strategy = .increment) -> Scenario {
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
    return run
  }

  static func finished(_ change: (inout Scenario) -> Void) throws -> CheckReport {
    var run = run()
    change(&run)
    run.finish("ann")
    run.finish("bob")
    return try run.check()
  }
}
