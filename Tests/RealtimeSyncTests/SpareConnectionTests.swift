import RealtimeCore
import Testing

@testable import RealtimeDatabase

/// Servers that hang while another has replaced them, in virtual time.
@Suite("Spare connections")
struct SpareConnectionTests {
  /// A driver connected to a host that the database's own host has named, with every request
  /// answered.
  private func connected() -> CoreDriver {
    var driver = CoreDriver {
      $0.opensSpares = true
      $0.followsServerHost = true
    }
    driver.connect([.writeOnce])
    driver.answer(1)
    driver.forget()
    return driver
  }

  /// The hosts of the attempts, `-` for the database's own.
  private func attempts(_ driver: CoreDriver) -> [String] {
    driver.outputs.compactMap { if case .connect(_, let host) = $0 { host ?? "-" } else { nil } }
  }

  private func lastAttempt(_ driver: CoreDriver) -> ConnectionID? {
    driver.outputs.reduce(nil) { if case .connect(let id, _) = $1 { id } else { $0 } }
  }

  private func isClosed(_ id: ConnectionID?, in driver: CoreDriver) -> Bool {
    driver.outputs.contains { if case .disconnect(id, _) = $0 { true } else { false } }
  }

  private func hello(_ host: String) -> ServerMessage {
    .hello(ServerHello(timestamp: 0, host: host, session: "t", extensions: [.writeOnce]))
  }

  @Test("After three silent seconds the client tries the database's own host and switches to it")
  func takesOver() throws {
    var driver = connected()
    let listener = driver.observe("a")
    if let request = driver.requests.last { driver.answer(request.id) }
    let token = try driver.set("a/b", "1")
    let silent = driver.core.connection.current
    driver.forget()
    driver.pass(2_999)
    #expect(attempts(driver) == [])
    driver.pass(1)
    #expect(attempts(driver) == ["-"])
    #expect(driver.core.phase == silent.map { .connected($0) }, "the silent one is still there")
    #expect(driver.core.silentSince == 0)
    let spare = try #require(lastAttempt(driver))
    driver.forget()
    driver.pass(500)
    driver.feed(.message(spare, hello("s-2")))
    #expect(driver.core.phase == .connected(spare))
    #expect(driver.core.silentSince == nil)
    #expect(isClosed(silent, in: driver))
    #expect(driver.sentWrites.map { $0.write.path.description } == ["/a/b"])
    #expect(driver.listens.count == 1)
    // Messages from the silent server are now ignored.
    if let silent { driver.feed(.message(silent, .response(id: 3, .init(.ok)))) }
    #expect(driver.completions == [])
    for (id, _) in driver.requests { driver.answer(id) }
    #expect(driver.completions == ["write \(token.number) ok"])
    _ = listener
    driver.forget()
    driver.passWithPongs(44_000)
    #expect(attempts(driver) == [], "a server that answers has no spare")
  }

  @Test("A silent server that responds again keeps its client", arguments: [true, false])
  func relief(isPong: Bool) throws {
    var driver = connected()
    try driver.set("w", "1")
    let request = driver.requests.last?.id
    let connection = driver.core.connection.current
    driver.forget()
    driver.pass(3_200)
    let spare = lastAttempt(driver)
    #expect(spare != nil)
    if isPong { driver.receive(.pong) } else if let request { driver.answer(request) }
    #expect(isClosed(spare, in: driver))
    #expect(driver.core.connection.current == connection)
    if let spare { driver.feed(.message(spare, hello("s-2"))) }
    #expect(driver.core.connection.current == connection)
    driver.forget()
    driver.passWithPongs(40_000)
    #expect(attempts(driver) == [])
  }

  @Test("An idle client opens no spare for an hour")
  func idle() {
    var driver = connected()
    driver.passWithPongs(3_600_000)
    #expect(attempts(driver) == [])
  }

  @Test("A spare follows redirects and returns to the database's own host if not greeted")
  func redirected() throws {
    var driver = connected()
    try driver.set("w", "1")
    driver.forget()
    driver.pass(3_000)
    var spare = try #require(lastAttempt(driver))
    driver.feed(.message(spare, .reset(host: "s-1")))
    #expect(attempts(driver) == ["-", "s-1"])
    #expect(isClosed(spare, in: driver))
    // The redirect leads to the server that hangs.
    driver.pass(2_000)
    #expect(attempts(driver) == ["-", "s-1", "-"])
    spare = try #require(lastAttempt(driver))
    driver.feed(.message(spare, .reset(host: "s-2")))
    spare = try #require(lastAttempt(driver))
    driver.feed(.message(spare, hello("s-2")))
    #expect(driver.core.phase == .connected(spare))
    #expect(driver.time.monotonic == 5_000)
    // A later connection goes to the same host.
    driver.forget()
    driver.lose()
    driver.pass(1_000)
    #expect(attempts(driver) == ["s-2"])
  }

  @Test("Only one spare exists at a time, however often it is refused or redirected")
  func bounded() throws {
    var driver = connected()
    try driver.set("w", "1")
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

  @Test("The spare takes over when the silent connection is dropped")
  func adopted() throws {
    var driver = connected()
    try driver.set("w", "1")
    driver.forget()
    driver.pass(9_999)
    let spare = try #require(lastAttempt(driver))
    #expect(driver.core.isConnected)
    driver.forget()
    driver.pass(1)
    #expect(driver.core.phase == .connecting(spare))
    #expect(attempts(driver) == [])
    driver.feed(.message(spare, hello("s-2")))
    #expect(driver.core.phase == .connected(spare))
    #expect(driver.sentWrites.count == 1)
    // It was adopted with its deadline: a server that never sends a greeting is not waited for
    // indefinitely.
    driver = connected()
    try driver.set("w", "1")
    driver.pass(45_000)
    driver.forget()
    driver.pass(60_000)
    #expect(attempts(driver).count >= 2)
  }

  @Test("A server that greets but never responds is left after longer and longer waits")
  func greetsOnly() throws {
    var driver = connected()
    try driver.set("w", "1")
    var times: [Int64] = []
    driver.forget()
    driver.pass(60_000) { driver, outputs in
      for case .connect(let id, _) in outputs {
        driver.feed(.message(id, hello("s-1")))
        times.append(driver.time.monotonic)
      }
    }
    let pauses = zip(times.dropFirst(), times).map { $0 - $1 }
    #expect(times.first == 3_000)
    #expect(pauses.prefix(3).elementsEqual([6_000, 12_000, 24_000]))
  }

  @Test("Going offline or a redirect by the server closes the spare")
  func ended() throws {
    for isOffline in [true, false] {
      var driver = connected()
      try driver.set("w", "1")
      driver.forget()
      driver.pass(3_000)
      let spare = lastAttempt(driver)
      driver.forget()
      if isOffline { driver.feed(.goOffline(.user)) } else { driver.receive(.reset(host: "s-3")) }
      #expect(isClosed(spare, in: driver))
      #expect(attempts(driver) == (isOffline ? [] : ["s-3"]))
      if isOffline {
        driver.forget()
        driver.pass(100_000)
        #expect(attempts(driver) == [])
      }
    }
  }

  @Test("A database on a Unix socket opens no spare")
  func local() throws {
    var driver = CoreDriver.connected()
    try driver.set("w", "1")
    driver.forget()
    driver.pass(9_999)
    #expect(attempts(driver) == [])
  }
}
