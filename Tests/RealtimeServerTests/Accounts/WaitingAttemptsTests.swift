import Testing

@testable import RealtimeServer

@Suite("Attempts that wait")
struct WaitingAttemptsTests {
  @Test("wait one at a time from each address, and a few from all for one account")
  func places() {
    var waiting = WaitingAttempts()
    var entered = (0..<20).filter { waiting.enter("ann", from: "\($0)") }
    #expect(entered == Array(0..<8))
    entered = (0..<20).filter { waiting.enter("bob", from: "\($0)") }
    #expect(entered == Array(0..<8))
    let isTwice = waiting.enter("ann", from: "0")
    #expect(!isTwice)
    waiting.leave("ann", from: "0")
    let isNext = waiting.enter("ann", from: "0")
    #expect(isNext)
  }

  @Test("always have a place for the address that the owner has used before")
  func known() {
    var waiting = WaitingAttempts()
    waiting.remember("ann", from: "home")
    for number in 0..<20 { _ = waiting.enter("ann", from: "\(number)") }
    let isIn = waiting.enter("ann", from: "home")
    #expect(isIn)
    let isIn2 = waiting.enter("ann", from: "home")
    #expect(!isIn2)
    for number in 0..<20_000 { waiting.remember("\(number)", from: "elsewhere") }
  }
}
