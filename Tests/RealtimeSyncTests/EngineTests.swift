import RealtimeCore
import TestSupport
import Testing

@testable import RealtimeDatabase

/// What transcripts do not say: many steps, and what holds at any of them.
@Suite("The client engine")
struct EngineTests {
  private let first1 = Query(limit: Query.Limit(1, side: .first))

  @Test("n increments made offline add n", arguments: [1, 2, 100])
  func offlineIncrements(count: Int) throws {
    var driver = CoreDriver.connected()
    try driver.observe("n", answered: "0")
    driver.lose()
    for _ in 0..<count {
      driver.feed(.write(driver.token(), path: "n", .set(.leaf(.deferred(.incrementInteger(1))))))
    }
    #expect(driver.told.last == "= 1 value \(count) cached pending")
    driver.forget()
    driver.connect()
    var server: Int64 = 0
    for sent in driver.sentWrites {
      guard case .set(let value) = sent.write.operation else { continue }
      let node = value.resolvingDeferred(existing: .integer(server), timestamp: 0)
      guard case .integer(let sum)? = node.leafValue else { continue }
      server = sum
      try driver.push("n", "\(server)")
      driver.answer(sent.id)
    }
    #expect(server == Int64(count))
    #expect(driver.core.cachedValue(at: "n", query: .all) == .integer(server))
    #expect(!driver.told.contains { $0.hasPrefix("= 1 value") })
  }

  @Test("A read at any step does not change the events that listeners get")
  func getDisturbsNobody() throws {
    let steps = 12
    let expected = try told(readingBefore: nil)
    #expect(expected.count >= 6)
    for step in 0...steps { #expect(try told(readingBefore: step) == expected, "step \(step)") }
  }

  /// The events of two listeners in a few steps, with a read of everything before one of the steps.
  private func told(readingBefore place: Int?) throws -> [String] {
    var driver = CoreDriver.connected()
    let server = try Node(json: JSONParser.parse(#"{"a":1,"b":2,"c":3}"#))
    var step = 0
    var reads: [Int64] = []
    func next(_ driver: inout CoreDriver) {
      if step == place {
        for query in [.all, first1, Query(limit: Query.Limit(2, side: .last))] {
          driver.feed(.get(RequestToken(Int64(900 + reads.count)), path: "l", query: query))
          guard let last = driver.requests.last, case .get = last.request,
            !reads.contains(last.id)
          else { continue }
          reads.append(last.id)
          let node = query.evaluate(server)
          driver.receive(.response(id: last.id, ServerMessage.Response(.ok, payload: .node(node))))
        }
      }
      step += 1
    }
    next(&driver)
    _ = driver.observe("l", first1)
    next(&driver)
    try driver.push("l", #"{"a":1}"#, tag: 1)
    next(&driver)
    driver.receive(.response(id: listen(driver, tagged: true), ServerMessage.Response(.ok)))
    next(&driver)
    _ = driver.observe("l/c")
    next(&driver)
    try driver.push("l/c", "3")
    next(&driver)
    driver.receive(.response(id: listen(driver, tagged: false), ServerMessage.Response(.ok)))
    for (path, json) in [("l/a", "1"), ("l/c", "3"), ("l/0", "0")] as [(Path, String)] {
      next(&driver)
      try driver.set(path, json)
      next(&driver)
      try driver.push(path, json, tag: path == "l/0" ? 1 : nil)
    }
    // What was read before counts as cached, until the listen brings the same.
    return driver.told.filter { $0.hasPrefix("= ") && !$0.hasPrefix("= get") }
      .map { $0.replacing(" cached", with: "") }
  }

  private func listen(_ driver: CoreDriver, tagged: Bool) -> Int64 {
    for (id, request) in driver.requests {
      if case .listen(let listen) = request, (listen.tag != nil) == tagged { return id }
    }
    return -1
  }

  @Test("An update of 500 paths is one message and one event and does not block reads")
  func wideUpdate() throws {
    var driver = CoreDriver.connected()
    let entries = (0..<5_000).map { (ChildKey("k\($0)"), Node.integer(0)) }
    let listener = driver.observe("wide", .all, [.value])
    let data = Node(sortedChildren: entries.sorted { $0.0 < $1.0 }.map { (key: $0.0, value: $0.1) })
    driver.receive(.push(.data(path: "wide", data, tag: nil)))
    driver.answer(2)
    driver.forget()
    let changes = (0..<500).map { Change(Path([ChildKey("k\($0 * 7)"), "n"]), to: .integer(1)) }
    let outputs = driver.feed(.write(driver.token(), path: "wide", .merge(changes)))
    let raised = outputs.filter { if case .raise(listener, _) = $0 { true } else { false } }
    #expect(raised.count == 1)
    #expect(driver.sentWrites.count == 1)
    driver.feed(.get(driver.token(), path: "wide/k7/n", query: .all))
    #expect(driver.told.last == "= get 3 1 pending")
  }

  // MARK: Transactions

  @Test("A transaction gives up after 25 stale responses")
  func tries() throws {
    var driver = CoreDriver { $0.transactionRetryDelay = 0 }
    driver.connect()
    try driver.observe("c", answered: "100")
    driver.transact("c", increment)
    for count in 0..<25 {
      try #require(driver.sentWrites.count == count + 1)
      driver.answer(driver.sentWrites[count].id, .dataStale)
    }
    #expect(driver.sentWrites.count == 25)
    #expect(driver.told.suffix(2) == ["= 1 value 100", "= transaction 2 maxretry 100"])
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
    if isKnown { try driver.observe("l", answered: data) }
    // Like many update functions, it leaves missing data alone, and counts existing data.
    driver.transact("l/b", appliesLocally: appliesLocally) { node in
      guard case .integer(let value)? = node.leafValue else { return .commit(node) }
      return .commit(.integer(value + 1))
    }
    try readAll(&driver, server: data)
    if !isKnown { try driver.observe("l", answered: data) }
    try driver.push("l/b", "7")
    try readAll(&driver, server: #"{"a":1,"b":7,"c":3}"#)
    driver.answer(try #require(driver.sentWrites.first).id, .dataStale)
    try readAll(&driver, server: #"{"a":1,"b":7,"c":3}"#)
    try driver.push("l/b", "8")
    driver.answer(try #require(driver.sentWrites.last).id)
    try readAll(&driver, server: #"{"a":1,"b":8,"c":3}"#)
    #expect(driver.told.contains("= transaction \(isKnown ? 2 : 1) ok committed 8"))
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

  // MARK: Servers that do not answer

  @Test("A thousand requests a second do not schedule a thousand timers")
  func load() throws {
    var driver = CoreDriver.connected()
    driver.answer(1)
    for _ in 1...1_000 {
      try driver.set("w", "1")
      if let request = driver.requests.last { driver.answer(request.id) }
      driver.pass(1)
    }
    let schedules = driver.outputs.count {
      if case .schedule(.keepalive, _) = $0 { true } else { false }
    }
    #expect(schedules <= 4)
    #expect(!driver.outputs.contains { if case .send(_, .ping) = $0 { true } else { false } })
  }

  /// A driver connected to a host that the database's own host has named, which owes a response.
  private func hanging() throws -> CoreDriver {
    var driver = CoreDriver {
      $0.opensSpares = true
      $0.followsServerHost = true
    }
    driver.connect([.writeOnce])
    driver.answer(1)
    try driver.set("w", "1")
    return driver
  }

  @Test("Only one spare exists at a time, however often it is refused or redirected")
  func bounded() throws {
    var driver = try hanging()
    driver.forget()
    var open: Set<ConnectionID> = []
    var most = 0
    var count = 0
    driver.pass(9_900) { driver, _ in
      var read = 0
      while read < driver.outputs.count {
        switch driver.outputs[read] {
        case .connect(let id, let host):
          open.insert(id)
          count += 1
          most = max(most, open.count)
          if host == nil, count % 3 == 0 {
            driver.feed(.transportClosed(id, reason: "refused"))
            open.remove(id)
          } else {
            driver.feed(.message(id, .reset(host: "s-1")))
          }
        case .disconnect(let id, _): open.remove(id)
        default: break
        }
        read += 1
      }
      driver.forget()
    }
    #expect(most == 1)
    #expect((5...30).contains(count), "attempts follow each other at a pace: \(count)")
    #expect(driver.core.isConnected)
  }

  @Test("A server that greets but never responds is left after longer and longer waits")
  func greetsOnly() throws {
    var driver = try hanging()
    var times: [Int64] = []
    driver.forget()
    driver.pass(60_000) { driver, outputs in
      for case .connect(let id, _) in outputs {
        let hello = ServerHello(timestamp: 0, host: "s-1", session: "t", extensions: [.writeOnce])
        driver.feed(.message(id, .hello(hello)))
        times.append(driver.time.monotonic)
      }
    }
    let pauses = zip(times.dropFirst(), times).map { $0 - $1 }
    #expect(times.first == 3_000)
    #expect(pauses.prefix(3).elementsEqual([6_000, 12_000, 24_000]))
  }

  /// The pauses between the attempts of an engine whose every attempt fails, for ten minutes.
  private func pauses(of driver: inout CoreDriver, seed: UInt64) -> [Int64] {
    var random = SplitMix64(seed: seed)
    var pauses: [Int64] = []
    let end = driver.time.monotonic + 600_000
    while driver.time.monotonic < end {
      driver.time.random = Double.random(in: 0..<1, using: &random)
      driver.forget()
      driver.lose()
      let pause = driver.outputs.compactMap { output -> Int64? in
        if case .schedule(.reconnect, let pause) = output { pause } else { nil }
      }.first
      pauses.append(pause ?? 0)
      driver.time.monotonic += pause ?? 0
      driver.feed(.timerFired(.reconnect))
    }
    return pauses
  }

  @Test("The client retries with increasing pauses and never gives up", arguments: 1...5)
  func attempts(seed: Int) throws {
    var driver = CoreDriver.connected()
    let configuration = RepoConfiguration(clientID: "c", statisticsName: "s")
    let all = pauses(of: &driver, seed: UInt64(seed))
    // The attempts within ten minutes are few enough for a recovering server.
    #expect((20...70).contains(all.count))
    #expect(all.prefix(3).reduce(0, +) < 3_000)
    let late = all.filter { $0 > 10_000 }
    #expect(late.allSatisfy { $0 <= configuration.maximumReconnectDelay })
    // With jitter, no two terminals reconnect at the same moment.
    #expect(Set(late).count > late.count / 2)
    guard case .connecting = driver.core.phase
    else { throw Unexpected("no attempt is under way: \(driver.core.phase)") }
  }
}
