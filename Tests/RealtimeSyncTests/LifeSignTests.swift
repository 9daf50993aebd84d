import RealtimeCore
import TestSupport
import Testing

@testable import RealtimeDatabase

/// Servers that stop answering, in virtual time.
@Suite("Keepalive")
struct LifeSignTests {
  /// A driver whose server has answered everything so far.
  private func connected() -> CoreDriver {
    var driver = CoreDriver.connected()
    driver.answer(1)
    driver.forget()
    return driver
  }

  private func pings(_ driver: CoreDriver) -> Int {
    driver.outputs.count { if case .send(_, .ping) = $0 { true } else { false } }
  }

  private func causes(_ driver: CoreDriver) -> [DisconnectCause] {
    driver.outputs.compactMap { if case .disconnect(_, let cause) = $0 { cause } else { nil } }
  }

  @Test("A server that owes a response is pinged after 1 s, reported after 3 s and left after 10 s")
  func hung() throws {
    var driver = connected()
    driver.passWithPongs(40_000)
    let start = driver.time.monotonic
    try driver.set("w", "1")
    driver.forget()
    driver.pass(999)
    #expect(pings(driver) == 0)
    driver.pass(1)
    #expect(pings(driver) == 1)
    driver.pass(1_999)
    #expect(driver.core.silentSince == nil)
    driver.pass(1)
    #expect(driver.core.silentSince == start)
    driver.pass(6_999)
    #expect(driver.core.isConnected)
    #expect(pings(driver) == 1)
    driver.pass(1)
    #expect(!driver.core.isConnected)
    #expect(causes(driver) == [.noAnswer])
    guard case .connecting = driver.core.phase
    else { throw Unexpected("it is not tried again at once") }
    // The next attempt gets no response either, and is abandoned in turn.
    #expect(driver.core.silentSince == nil)
    driver.pass(3_000)
    #expect(driver.core.silentSince == start + 10_000)
    driver.pass(27_000)
    #expect(causes(driver) == [.noAnswer, .noAnswer])
  }

  @Test("The expected response or a pong ends the silence")
  func relief() throws {
    for isPong in [false, true] {
      var driver = connected()
      try driver.set("w", "1")
      let request = driver.requests.last?.id
      driver.pass(8_000)
      #expect(driver.core.silentSince == 0)
      if isPong { driver.receive(.pong) } else if let request { driver.answer(request) }
      #expect(driver.core.silentSince == nil)
      driver.passWithPongs(60_000)
      #expect(driver.core.isConnected)
    }
  }

  @Test("An idle server is pinged every 45 seconds, no more often")
  func idle() {
    var driver = connected()
    driver.passWithPongs(3_600_000)
    #expect(driver.core.isConnected)
    #expect((70...80).contains(pings(driver)))
    // It wakes up for the pings only, since their answers make another check unnecessary.
    #expect(driver.looks <= pings(driver) + 2)
    let end = driver.time.monotonic
    driver.pass(48_000)
    #expect((driver.core.silentSince ?? 0) - end <= 45_000)
    driver.pass(driver.core.configuration.patience)
    #expect(!driver.core.isConnected)
  }

  @Test("A server is asked after five silent seconds while the client listens, pushes or not")
  func listening() throws {
    var driver = connected()
    let listener = try driver.observe("l", answered: "null")
    driver.forget()
    driver.passWithPongs(60_000)
    #expect(pings(driver) == 12)
    #expect(driver.looks <= pings(driver) + 2)
    for count in 1...20 {
      try driver.push("l/a", "\(count)")
      driver.forget()
      driver.passWithPongs(4_900)
      #expect(pings(driver) == 0)
    }
    driver.pass(100)
    #expect(pings(driver) == 1)
    let end = driver.time.monotonic
    driver.pass(3_000)
    #expect(driver.core.silentSince == end)
    driver.receive(.pong)
    driver.feed(.stopObserving(listener))
    if let request = driver.requests.last { driver.answer(request.id) }
    driver.forget()
    driver.passWithPongs(60_000)
    #expect(pings(driver) <= 2)
  }

  @Test("A server that dies after answering what a push made the client ask is noticed as soon")
  func pushThenAnswer() throws {
    var driver = connected()
    _ = try driver.observe("l", answered: "1")
    try driver.set("seen", "1")
    driver.answer(try #require(driver.requests.last?.id))
    let end = driver.time.monotonic
    driver.pass(8_000)
    #expect(driver.core.silentSince == end + 5_000)
  }

  // Differs: A server that stops answering
  @Test("A probe reveals within three seconds that an idle server hangs")
  func probe() {
    var driver = connected()
    driver.pass(20_000)
    driver.forget()
    for _ in 1...5 { driver.feed(.probe) }
    #expect(pings(driver) == 1)
    driver.pass(3_000)
    #expect(driver.core.silentSince == 20_000)
    driver.receive(.pong)
    driver.forget()
    driver.feed(.probe)
    #expect(pings(driver) == 0)
    driver.lose()
    #expect(driver.feed(.probe).isEmpty)
  }

  @Test("A slow server that answers pings is pinged less and less often")
  func slow() throws {
    var driver = connected()
    try driver.set("w", "1")
    driver.forget()
    driver.passWithPongs(600_000)
    #expect(driver.core.isConnected)
    #expect((10...25).contains(pings(driver)))
    #expect(driver.core.silentSince == nil)
    // If the server hangs then, the next request reveals it.
    driver.pass(45_000 + 3_000)
    #expect(driver.core.silentSince != nil)
  }

  @Test("A thousand requests a second do not schedule a thousand timers")
  func load() throws {
    var driver = connected()
    for _ in 1...1_000 {
      try driver.set("w", "1")
      if let request = driver.requests.last { driver.answer(request.id) }
      driver.pass(1)
    }
    let schedules = driver.outputs.count {
      if case .schedule(.keepalive, _) = $0 { true } else { false }
    }
    #expect(schedules <= 4)
    #expect(pings(driver) == 0)
  }

  @Test("A program that was suspended does not blame the server")
  func stoodStill() throws {
    var driver = connected()
    try driver.set("w", "1")
    driver.pass(1_500)
    // The system resumes the process after a minute: first the timer fires, then the answer is
    // read.
    driver.time.monotonic += 60_000
    driver.feed(.timerFired(.keepalive))
    #expect(driver.core.isConnected)
    #expect(driver.core.silentSince == nil)
    driver.pass(10_000)
    #expect(!driver.core.isConnected)
  }

  @Test("A server that greets but is slow to respond gets up to eight times as much time")
  func patience() throws {
    var driver = connected()
    try driver.set("w", "1")
    var lengths: [Int64] = []
    for _ in 1...6 {
      driver.connect()
      let start = driver.time.monotonic
      while driver.core.isConnected, driver.time.monotonic - start < 200_000 { driver.pass(100) }
      lengths.append(driver.time.monotonic - start)
    }
    #expect(lengths == [10_000, 20_000, 40_000, 80_000, 80_000, 80_000])
    driver.connect()
    if let request = driver.requests.last { driver.answer(request.id) }
    try driver.set("w", "2")
    driver.pass(79_000)
    driver.connect()
    if let request = driver.requests.last { driver.answer(request.id) }
    driver.lose()
    driver.connect()
    try driver.set("w", "3")
    driver.pass(10_000)
    #expect(!driver.core.isConnected)
  }

  @Test("Pushes do not count as responses, but progress of a long message counts as activity")
  func progress() throws {
    var driver = connected()
    try driver.set("w", "1")
    for _ in 1...3 {
      driver.pass(1_000)
      try driver.push("a", "1")
    }
    #expect(driver.core.silentSince == 0)
    for _ in 1...30 {
      if let id = driver.core.connection.current { driver.feed(.transportProgress(id)) }
      #expect(driver.core.silentSince == nil)
      driver.pass(2_500)
    }
    #expect(driver.core.isConnected)
  }
}
