import RealtimeCore
import Testing

@testable import RealtimeDatabase

@Suite("Single reads and cached data")
struct RepoCoreGetTests {
  /// A process that has received `/list`, and then its successor.
  private func restarted(_ json: String = #"{"a":1,"b":2}"#) throws -> OfflineDriver {
    var driver = OfflineDriver.connected()
    _ = try driver.engine.observe("list", answered: json)
    driver.restart { $0.getDeadline = 3_000 }
    return driver
  }

  private func get(
    _ driver: inout OfflineDriver,
    _ path: Path,
    _ query: Query = .all
  ) -> RequestToken {
    let token = driver.engine.token()
    driver.engine.feed(.get(token, path: path, query: query))
    return token
  }

  @Test("A read waits for a connection until its deadline, then returns stored data")
  func deadline() throws {
    var driver = try restarted()
    let token = get(&driver, "list/a")
    #expect(driver.reads.isEmpty)
    driver.engine.feed(.timerFired(.getDeadline(token)))
    #expect(driver.reads == ["1 cached"])
  }

  @Test("A read of unknown data fails at its deadline")
  func unknown() throws {
    var driver = try restarted()
    let token = get(&driver, "other")
    driver.engine.feed(.timerFired(.getDeadline(token)))
    #expect(driver.reads == ["unavailable"])
    driver.forget()
    driver.engine.connect()
    #expect(driver.engine.requests.count == 1, "it is not sent any more")
  }

  @Test("A read after goOffline does not wait")
  func offline() throws {
    var driver = try restarted()
    driver.engine.feed(.goOffline(.user))
    _ = get(&driver, "list", Query(limit: Query.Limit(1, side: .last)))
    #expect(driver.reads == [#"{"b":2} cached"#])
  }

  @Test("A read after goOffline fails at once if nothing is cached")
  func offlineUnknown() throws {
    var driver = try restarted()
    driver.engine.feed(.goOffline(.user))
    let token = driver.engine.token()
    let outputs = driver.engine.feed(.get(token, path: "other", query: .all))
    let failures = outputs.compactMap { output -> String? in
      guard case .getCompleted(token, .failure(let outcome)) = output else { return nil }
      return "\(outcome.status): \(outcome.reason)"
    }
    #expect(failures == ["unavailable: Client is offline."])
  }

  @Test("A read goes to the server if a listen above has not yet confirmed the stored data")
  func unconfirmedBelow() throws {
    var driver = try restarted()
    _ = driver.engine.observe("")
    _ = driver.engine.observe("list/a")
    driver.engine.connect()
    driver.forget()
    _ = get(&driver, "list/a")
    #expect(driver.reads.isEmpty)
    #expect(driver.engine.requests.count == 1)
  }

  @Test("A read goes to the server when connected, even if a listener shows stored data")
  func server() throws {
    var driver = try restarted()
    _ = driver.engine.observe("list")
    driver.engine.connect()
    driver.forget()
    _ = get(&driver, "list")
    #expect(driver.reads.isEmpty)
    let request = try #require(driver.engine.requests.last)
    let node = Node.empty.setting(ChildKey("a"), to: .integer(9))
    driver.engine.receive(
      .response(id: request.id, ServerMessage.Response(.ok, payload: .node(node)))
    )
    #expect(driver.reads == [#"{"a":9} current"#])
    #expect(driver.engine.events.isEmpty)
  }

  @Test("A read is answered locally if a listener has the data from the server")
  func listened() throws {
    var driver = try restarted()
    driver.engine.connect()
    _ = try driver.engine.observe("list", answered: #"{"a":1,"b":2}"#)
    driver.forget()
    _ = get(&driver, "list/a")
    #expect(driver.reads == ["1 current"])
    #expect(driver.engine.requests.isEmpty)
  }

  // Differs: A read that the server denies
  @Test("A read returns stored data if the server is unavailable, but not if it denies the read")
  func failures() throws {
    for (status, expected) in [
      (StatusCode.unavailable, "{\"a\":1,\"b\":2} cached"),
      (.permissionDenied, "permission_denied"),
    ] {
      var driver = try restarted()
      driver.engine.connect()
      _ = get(&driver, "list")
      driver.engine.connect()
      driver.engine.answer(try #require(driver.engine.requests.last).id, status)
      #expect(driver.reads == [expected])
    }
  }

  @Test("Stored data includes pending writes")
  func pending() throws {
    var driver = try restarted()
    try driver.engine.set("list/a", "7")
    let token = get(&driver, "list")
    driver.engine.feed(.timerFired(.getDeadline(token)))
    #expect(driver.reads == [#"{"a":7,"b":2} cached pending"#])
  }

  // Differs: The result of a single read
  @Test("Reads from the store do not affect listeners of other queries at the location")
  func undisturbed() throws {
    var driver = try restarted()
    let first = Query(index: .key, limit: Query.Limit(1, side: .first))
    _ = driver.engine.observe("list", first)
    driver.forget()
    for query in [Query.all, Query(index: .key, limit: Query.Limit(1, side: .last))] {
      let token = get(&driver, "list", query)
      driver.engine.feed(.timerFired(.getDeadline(token)))
    }
    #expect(driver.reads.count == 2)
    #expect(driver.engine.events.isEmpty)
    driver.forget()
    _ = driver.engine.observe("list", first)
    #expect(driver.values == [#"{"a":1} cached"#])
  }

  @Test("A read's result is stored for later")
  func kept() throws {
    var driver = OfflineDriver()
    _ = get(&driver, "list")
    driver.engine.connect()
    let request = try #require(driver.engine.requests.last)
    let response = ServerMessage.Response(.ok, payload: .node(.integer(5)))
    driver.engine.receive(.response(id: request.id, response))
    driver.restart(observing: "list")
    #expect(driver.values == ["5 cached"])
  }
}

@Suite("RepoCore: range merges")
struct RepoCoreRangeTests {
  private static let text = String(repeating: "x", count: 600)

  private static func lastListen(_ driver: CoreDriver) throws -> ListenRequest {
    let listens = driver.requests.compactMap { entry -> ListenRequest? in
      if case .listen(let listen) = entry.request { listen } else { nil }
    }
    return try #require(listens.last)
  }

  private static func change(_ node: String) throws -> ServerMessage {
    let data = try Node(json: JSONParser.parse(node))
    let range = RangeMerge(start: "a", end: "b", node: data)
    return .push(.rangeMerge(path: "list", [range], tag: nil))
  }

  @Test("A reconnect with large data sends range hashes and applies the ranges that differ")
  func reconnects() throws {
    var driver = CoreDriver.connected()
    _ = try driver.observe("list", answered: #"{"a":"\#(Self.text)","b":"\#(Self.text)"}"#)
    driver.lose()
    driver.forget()
    driver.connect()
    let listen = try Self.lastListen(driver)
    let compound = try #require(listen.compoundHash)
    #expect(compound.posts == ["a", "b"])
    driver.forget()
    driver.receive(try Self.change(#"{"b":1}"#))
    let expected = #"value {"a":"\#(Self.text)","b":1}"#
    #expect(driver.events.last == expected)
    #expect(driver.events.count == 2)
  }

  @Test("A reconnect with small data sends no range hashes")
  func small() throws {
    var driver = CoreDriver.connected()
    _ = try driver.observe("list", answered: #"{"a":1,"b":2}"#)
    driver.lose()
    driver.connect()
    #expect(try Self.lastListen(driver).compoundHash == nil)
  }

  @Test("Ranges for a listen that has ended are ignored")
  func late() throws {
    var driver = CoreDriver.connected()
    let first = try driver.observe("list", answered: #"{"a":"\#(Self.text)","b":"\#(Self.text)"}"#)
    driver.lose()
    driver.connect()
    driver.feed(.stopObserving(first))
    _ = driver.observe("list")
    driver.forget()
    driver.receive(try Self.change(#"{"b":1}"#))
    #expect(driver.events == [])
  }
}
