import RealtimeCore
import Testing

@testable import RealtimeDatabase

@Suite("Session")
struct RepoCoreSessionTests {
  private let last2 = Query(limit: Query.Limit(2, side: .last))
  private let first1 = Query(limit: Query.Limit(1, side: .first))

  @Test("The client connects on first use")
  func opens() {
    var driver = CoreDriver()
    #expect(driver.core.phase == .interrupted)
    _ = driver.observe("a")
    #expect(driver.core.phase == .connecting(ConnectionID(1)))
    driver.connect()
    #expect(driver.core.isConnected)
  }

  @Test("A reconnect restores credentials, listens with hashes and outstanding requests")
  func restores() throws {
    var driver = CoreDriver.connected()
    driver.feed(.authenticate(ClientRequest.Authentication(credential: "token")))
    _ = try driver.observe("k", answered: #"{"a":1,"b":2}"#)
    driver.feed(.onDisconnect(driver.token(), path: "o", .set(.integer(1))))
    driver.feed(.get(driver.token(), path: "g", query: .all))
    try driver.set("w", "1")
    driver.lose()
    driver.forget()
    driver.connect()
    driver.answer(try #require(driver.requests.first).id)
    let expected: [ClientRequest] = [
      .authenticate(ClientRequest.Authentication(credential: "token")),
      .listen(ListenRequest(path: "k", hash: "AUZnXhNqrfbznYVxcCvNpzpjvTU=")),
      .write(WriteRequest(path: "w", operation: .set(.integer(1)))),
      .onDisconnect(path: "o", .set(.integer(1))),
      .get(path: "g", query: .all),
    ]
    #expect(driver.requests.map(\.request) == expected)
  }

  @Test("Connection state and server time offset appear below .info")
  func info() throws {
    var driver = CoreDriver()
    _ = driver.observe(".info/connected", .all, [.value])
    _ = driver.observe(".info/serverTimeOffset", .all, [.value])
    driver.connect(timestamp: 1_000_250)
    driver.lose()
    #expect(driver.values == ["false", "0", "250", "true", "false"])
    #expect(driver.listens.isEmpty)
    _ = driver.observe(".info/nothing")
    #expect(driver.values.count == 5)
  }

  @Test("A denied listen cancels its listeners, or all at the location for a default listen")
  func refused() {
    var driver = CoreDriver.connected()
    _ = driver.observe("x", first1)
    _ = driver.observe("x")
    _ = driver.observe("x/y")
    driver.forget()
    driver.answer(3, .permissionDenied, "Permission denied")
    #expect(
      driver.completions == ["cancelled 1 permission_denied", "cancelled 2 permission_denied"]
    )
    #expect(driver.listens == ["q /x/y "])
  }

  // Differs: If the server revokes one query
  @Test("A revoked listen ends like a denied one")
  func revoked() throws {
    var driver = CoreDriver.connected()
    _ = try driver.observe("x", answered: "1")
    driver.receive(.push(.listenRevoked(path: "x", queries: nil)))
    #expect(driver.completions == ["cancelled 1 permission_denied"])
    driver.forget()
    try driver.push("x", "2")
    #expect(driver.events.isEmpty)
  }

  @Test("A read is answered from complete data, including pending writes")
  func getCached() throws {
    var driver = CoreDriver.connected()
    _ = try driver.observe("l", answered: #"{"a":1}"#)
    try driver.set("l/b", "2")
    driver.forget()
    driver.feed(.get(driver.token(), path: "l", query: last2))
    #expect(driver.completions == [#"get 3 {"a":1,"b":2}"#])
    #expect(driver.requests.isEmpty)
  }

  @Test("onDisconnect writes show when the connection is lost")
  func onDisconnect() throws {
    var driver = CoreDriver.connected()
    _ = try driver.observe("o", answered: #"{"a":1,"b":2}"#)
    driver.feed(
      .onDisconnect(driver.token(), path: "o/a", .set(.leaf(.deferred(.incrementInteger(4)))))
    )
    driver.feed(.onDisconnect(driver.token(), path: "o", .merge([Change("b", to: .integer(7))])))
    driver.feed(.cancelOnDisconnect(driver.token(), path: "o/b"))
    for id in 3...5 { driver.answer(Int64(id)) }
    #expect(driver.completions == ["write 2 ok", "write 3 ok", "write 4 ok"])
    driver.forget()
    driver.lose()
    #expect(driver.values == [#"{"a":5,"b":2}"#])
    driver.forget()
    driver.connect()
    driver.lose()
    #expect(driver.values.isEmpty)
  }

  @Test("Pauses between attempts grow up to the maximum")
  func pauses() {
    var driver = CoreDriver {
      $0.reconnectJitter = 0
      $0.maximumReconnectDelay = 2_000
    }
    _ = driver.observe("a")
    var pauses: [Int64] = []
    for _ in 0..<6 {
      driver.forget()
      driver.lose()
      for case .schedule(.reconnect, let pause) in driver.outputs { pauses.append(pause) }
      driver.feed(.timerFired(.reconnect))
    }
    #expect(pauses == [1_000, 1_300, 1_690, 2_000, 2_000, 2_000])
  }

  @Test("However short the longest pause is, only the first attempt is immediate")
  func shortestPause() {
    for longest in Int64(0)...1 {
      var driver = CoreDriver { $0.maximumReconnectDelay = longest }
      _ = driver.observe("a")
      driver.lose()
      #expect(driver.core.phase == .waiting(until: 10))
    }
  }

  @Test("After a long-lived connection the first reconnect is immediate")
  func noPause() {
    var driver = CoreDriver.connected()
    driver.time.monotonic += 31_000
    driver.lose()
    #expect(driver.core.phase == .connecting(ConnectionID(2)))
  }

  @Test("Going offline disconnects until going online, which connects at once")
  func offline() {
    var driver = CoreDriver.connected()
    driver.feed(.goOffline(.user))
    #expect(driver.core.phase == .interrupted)
    driver.feed(.timerFired(.reconnect))
    #expect(driver.core.phase == .interrupted)
    driver.feed(.goOnline(.user))
    #expect(driver.core.phase == .connecting(ConnectionID(2)))
  }

  @Test("A rejected credential closes the connection until a new one is set")
  func credentials() throws {
    var driver = CoreDriver()
    driver.feed(.authenticate(ClientRequest.Authentication(credential: "old")))
    driver.connect()
    driver.answer(2, .expiredToken, "expired")
    #expect(driver.core.phase == .interrupted)
    #expect(driver.core.interruptReasons == [.tokenRefresh])
    driver.feed(.authenticate(ClientRequest.Authentication(credential: "new")))
    driver.forget()
    driver.connect()
    #expect(
      driver.requests.map(\.request)
        == [.authenticate(ClientRequest.Authentication(credential: "new"))]
    )
  }

  @Test("The client does not reconnect to a server that shuts down")
  func shutdown() {
    var driver = CoreDriver.connected()
    driver.receive(.shutdown(reason: "bye"))
    #expect(driver.core.phase == .interrupted)
    _ = driver.observe("a")
    #expect(driver.core.phase == .interrupted)
  }

  @Test("Pushes without a listen, in any form, are ignored")
  func strayPushes() throws {
    var driver = CoreDriver.connected()
    _ = try driver.observe("a", answered: "1")
    driver.forget()
    let merge = [
      Change("", to: .integer(1)), Change(".priority", to: .empty),
      Change("x/.priority", to: .integer(1)),
    ]
    driver.receive(.push(.data(path: "a", .integer(9), tag: 77)))
    driver.receive(.push(.data(path: "b/c", .integer(9), tag: nil)))
    driver.receive(.push(.merge(path: "b", merge, tag: nil)))
    driver.receive(.push(.data(path: "b/.priority/c", .integer(9), tag: nil)))
    driver.receive(.push(.merge(path: "a", [], tag: nil)))
    driver.receive(.push(.rangeMerge(path: "a", [], tag: 1)))
    driver.receive(.push(.listenRevoked(path: "nowhere", queries: [.all])))
    driver.receive(.push(.unknown(action: "zz")))
    driver.receive(.response(id: 4_711, ServerMessage.Response(.ok)))
    driver.receive(.hello(ServerHello(timestamp: .min, host: "", session: "")))
    #expect(driver.events.isEmpty && driver.completions.isEmpty)
    #expect(driver.core.isConnected)
  }

  @Test("A query stays synced when its whole location is no longer kept synced")
  func keptQuery() {
    var driver = CoreDriver.connected()
    driver.feed(.keepSynced(path: "k", query: first1, true))
    driver.feed(.keepSynced(path: "k", query: .all, true))
    driver.forget()
    driver.feed(.keepSynced(path: "k", query: .all, false))
    #expect(driver.listens == ["q /k \(first1.id) 1 \(Node.empty.hash)", "n /k"])
  }

  @Test("Ending all listeners of a location keeps data that is kept synced")
  func stopAll() throws {
    var driver = CoreDriver.connected()
    let listeners = [driver.observe("k", first1), try driver.observe("k", answered: "1")]
    driver.feed(.keepSynced(path: "k", query: .all, true))
    driver.forget()
    for listener in listeners { driver.feed(.stopObserving(listener)) }
    #expect(driver.listens.isEmpty)
    driver.feed(.keepSynced(path: "k", query: .all, false))
    #expect(driver.listens == ["n /k"])
  }
}
