import RealtimeCore
import TestSupport
import Testing

@testable import RealtimeDatabase

/// Defects that users of other clients of this protocol have reported, as tests of the client
/// engine.
@Suite("Reported bugs: the client engine")
struct ReportedDefectTests {
  private let first1 = Query(limit: Query.Limit(1, side: .first))

  @Test("n increments made offline add n", arguments: [1, 2, 100])
  func offlineIncrements(count: Int) throws {
    var driver = CoreDriver.idle()
    _ = try driver.observe("n", answered: "0")
    driver.lose()
    for _ in 0..<count {
      driver.feed(.write(driver.token(), path: "n", .set(.leaf(.deferred(.incrementInteger(1))))))
    }
    #expect(driver.values.last == "\(count)")
    driver.forget()
    driver.connect()
    var server: Int64 = 0
    for sent in driver.sentWrites {
      let node: Node
      guard case .set(let value) = sent.write.operation else { continue }
      node = value.resolvingDeferred(existing: .integer(server), timestamp: 0)
      guard case .integer(let sum)? = node.leafValue else { continue }
      server = sum
      try driver.push("n", "\(server)")
      driver.answer(sent.id)
    }
    #expect(server == Int64(count))
    #expect(driver.core.cachedValue(at: "n", query: .all) == .integer(server))
    #expect(driver.values.isEmpty)
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
    var driver = CoreDriver.idle()
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
    return driver.events
  }

  private func listen(_ driver: CoreDriver, tagged: Bool) -> Int64 {
    for (id, request) in driver.requests {
      if case .listen(let listen) = request, (listen.tag != nil) == tagged { return id }
    }
    return -1
  }

  @Test(
    "No value event is raised before the server responds",
    arguments: [Query.all, Query(index: .key)]
  )
  func noEarlyNull(query: Query) throws {
    var driver = CoreDriver()
    _ = driver.observe("late", query)
    driver.connect()
    driver.lose()
    driver.connect()
    try driver.set("elsewhere", "1")
    #expect(driver.values.isEmpty)
    try driver.push("late", #"{"a":1}"#)
    #expect(driver.values == [#"{"a":1}"#])
  }

  @Test("A revoked listen cancels each of its listeners once, whatever else arrives for it")
  func cancelledOnce() throws {
    var driver = CoreDriver.idle()
    _ = driver.observe("x", first1)
    _ = try driver.observe("x", answered: "1")
    _ = driver.observe("x")
    driver.forget()
    for _ in 0..<2 {
      driver.receive(.push(.listenRevoked(path: "x", queries: nil)))
      driver.receive(.push(.listenRevoked(path: "x", queries: [.all, first1])))
    }
    for id in 1...5 { driver.answer(Int64(id), .permissionDenied) }
    driver.lose()
    driver.connect()
    #expect(
      driver.completions.sorted() == [
        "cancelled 1 permission_denied", "cancelled 2 permission_denied",
        "cancelled 3 permission_denied",
      ]
    )
    #expect(driver.listens.allSatisfy { $0.hasPrefix("n ") })
  }

  @Test("A server that dies before its greeting is detected")
  func deadBeforeGreeting() throws {
    var driver = CoreDriver()
    _ = driver.observe("l")
    guard case .connecting(let id) = driver.core.phase
    else { throw Unexpected("\(driver.core.phase)") }
    driver.feed(.transportOpened(id))
    driver.time.monotonic += driver.core.configuration.connectTimeout
    driver.feed(.timerFired(.connectTimeout))
    #expect(driver.core.phase != .connecting(id))
    driver.connect()
    #expect(driver.listens == ["q /l "])
  }

  @Test("An expired token ends no listener; listens resume with hashes under the next token")
  func expiredToken() throws {
    var driver = CoreDriver.idle()
    driver.feed(.authenticate(ClientRequest.Authentication(credential: "first")))
    _ = try driver.observe("l", answered: #"{"a":1}"#)
    for token in 2...4 {
      driver.forget()
      driver.receive(.push(.authenticationRevoked(.expiredToken, reason: "expired")))
      driver.feed(.authenticate(ClientRequest.Authentication(credential: "token \(token)")))
      driver.connect()
      let hash = driver.core.cachedValue(at: "l", query: .all)?.hash ?? "none"
      #expect(driver.listens == ["q /l \(hash)"])
      for request in driver.requests { driver.answer(request.id) }
      #expect(driver.events.isEmpty && driver.completions.isEmpty)
      try driver.push("l/a", "\(token)")
      #expect(driver.values == [#"{"a":\#(token)}"#])
    }
  }

  @Test("A token renewed in time affects neither the connection nor the listeners")
  func renewedToken() throws {
    var driver = CoreDriver.idle()
    driver.feed(.authenticate(ClientRequest.Authentication(credential: "first")))
    _ = try driver.observe("l", answered: "1")
    driver.forget()
    driver.feed(.authenticate(ClientRequest.Authentication(credential: "second")))
    #expect(driver.requests.count == 1)
    #expect(driver.core.isConnected)
    driver.answer(driver.requests[0].id)
    #expect(driver.events.isEmpty && driver.listens.isEmpty)
  }

  @Test("An update of 500 paths is one message and one event and does not block reads")
  func wideUpdate() throws {
    var driver = CoreDriver.idle()
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
    #expect(driver.completions.last?.hasSuffix(" 1") == true)
  }
}
