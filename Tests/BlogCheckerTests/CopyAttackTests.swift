import RealtimeCore
import Testing

@testable import HearthLab

/// What a server does wrong that answers from a copy of a database that another server leads, each
/// found under the promise that it breaks.
@Suite("Wrong copies at other servers")
struct CopyAttackTests {
  /// Ann and Bob write two posts; Bob and Dan listen, Cem only reads.
  ///
  /// The tolerances are those of several servers.
  private func run(_ change: (inout Scenario) -> Void) throws -> CheckReport {
    var run = Scenario("ann", "bob", "cem", "dan")
    run.options.echo = .seconds(25)
    run.options.freshness = .seconds(25)
    for client in ["bob", "dan"] { run.look(client) }
    run.wait(.seconds(30))
    run.post("ann", "-p1")
    run.post("bob", "-p2")
    run.star("ann", "-p2")
    run.comment("bob", "-q1", on: "-p1")
    change(&run)
    for client in ["bob", "dan"] { run.finish(client) }
    return try run.check()
  }

  private func expect(
    _ promises: Set<Promise>,
    sourceLocation: SourceLocation = #_sourceLocation,
    _ change: (inout Scenario) -> Void
  ) throws {
    try run(change).expect(promises, sourceLocation: sourceLocation)
  }

  private static let post = Path("/posts/-p2")

  // MARK: Own writes

  @Test("G6 catches a read at any server that lacks the reader's own acknowledged write")
  func ownWrites() throws {
    let star = try run { run in
      let before = run.root[Self.post]
      run.star("cem", "-p2")
      run.read("cem", "posts/-p2", at: "server2", before)
    }
    #expect(star.violated == [.g6, .g2])
    let violation = star.lines.first { $0.promises == [.g6] }?.violations.first?.description ?? ""
    for part in ["cem at server2, at 31", "revision 4,", "starCount\":1", "star by cem (ack"] {
      #expect(violation.contains(part), "\(violation)")
    }
    for server in [nil, "server0 by a stream"] {
      try expect([.g6, .g2]) { run in
        run.comment("ann", "-q2", on: "-p1")
        run.read("ann", "post-comments/-p1/-q2", at: server, .empty)
      }
    }
  }

  @Test("G6 catches a listener that is told the own write only after its acknowledgement")
  func lateEcho() throws {
    try expect([.g6]) { run in
      let before = run.root[Self.post]
      run.isHeldBack = true
      let number = run.invoke("bob", .star(post: "-p2"))
      run.commit(run.starring("bob", "-p2", true))
      run.note("bob", .answered(number, .ok(nil)))
      run.tell("bob", "posts/-p2", before, isAgain: true)
      run.deliver("bob")
      run.deliver("dan")
    }
  }

  // MARK: Nothing goes back

  @Test("I8 catches a client that reads something older at the next server")
  func nextServer() throws {
    try expect([.i8, .g2]) { run in
      let before = run.root[Self.post]
      run.star("bob", "-p2")
      run.read("cem", "posts/-p2", at: "server0")
      run.read("cem", "posts/-p2", at: "server1", before)
    }
    try expect([.i8, .g2]) { run in
      let before = run.root[Path("/posts/-p1")]
      run.star("bob", "-p1")
      run.star("bob", "-p2")
      run.read("dan", "posts/-p1", at: "server1", before)
    }
    try expect([.i8, .g2]) { run in
      let before = run.root[Path("/user-posts/bob/-p2")]
      run.star("bob", "-p2")
      run.read("dan", "user-posts/bob/-p2", at: nil, before)
    }
  }

  @Test("I8 and G6 catch an old copy at the server to which a listening client has moved")
  func moved() throws {
    try expect([.i8]) { run in
      run.star("bob", "-p1")
      run.show("dan", post: "-p1")
      run.note("dan", .connection(isUp: false))
      run.note("dan", .connection(isUp: true))
      run.show("dan", .post("-p1", starCount: 0, stars: 0, isMine: false, version: nil))
    }
    try expect([.g6]) { run in
      run.comment("ann", "-q2", on: "-p1")
      run.show("dan", commentsOn: "-p1")
      run.note("dan", .connection(isUp: false))
      run.note("dan", .connection(isUp: true))
      run.show("dan", .comments(post: "-p1", keys: ["-q1"]), view: "comments/-p1")
    }
  }

  // MARK: Freshness

  @Test("G2 catches a server that answers from its copy although its leader is silent or replaced")
  func silentLeader() throws {
    for server in [nil, "server1", "server2 by a stream"] {
      let acknowledged = try run { run in
        let before = run.root[Self.post]
        run.star("bob", "-p2")
        run.wait(.seconds(2))
        run.read("cem", "posts/-p2", at: server, before)
      }
      #expect(acknowledged.violated == [.g2])
      let description = acknowledged.lines.flatMap(\.violations).first?.description ?? ""
      #expect(description.contains("cem at \(server ?? "its server")"), "\(description)")
      #expect(description.contains("bob"), "\(description)")
    }
  }

  @Test("G2 catches a read that is older than what another client was told without any answer")
  func seenByOthers() throws {
    try expect([.g2]) { run in
      let before = run.root[Self.post]
      _ = run.invoke("bob", .star(post: "-p2"))
      run.commit(run.starring("bob", "-p2", true))
      run.read("cem", "posts/-p2", before)
    }
  }

  @Test("G2 catches a read of a state that was never committed")
  func neverCommitted() throws {
    try expect([.g2]) { run in
      var mixed = run.root[Self.post]
      mixed.update(at: "/starCount", to: .integer(7))
      run.read("cem", "posts/-p2", mixed)
    }
  }

  // MARK: One order

  @Test("G11 and G13 catch a copy that leaves out a commit, or applies two in the other order")
  func order() throws {
    func starTwice(_ run: inout Scenario) -> (between: Node, after: Node) {
      run.isHeldBack = true
      run.star("ann", "-p1")
      let between = run.root[Path("/posts/-p1")]
      run.star("cem", "-p1")
      run.isHeldBack = false
      let after = run.root[Path("/posts/-p1")]
      for node in [between, after] { run.tell("bob", "posts/-p1", node) }
      return (between, after)
    }
    try expect([.g11]) { run in
      let (_, after) = starTwice(&run)
      run.tell("dan", "posts/-p1", after)
    }
    try expect([.g13]) { run in
      let (between, after) = starTwice(&run)
      run.tell("dan", "posts/-p1", after)
      run.tell("dan", "posts/-p1", between)
    }
  }

  // MARK: What is right

  @Test("Reads beside unanswered, unknown and concurrent writes may return either state")
  func concurrent() throws {
    let report = try run { run in
      let before = run.root[Self.post]
      let number = run.invoke("bob", .star(post: "-p2"))
      let read = run.invoke("cem", .read(path: "/posts/-p2", server: "server1"))
      run.isHeldBack = true
      run.commit(run.starring("bob", "-p2", true))
      run.read("ann", "posts/-p2", at: "server1", before)
      run.read("ann", "posts/-p2", at: "server2")
      run.read("ann", "posts/-p2", at: nil)
      run.answer("bob", number)
      run.deliver("dan")
      // This read began before anybody knew of the star.
      run.answer("cem", read, .ok(before.json(.value)))
      let unknown = run.invoke("ann", .unstar(post: "-p2"))
      run.answer("ann", unknown, .unknown("the connection was lost"))
      run.read("cem", "posts/-p2")
      run.isHeldBack = false
      run.commit(run.starring("ann", "-p2", false))
      run.read("cem", "posts/-p2")
      // A read that fails proves nothing.
      let lost = run.invoke("cem", .read(path: "/posts/-p2", server: "server0"))
      run.answer("cem", lost, .unknown("status 503"))
    }
    #expect(report.lines.flatMap(\.violations) == [])
    for promise in [Promise.g2, .g6, .i8] { #expect(report.checked(promise) > 0) }
  }

  @Test("A read may return a state that was there before and is there again")
  func again() throws {
    let report = try run { run in
      let before = run.root[Self.post]
      run.star("cem", "-p2")
      run.star("cem", "-p2", false)
      run.read("cem", "posts/-p2", before)
    }
    #expect(report.lines.flatMap(\.violations) == [])
  }
}
