import Testing

@testable import RealtimeServer

@Suite("Attempts that wait")
struct WaitingAttemptsTests {
  @Test("wait one at a time from each address, and a few from all for one account")
  func places() {
    var waiting = WaitingAttempts()
    var entered = (0..<20).filter { waiting.enter("ann", "\($0)") }
    #expect(entered == Array(0..<8))
    entered = (0..<20).filter { waiting.enter("bob", "\($0)") }
    #expect(entered == Array(0..<8))
    let isTwice = waiting.enter("ann", "0")
    #expect(!isTwice)
    waiting.leave("ann", "0")
    let isNext = waiting.enter("ann", "0")
    #expect(isNext)
  }

  @Test("always have a place for the address that the owner has used before")
  func known() {
    var waiting = WaitingAttempts()
    waiting.remember("ann", "home")
    for number in 0..<20 { _ = waiting.enter("ann", "\(number)") }
    let isIn = waiting.enter("ann", "home")
    #expect(isIn)
    let isIn2 = waiting.enter("ann", "home")
    #expect(!isIn2)
    for number in 0..<20_000 { waiting.remember("\(number)", "elsewhere") }
  }
}
