import Testing

@testable import RealtimeServer

@Suite("AttemptLimiter")
struct AttemptLimiterTests {
  @Test("Each name has its own attempts, which are restored over time")
  func limit() {
    let limiter = Subject(limit: 2, pause: 1_000)
    #expect(limiter.take("a", at: 0))
    #expect(limiter.take("a", at: 0))
    #expect(!limiter.take("a", at: 999))
    #expect(limiter.take("b", at: 999))
    #expect(limiter.take("a", at: 1_000))
    #expect(!limiter.take("a", at: 1_999))
    #expect(limiter.take("a", at: 2_000))
  }

  @Test("Returned or reset attempts can be used again")
  func giveBack() {
    let limiter = Subject(limit: 1, pause: 1_000)
    #expect(limiter.take("a", at: 0))
    limiter.giveBack("a")
    #expect(limiter.take("a", at: 0))
    limiter.reset("a")
    #expect(limiter.take("a", at: 0))
    #expect(!limiter.take("a", at: 0))
  }

  @Test("A clock that is set back neither grants attempts nor prolongs a lockout")
  func clockSetBack() {
    let limiter = Subject(limit: 1, pause: 1_000)
    #expect(limiter.take("a", at: 1_000_000))
    #expect(!limiter.take("a", at: 0))
    #expect(limiter.take("a", at: 1_001_000))
  }

  @Test("A flood of other names does not clear one that has used up its attempts")
  func manyNames() {
    let limiter = Subject(limit: 2, pause: 1_000_000)
    #expect(limiter.take("guesser", at: 0))
    #expect(limiter.take("guesser", at: 0))
    for number in 0..<30_000 { #expect(limiter.take("\(number)", at: 0)) }
    #expect(!limiter.take("guesser", at: 0))
  }

  /// A limiter that an expectation can use.
  private final class Subject {
    private var limiter: AttemptLimiter

    init(limit: Int, pause: Int64) { limiter = AttemptLimiter(limit: limit, pause: pause) }

    func take(_ name: String, at now: Int64) -> Bool { limiter.take(name, at: now) }
    func giveBack(_ name: String) { limiter.giveBack(name) }
    func reset(_ name: String) { limiter.reset(name) }
  }
}
