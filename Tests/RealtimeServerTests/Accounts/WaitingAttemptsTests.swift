import NIOConcurrencyHelpers
import Testing

@testable import RealtimeServer

@Suite("Waiting sign-in attempts")
struct WaitingAttemptsTests {
  /// The number of delays until an attempt goes on.
  private func delays(until id: Int?, at account: String, in waiting: inout WaitingAttempts) -> Int?
  {
    for delay in 1...1_000 where waiting.next(account).served.contains(where: { $0 == id }) {
      return delay
    }
    return nil
  }

  @Test(
    "One attempt from each address goes on after a delay, in their order",
    arguments: [1, 8, 600]
  )
  func oneAddress(attempts: Int) {
    var waiting = WaitingAttempts()
    let ids = (0..<attempts).compactMap { _ in waiting.enter("ann", from: "cafe")?.id }
    #expect(ids.count == attempts)
    for id in ids { #expect(waiting.next("ann").served == [id]) }
    #expect(waiting.next("ann").isLast)
  }

  @Test(
    "The owner gets in although others guess, however many attempts each makes",
    arguments: [1, 8, 100]
  )
  func owner(attempts: Int) {
    var waiting = WaitingAttempts()
    for number in 0..<16 {
      for _ in 0..<attempts { #expect(waiting.enter("ann", from: "\(number)") != nil) }
    }
    let owner = waiting.enter("ann", from: "owner")?.id
    #expect(delays(until: owner, at: "ann", in: &waiting) == 3)
  }

  @Test("The owner gets in behind an address from which others guess without end")
  func sharedAddress() {
    var waiting = WaitingAttempts()
    for _ in 0..<100 { _ = waiting.enter("ann", from: "cafe") }
    let owner = waiting.enter("ann", from: "cafe")?.id
    var count = 0
    while waiting.next("ann").served.first != owner, count < 200 {
      count += 1
      for _ in 0..<5 { #expect(waiting.enter("ann", from: "cafe") != nil) }
    }
    #expect(count == 100)
  }

  @Test("Attempts whose clients have left are skipped")
  func abandoned() {
    var waiting = WaitingAttempts()
    let hasLeft = NIOLockedValueBox(false)
    for _ in 0..<9_999 {
      _ = waiting.enter("ann", from: "cafe") { hasLeft.withLockedValue { $0 } }
    }
    let owner = waiting.enter("ann", from: "cafe")?.id
    #expect(waiting.enter("ann", from: "cafe") == nil)
    hasLeft.withLockedValue { $0 = true }
    let turn = waiting.next("ann")
    #expect(turn.served.first == owner && turn.abandoned.count == 9_999 && turn.isLast)
    #expect(waiting.enter("ann", from: "cafe") != nil)
  }

  @Test("The total guessing rate is bounded, however many addresses take part")
  func rate() {
    var waiting = WaitingAttempts()
    for number in 0..<2_000 { _ = waiting.enter("ann", from: "\(number % 200)") }
    for _ in 0..<250 { #expect(waiting.next("ann").served.count == 8) }
    #expect(waiting.next("ann").served == [])
  }

  @Test("The address that the owner has used before does not wait for the others")
  func known() {
    var waiting = WaitingAttempts()
    waiting.remember("ann", from: "home")
    for number in 0..<200 { _ = waiting.enter("ann", from: "\(number)") }
    let (first, second) = (
      waiting.enter("ann", from: "home")?.id, waiting.enter("ann", from: "home")?.id
    )
    #expect(waiting.next("ann").served.first == first)
    #expect(waiting.next("ann").served.first == second)
    for number in 0..<20_000 { waiting.remember("\(number)", from: "elsewhere") }
  }
}
