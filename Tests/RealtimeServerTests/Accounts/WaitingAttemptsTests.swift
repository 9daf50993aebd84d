import Testing

@testable import RealtimeServer

@Suite("Attempts that wait")
struct WaitingAttemptsTests {
  @Test("The attempts from one address wait for each other, up to a limit")
  func oneAddress() {
    var waiting = WaitingAttempts()
    let delays = (0..<10).map { _ in waiting.enter("ann", from: "cafe") }
    #expect(delays == Array(1...8) + [nil, nil])
    #expect(waiting.enter("bob", from: "cafe") == 1)
    waiting.leave("ann", from: "cafe")
    #expect(waiting.enter("ann", from: "cafe") == 8)
  }

  @Test("The owner gets in although sixteen other addresses guess, or one that is shared")
  func owner() {
    var waiting = WaitingAttempts()
    for number in 0..<16 { #expect(waiting.enter("ann", from: "\(number)") != nil) }
    #expect(waiting.enter("ann", from: "owner") == 3)
    #expect(waiting.enter("ann", from: "7") == 3)
  }

  @Test("All addresses together guess no faster than eight of them")
  func rate() {
    var waiting = WaitingAttempts()
    var perDelay = 0.0
    for number in 0..<200 {
      if let delays = waiting.enter("ann", from: "\(number)") { perDelay += 1 / Double(delays) }
    }
    // Each step of eight adds eight more, which wait one delay longer: 8 (1 + 1/2 + … + 1/16).
    #expect(perDelay < 28)
    #expect(waiting.enter("ann", from: "another") == nil)
  }

  @Test("The address that the owner has used before always has a place, without a longer wait")
  func known() {
    var waiting = WaitingAttempts()
    waiting.remember("ann", from: "home")
    for number in 0..<200 { _ = waiting.enter("ann", from: "\(number)") }
    #expect(waiting.enter("ann", from: "home") == 1)
    #expect(waiting.enter("ann", from: "home") == 2)
    for number in 0..<20_000 { waiting.remember("\(number)", from: "elsewhere") }
  }
}
