import RealtimeCore
import TestSupport
import Testing

@testable import RealtimeSync

/// A server that is unreachable for ten minutes of virtual time.
@Suite("An outage of ten minutes")
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

  @Test("It is tried again and again, ever more seldom, and never gives up", arguments: 1...5)
  func attempts(seed: Int) {
    var driver = CoreDriver()
    driver.connect()
    let configuration = RepoConfiguration(clientID: "c", statisticsName: "s")
    let all = pauses(of: &driver, seed: UInt64(seed))
    // The attempts within ten minutes are few enough for a recovering server.
    #expect((20...70).contains(all.count))
    #expect(all.prefix(3).reduce(0, +) < 3_000)
    let late = all.filter { $0 > 10_000 }
    #expect(late.allSatisfy { $0 <= configuration.maximumReconnectDelay })
    // With jitter, no two terminals reconnect at the same moment.
    #expect(Set(late).count > late.count / 2)
    guard case .connecting = driver.core.phase else {
      Issue.record("no attempt is under way: \(driver.core.phase)")
      return
    }
  }

  @Test("Afterwards everything is listened to again, and the view is what a fresh client sees")
  func views() throws {
    var old = CoreDriver()
    old.connect()
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
    var fresh = CoreDriver()
    fresh.connect()
    _ = try fresh.observe("posts", answered: #"{"b":3,"c":4,"mine":7}"#)
    #expect(old.values.last == fresh.values.last)
  }
}

@Suite("Connections that only half work, and servers that pass a client on")
struct HalfOpenTests {
  private func hosts(_ outputs: [RepoOutput]) -> [String?] {
    outputs.compactMap { output in
      if case .connect(_, let host) = output { .some(host) } else { nil }
    }
  }

  @Test("Data that keep coming do not hide that nothing gets out any more")
  func halfOpen() throws {
    var driver = CoreDriver()
    driver.connect()
    driver.answer(1)
    try driver.set("w", "1")
    for _ in 0..<20 where driver.core.isConnected {
      driver.pass(500)
      try driver.push("a", "1")
    }
    #expect(!driver.core.isConnected)
  }

  @Test("One request that is never answered is no reason to leave a server that answers pings")
  func forgetfulServer() throws {
    var driver = CoreDriver()
    driver.connect()
    try driver.set("w", "1")
    driver.passWithPongs(600_000)
    #expect(driver.core.isConnected)
  }

  @Test("An answer that takes long to arrive is waited for")
  func longAnswer() throws {
    var driver = CoreDriver()
    driver.connect()
    try driver.set("w", "1")
    for _ in 0..<120 {
      driver.pass(5_000)
      if let id = driver.core.connection.current { driver.feed(.transportProgress(id)) }
    }
    #expect(driver.core.isConnected)
  }

  @Test("A redirect instead of a greeting is followed at once")
  func redirect() {
    var driver = CoreDriver { $0.followsServerHost = true }
    #expect(hosts(driver.feed(.goOnline(.user))) == [nil])
    #expect(hosts(driver.receive(.reset(host: "s-1.example.test"))) == ["s-1.example.test"])
  }

  @Test("A redirect is ignored where hosts are not followed")
  func ignoredRedirect() {
    var driver = CoreDriver()
    driver.feed(.goOnline(.user))
    driver.receive(.reset(host: "s-1.example.test"))
    #expect(hosts(driver.feed(.timerFired(.reconnect))) == [nil])
  }

  @Test("Servers that pass a client on to each other do not keep it running in circles")
  func circle() {
    var driver = CoreDriver { $0.followsServerHost = true }
    driver.feed(.goOnline(.user))
    // After one server has died, the others may need a few redirects to agree on the next leader.
    for host in ["a", "b", "a", "b"] {
      #expect(hosts(driver.receive(.reset(host: host))) == [host])
    }
    driver.receive(.reset(host: "a"))
    guard case .waiting = driver.core.phase else {
      Issue.record("the fifth redirect is followed without a pause")
      return
    }
    #expect(hosts(driver.feed(.timerFired(.reconnect))) == ["a"])
  }

  @Test("A host that lets nobody in is forgotten, and the next attempt goes to the public one")
  func deadHost() {
    var driver = CoreDriver { $0.followsServerHost = true }
    driver.feed(.goOnline(.user))
    driver.receive(.reset(host: "a"))
    guard let id = driver.core.connection.current else {
      Issue.record("no attempt is under way")
      return
    }
    let outputs = driver.feed(.transportClosed(id, reason: "refused"))
    #expect(hosts(outputs) == [nil], "it is made at once")
  }
}
