import RealtimeCore
import TestSupport
import Testing

@testable import RealtimeSync

/// A server that is away for ten minutes of virtual time.
@Suite("An outage of ten minutes")
struct OutageTests {
  private static let length: Int64 = 600_000

  /// The pauses between the attempts of an engine whose every attempt fails at once.
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
    // The attempts of ten minutes: few enough for a server that is coming back to bear.
    #expect((20...70).contains(all.count))
    #expect(all.prefix(3).reduce(0, +) < 3_000)
    let late = all.filter { $0 > 10_000 }
    #expect(late.allSatisfy { $0 <= configuration.maximumReconnectDelay })
    // With jitter no two terminals come back at the same moment.
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
