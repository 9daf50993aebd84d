import RealtimeCore
import TestSupport
import Testing

@testable import RealtimeDatabase

@Suite("Racing transactions")
struct TransactionRaceTests {
  private func counter(
    configure: (inout RepoConfiguration) -> Void = { _ in }
  ) throws -> CoreDriver {
    var driver = CoreDriver(configure: configure)
    driver.connect()
    _ = try driver.observe("c", answered: "100")
    driver.forget()
    return driver
  }

  // MARK: Tries and pauses

  // Differs: A transaction is tried 25
  @Test("The first retry is immediate; later ones back off exponentially with jitter")
  func pauses() throws {
    var driver = try counter {
      $0.transactionTries = 6
      $0.transactionRetryDelay = 100
      $0.maximumTransactionRetryDelay = 300
    }
    driver.transact("c", increment)
    driver.answer(driver.sentWrites[0].id, .dataStale)
    #expect(driver.sentWrites.count == 2)
    var pauses: [Int64] = []
    for tries in 2..<6 {
      driver.answer(driver.sentWrites[tries - 1].id, .dataStale)
      #expect(driver.sentWrites.count == tries)
      for case .schedule(.transactionRetry("c"), let pause) in driver.outputs.suffix(1) {
        pauses.append(pause)
        driver.time.monotonic += pause
      }
      driver.feed(.timerFired(.transactionRetry("c")))
      #expect(driver.sentWrites.count == tries + 1)
    }
    #expect(pauses == [50, 100, 150, 150])
    #expect(driver.completions.isEmpty)
    driver.answer(driver.sentWrites[5].id, .dataStale)
    #expect(driver.completions == ["transaction 2 maxretry false 100"])
    #expect(driver.core.pendingWriteCount == 0)
    #expect(driver.values.last == "100")
  }

  @Test("A timer that fires too early sends nothing and is rescheduled")
  func earlyTimer() throws {
    var driver = try counter()
    driver.transact("c", increment)
    for _ in 0..<2 { driver.answer(driver.sentWrites.last?.id ?? 0, .dataStale) }
    driver.time.monotonic += 3
    driver.forget()
    driver.feed(.timerFired(.transactionRetry("c")))
    #expect(driver.sentWrites.isEmpty)
    guard case .schedule(.transactionRetry("c"), 7)? = driver.outputs.last
    else { throw Unexpected("the rest of the pause is not waited for") }
  }

  @Test("A retry after a pause uses the latest data")
  func newestAfterPause() throws {
    var driver = try counter()
    driver.transact("c", increment)
    for _ in 0..<2 { driver.answer(driver.sentWrites.last?.id ?? 0, .dataStale) }
    driver.forget()
    try driver.push("c", "500")
    #expect(driver.sentWrites.isEmpty)
    driver.time.monotonic += 10
    driver.feed(.timerFired(.transactionRetry("c")))
    let sent = try #require(driver.sentWrites.first)
    #expect(sent.write.operation == .set(.integer(501)))
    #expect(sent.write.hash == Node.integer(500).hash)
    #expect(driver.values == ["501"])
  }

  @Test("A transaction above a pausing one waits with it, and both are sent as one write")
  func joined() throws {
    var driver = CoreDriver.connected()
    _ = try driver.observe("n", answered: #"{"a":1}"#)
    driver.transact("n/a", increment)
    for _ in 0..<2 { driver.answer(driver.sentWrites.last?.id ?? 0, .dataStale) }
    driver.forget()
    driver.transact("n") { .commit($0.setting(ChildKey("x"), to: .bool(true))) }
    #expect(driver.sentWrites.isEmpty)
    driver.time.monotonic += 10
    driver.feed(.timerFired(.transactionRetry("n/a")))
    #expect(driver.sentWrites.map(\.write.path) == ["n"])
    driver.feed(.timerFired(.transactionRetry("n")))
    #expect(driver.sentWrites.count == 1)
  }

  // MARK: What observers see

  @Test("Without applyLocally no intermediate state is ever shown")
  func hiddenStates() throws {
    var driver = try counter()
    driver.transact("c", appliesLocally: false, increment)
    driver.transact("c", appliesLocally: false, increment)
    try driver.push("c", "200")
    driver.answer(driver.sentWrites[0].id, .dataStale)
    driver.answer(driver.sentWrites[1].id, .permissionDenied)
    try driver.push("c", "300")
    driver.time.monotonic += 1_000
    driver.feed(.timerFired(.transactionRetry("c")))
    try driver.push("c", "301")
    driver.answer(try #require(driver.sentWrites.last).id)
    #expect(driver.values == ["200", "300", "301"])
    #expect(driver.core.pendingWriteCount == 0)
  }

  @Test(
    "Reads during a transaction show its old or new data, never empty data",
    arguments: [true, false],
    [true, false]
  )
  func reads(appliesLocally: Bool, isKnown: Bool) throws {
    var driver = CoreDriver { $0.transactionRetryDelay = 0 }
    driver.connect()
    let data = #"{"a":1,"b":2,"c":3}"#
    if isKnown { _ = try driver.observe("l", answered: data) }
    // Like many update functions, it leaves missing data alone, and counts existing data.
    driver.transact("l/b", appliesLocally: appliesLocally) { node in
      guard case .integer(let value)? = node.leafValue else { return .commit(node) }
      return .commit(.integer(value + 1))
    }
    try readAll(&driver, server: data)
    if !isKnown { _ = try driver.observe("l", answered: data) }
    try driver.push("l/b", "7")
    try readAll(&driver, server: #"{"a":1,"b":7,"c":3}"#)
    driver.answer(try #require(driver.sentWrites.first).id, .dataStale)
    try readAll(&driver, server: #"{"a":1,"b":7,"c":3}"#)
    try driver.push("l/b", "8")
    driver.answer(try #require(driver.sentWrites.last).id)
    try readAll(&driver, server: #"{"a":1,"b":8,"c":3}"#)
    #expect(driver.completions.contains("transaction \(isKnown ? 2 : 1) ok true 8"))
  }

  /// Reads the list and the transaction's path, and checks everything that was reported.
  private func readAll(_ driver: inout CoreDriver, server: String) throws {
    let whole = try Node(json: JSONParser.parse(server))
    for path in ["l", "l/b"] as [Path] {
      driver.feed(.get(driver.token(), path: path, query: .all))
      guard let request = driver.requests.last, case .get(path, _) = request.request else {
        continue
      }
      let place = path.relative(to: "l").map { whole[$0] } ?? .empty
      driver.receive(.response(id: request.id, ServerMessage.Response(.ok, payload: .node(place))))
    }
    for case .getCompleted(_, .value(let node, _)) in driver.outputs { #expect(!isHole(node)) }
    for case .raise(_, let event) in driver.outputs where event.kind == .value {
      #expect(!isHole(event.node), "\(event.node)")
    }
  }

  private func isHole(_ node: Node) -> Bool {
    node.isEmpty || node.leafValue == nil && !node.hasChild("b")
  }

  // MARK: Overlaps

  @Test(
    "A set above or below is sent after queued transactions and ends them if they are stale",
    arguments: ["n", "n/a", "n/a/x", "/"] as [Path]
  )
  func overlappingSets(path: Path) throws {
    var driver = CoreDriver.connected()
    _ = try driver.observe("n", answered: #"{"a":{"x":1},"b":2}"#)
    driver.feed(.goOffline(.user))
    driver.transact("n/a") { .commit($0.setting(ChildKey("y"), to: .bool(true))) }
    driver.transact("n/b", increment)
    driver.forget()
    try driver.set(path, #"{"x":5}"#)
    #expect(driver.completions.isEmpty)
    driver.connect()
    let writes = driver.sentWrites
    #expect(writes.map(\.write.path) == ["n/a", "n/b", path])
    driver.answer(writes[0].id, .dataStale)
    #expect(driver.completions == [#"transaction 2 set false {"x":1}"#])
  }

  @Test("An update ends the transactions at each of its paths and no others")
  func overlappingUpdate() throws {
    var driver = CoreDriver.connected()
    _ = try driver.observe("n", answered: #"{"a":1,"b":2,"c":3}"#)
    driver.feed(.goOffline(.user))
    for key in ["a", "b", "c"] { driver.transact(Path(["n", ChildKey(key)]), increment) }
    driver.forget()
    let changes = [Change("a", to: .integer(7)), Change("c", to: .integer(8))]
    driver.feed(.write(driver.token(), path: "n", .merge(changes)))
    #expect(driver.values.last == #"{"a":7,"b":3,"c":8}"#)
    driver.connect()
    for write in driver.sentWrites.prefix(3) { driver.answer(write.id, .dataStale) }
    #expect(driver.completions == ["transaction 2 set false 1", "transaction 4 set false 3"])
  }

  @Test("A denied joint write ends all its transactions, and none queued behind it")
  func refusedTogether() throws {
    var driver = CoreDriver.connected()
    _ = try driver.observe("n", answered: #"{"a":1}"#)
    driver.transact("n") { .commit($0.setting(ChildKey("x"), to: .bool(true))) }
    driver.transact("n/a", increment)
    driver.answer(driver.sentWrites[0].id, .dataStale)
    let joint = try #require(driver.sentWrites.last)
    #expect(joint.write.path == "n")
    driver.transact("n/b", increment)
    driver.forget()
    driver.answer(joint.id, .permissionDenied, "Permission denied")
    #expect(
      driver.completions.map { $0.prefix(32) } == [
        "transaction 2 permission_denied ", "transaction 3 permission_denied ",
      ]
    )
    #expect(driver.sentWrites.map(\.write.path) == ["n/b"])
    #expect(driver.values.last == #"{"a":1,"b":1}"#)
  }

  @Test("A child's transaction that joins its parent's sees the parent's output, and both commit")
  func parentAndChild() throws {
    var driver = CoreDriver.connected()
    _ = try driver.observe("n", answered: #"{"a":1}"#)
    driver.transact("n") { .commit($0.setting(ChildKey("a"), to: .integer(10))) }
    driver.transact("n/a", increment)
    #expect(driver.values.last == #"{"a":11}"#)
    #expect(driver.sentWrites.map(\.write.operation) == [.set(try node(#"{"a":10}"#))])
    try driver.push("n/a", "10")
    driver.answer(driver.sentWrites[0].id)
    let second = try #require(driver.sentWrites.last)
    #expect(second.write.path == "n/a")
    #expect(second.write.hash == Node.integer(10).hash)
    driver.answer(second.id)
    #expect(
      driver.completions == [#"transaction 2 ok true {"a":10}"#, "transaction 3 ok true 11"]
    )
  }

  // MARK: The end of the connection

  @Test("Going offline keeps transactions that wait for another or for a retry")
  func offlineWhileWaiting() throws {
    var driver = try counter()
    driver.transact("c", increment)
    driver.transact("c", increment)
    driver.feed(.goOffline(.user))
    // The first may or may not have been applied; the second was never sent.
    #expect(driver.completions == ["transaction 2 disconnect false 100"])
    driver.forget()
    driver.connect()
    let sent = try #require(driver.sentWrites.first)
    #expect(sent.write.operation == .set(.integer(101)))
    for _ in 0..<2 { driver.answer(driver.sentWrites.last?.id ?? 0, .dataStale) }
    driver.feed(.goOffline(.user))
    driver.time.monotonic += 60_000
    driver.feed(.timerFired(.transactionRetry("c")))
    driver.forget()
    driver.connect()
    #expect(driver.sentWrites.map(\.write.operation) == [.set(.integer(101))])
    driver.answer(try #require(driver.sentWrites.last).id)
    #expect(driver.completions == ["transaction 3 ok true 101"])
  }

  private func node(_ json: String) throws -> Node { try Node(json: JSONParser.parse(json)) }
}
