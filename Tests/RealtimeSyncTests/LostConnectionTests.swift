import RealtimeCore
import TestSupport
import Testing

@testable import RealtimeDatabase

/// A server that is unreachable for ten minutes of virtual time.
@Suite("A ten-minute outage")
struct OutageTests {
  private static let length: Int64 = 600_000

  /// The pauses between the attempts of an engine whose every attempt fails immediately.
  private func pauses(
    of driver: inout CoreDriver,
    seed: UInt64
  ) -> [Int64] {
    var random = SplitMix64(seed: seed)
    var pauses: [Int64] = []
    let end = driver.time.monotonic + Self.length
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

  @Test("After it, all listens resume, and the view equals that of a new client")
  func views() throws {
    var old = CoreDriver.connected()
    _ = try old.observe("posts", answered: #"{"a":1,"b":2}"#)
    _ = try old.set("posts/mine", "7")
    #expect(old.values.last == #"{"a":1,"b":2,"mine":7}"#)
    _ = pauses(of: &old, seed: 9)
    old.forget()
    old.connect()
    #expect(old.requests.count == 2)
    try old.push("posts", #"{"b":3,"c":4}"#)
    for request in old.requests { old.answer(request.id) }
    try old.push("posts/mine", "7")
    var fresh = CoreDriver.connected()
    _ = try fresh.observe("posts", answered: #"{"b":3,"c":4,"mine":7}"#)
    #expect(old.values.last == fresh.values.last)
  }
}

@Suite("Half-open connections and redirects")
struct HalfOpenTests {
  private func hosts(_ outputs: [RepoOutput]) -> [String?] {
    outputs.compactMap { output in
      if case .connect(_, let host) = output { .some(host) } else { nil }
    }
  }

  @Test("Incoming data does not hide that outgoing data no longer arrives")
  func halfOpen() throws {
    var driver = CoreDriver.connected()
    driver.answer(1)
    try driver.set("w", "1")
    for _ in 0..<20 where driver.core.isConnected {
      driver.pass(500)
      try driver.push("a", "1")
    }
    #expect(!driver.core.isConnected)
  }

  @Test("A response that takes long to arrive is awaited")
  func longAnswer() throws {
    var driver = CoreDriver.connected()
    try driver.set("w", "1")
    for _ in 0..<120 {
      driver.pass(5_000)
      if let id = driver.core.connection.current { driver.feed(.transportProgress(id)) }
    }
    #expect(driver.core.isConnected)
  }

  @Test("A redirect in place of a greeting is followed at once")
  func redirect() {
    var driver = CoreDriver { $0.followsServerHost = true }
    #expect(hosts(driver.feed(.goOnline(.user))) == [nil])
    #expect(hosts(driver.receive(.reset(host: "s-1.example.test"))) == ["s-1.example.test"])
  }

  @Test("A redirect is ignored if following hosts is disabled")
  func ignoredRedirect() {
    var driver = CoreDriver()
    driver.feed(.goOnline(.user))
    driver.receive(.reset(host: "s-1.example.test"))
    #expect(hosts(driver.feed(.timerFired(.reconnect))) == [nil])
  }

  @Test("A redirect loop is broken")
  func circle() throws {
    var driver = CoreDriver { $0.followsServerHost = true }
    driver.feed(.goOnline(.user))
    // After one server has died, the others may need a few redirects to agree on the next leader.
    for host in ["a", "b", "a", "b"] {
      #expect(hosts(driver.receive(.reset(host: host))) == [host])
    }
    driver.receive(.reset(host: "a"))
    guard case .waiting = driver.core.phase
    else { throw Unexpected("the fifth redirect is followed without a pause") }
    #expect(hosts(driver.feed(.timerFired(.reconnect))) == ["a"])
  }

  @Test("A redirect host that refuses connections is dropped in favor of the public host")
  func deadHost() throws {
    var driver = CoreDriver { $0.followsServerHost = true }
    driver.feed(.goOnline(.user))
    driver.receive(.reset(host: "a"))
    guard let id = driver.core.connection.current
    else { throw Unexpected("no attempt is under way") }
    let outputs = driver.feed(.transportClosed(id, reason: "refused"))
    #expect(hosts(outputs) == [nil], "it is made at once")
  }
}
