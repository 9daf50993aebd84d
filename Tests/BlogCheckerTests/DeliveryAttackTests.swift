import RealtimeCore
import Testing

@testable import HearthLab

/// Lost, late and reordered changes, each found under its own promise.
@Suite("Lost, late and reordered changes")
struct DeliveryAttackTests {
  /// Cem watches and writes nothing, while Ann and Bob write two posts.
  private func run(_ change: (inout Scenario) -> Void) throws -> CheckReport {
    var run = Scenario("ann", "bob", "cem")
    run.look("cem")
    run.wait(.seconds(9))
    run.post("ann", "-p1")
    run.post("bob", "-p2")
    run.star("ann", "-p2")
    run.comment("bob", "-q1", on: "-p1")
    run.wait(.seconds(9))
    change(&run)
    run.finish("cem")
    return try run.check()
  }

  private func expect(
    _ promises: Set<Promise>,
    sourceLocation: SourceLocation = #_sourceLocation,
    _ change: (inout Scenario) -> Void
  ) throws {
    try run(change).expect(promises, sourceLocation: sourceLocation)
  }

  /// Commits two stars without telling any client.
  private func starInSecret(_ run: inout Scenario) -> (before: Node, between: Node, after: Node) {
    let path: Path = "/posts/-p1"
    run.isHeldBack = true
    let before = run.root[path]
    run.star("bob", "-p1")
    let between = run.root[path]
    run.star("ann", "-p1")
    run.isHeldBack = false
    return (before, between, run.root[path])
  }

  @Test("G11, G12 and G13 hold, and are checked, when changes arrive as committed")
  func right() throws {
    let report = try run { run in
      run.star("bob", "-p1")
      run.star("bob", "-p1", false)
      run.star("bob", "-p1")
      run.delete("ann", post: "-p1")
    }
    #expect(report.violated == [])
    for promise in [Promise.g11, .g12, .g13] { #expect(report.checked(promise) >= 8) }
  }

  @Test("G11 catches a skipped change, whether the next value is complete or mixes states")
  func lost() throws {
    try expect([.g11]) { run in
      _ = starInSecret(&run)
      run.deliver("cem")
    }
    try expect([.g11]) { run in
      let (before, between, after) = starInSecret(&run)
      var mixed = before
      for place in ["starCount", "stars/ann"] {
        mixed.update(at: Path(wire: place), to: after[Path(wire: place)])
      }
      #expect(mixed != between)
      run.tell("cem", "posts/-p1", mixed)
    }
  }

  @Test("G11 catches a change, post, deletion or comment that is never delivered")
  func never() throws {
    let changes: [(inout Scenario) -> Void] = [
      { $0.star("bob", "-p1") }, { $0.post("ann", "-p3") }, { $0.delete("ann", post: "-p1") },
      { $0.comment("ann", "-q2", on: "-p1") },
    ]
    for change in changes {
      try expect([.g11]) { run in
        run.isHeldBack = true
        change(&run)
        run.wait(.seconds(9))
      }
    }
  }

  @Test("G11 catches an undelivered unstar that is followed by another star")
  func unnoticed() throws {
    try expect([.g11]) { run in
      run.star("bob", "-p1")
      run.isHeldBack = true
      run.star("bob", "-p1", false)
      run.star("bob", "-p1")
      run.isHeldBack = false
      run.star("ann", "-p1")
    }
  }

  @Test("G12 catches an overdue change, even if the client disconnects before it arrives")
  func late() throws {
    try expect([.g12]) { run in
      run.isHeldBack = true
      run.star("bob", "-p1")
      run.wait(.seconds(9))
      run.deliver("cem")
    }
    try expect([.g12]) { run in
      run.isHeldBack = true
      run.star("bob", "-p1")
      run.wait(.seconds(9))
      run.note("cem", .connection(isUp: false))
      run.note("cem", .connection(isUp: true))
      run.deliver("cem")
    }
  }

  @Test("G13 catches reordered changes of one path or of two")
  func reordered() throws {
    try expect([.g13]) { run in
      run.isHeldBack = true
      run.star("bob", "-p1")
      run.comment("ann", "-q2", on: "-p1")
      run.tell("cem", "post-comments/-p1/-q2")
      run.tell("cem", "posts/-p1")
    }
    try expect([.g13]) { run in
      let (_, between, after) = starInSecret(&run)
      run.tell("cem", "posts/-p1", after)
      run.tell("cem", "posts/-p1", between)
    }
    try expect([.g13]) { run in
      let (before, between, after) = starInSecret(&run)
      var mixed = before
      for (place, state) in [
        ("starCount", after), ("stars/ann", after), ("starCount", between), ("stars/bob", between),
      ] {
        mixed.update(at: Path(wire: place), to: state[Path(wire: place)])
        if place != "starCount" { run.tell("cem", "posts/-p1", mixed) }
      }
    }
  }

  @Test("Disconnects, faults, slow readers, stalls and local writes excuse lost or late changes")
  func excused() throws {
    let fault = { (isOver: Bool) in
      HistoryEvent.fault(name: "pause", target: "cem", isOver: isOver)
    }
    let excuses: [(inout Scenario) -> Void] = [
      { run in
        run.note("cem", .connection(isUp: false))
        _ = starInSecret(&run)
        run.wait(.seconds(9))
        run.note("cem", .connection(isUp: true))
        run.deliver("cem")
      },
      { run in
        run.note("driver", fault(false))
        _ = starInSecret(&run)
        run.wait(.seconds(9))
        run.note("driver", fault(true))
        run.deliver("cem")
      },
      { run in
        // A server of several looks for the next leader, and its client stays connected.
        run.note("driver", .fault(name: "kill", target: "server", isOver: false))
        _ = starInSecret(&run)
        run.note("driver", .fault(name: "kill", target: "server", isOver: true))
        run.wait(.seconds(2))
        run.deliver("cem")
      },
      { run in
        _ = starInSecret(&run)
        run.deliver("cem")
        run.note("driver", .coalesced(microseconds: 1_000_000))
      },
      { run in
        _ = starInSecret(&run)
        run.note("driver", .coalesced(microseconds: 1_000_000))
        // What the server sends instead arrives much later.
        run.wait(.seconds(9))
        run.note("cem", .stalled(microseconds: 9_000_000))
        run.deliver("cem")
      },
      { run in
        run.isHeldBack = true
        run.star("bob", "-p1")
        run.wait(.seconds(9))
        run.note("cem", .stalled(microseconds: 8_000_000))
        run.deliver("cem")
      },
      { run in
        let number = run.invoke("cem", .star(post: "-p1"))
        _ = starInSecret(&run)
        run.commit(run.starring("cem", "-p1", true))
        run.answer("cem", number)
        run.star("bob", "-p1", false)
      },
    ]
    for (index, excuse) in excuses.enumerated() {
      let report = try run(excuse)
      #expect(report.violated == [], "\(index): \(report.lines.flatMap(\.violations))")
    }
  }

  @Test("The loss of a leader excuses no lost change of a client that did not pause")
  func leaderLost() throws {
    try expect([.g11]) { run in
      run.star("bob", "-p2")
      run.note("driver", .fault(name: "kill", target: "server", isOver: false))
      _ = starInSecret(&run)
      run.deliver("cem")
      run.note("driver", .fault(name: "kill", target: "server", isOver: true))
    }
  }

  @Test("A server that omitted changes long before excuses no lost change")
  func coalescedBefore() throws {
    try expect([.g11]) { run in
      run.note("driver", .coalesced(microseconds: 1_000_000))
      run.wait(.seconds(9))
      _ = starInSecret(&run)
      run.deliver("cem")
    }
  }
}
