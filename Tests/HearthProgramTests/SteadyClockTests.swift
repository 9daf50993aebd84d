import NIOConcurrencyHelpers
import Testing

@testable import HearthProgram

@Suite("The clock of a terminal")
struct SteadyClockTests {
  private let system = NIOLockedValueBox<Int64>(1_000_000_000)
  private let uptime = NIOLockedValueBox<Int64>(500)

  private func clock(followsSystem: Bool) -> @Sendable () -> Int64 {
    let (system, uptime) = (system, uptime)
    return SteadyClock.now(followsSystem: followsSystem) {
      system.withLockedValue { $0 }
    } uptime: {
      uptime.withLockedValue { $0 }
    }
  }

  /// Lets time pass, and sets the system's clock.
  private func pass(_ time: Int64, correctedBy correction: Int64 = 0) {
    system.withLockedValue { $0 += time + correction }
    uptime.withLockedValue { $0 += time }
  }

  @Test("A clock that does not follow the system shows only the time that has passed")
  func steady() {
    let clock = clock(followsSystem: false)
    #expect(clock() == 1_000_000_000)
    pass(10, correctedBy: 7_200_000)
    #expect(clock() == 1_000_000_010)
  }

  @Test("A clock that follows the system ignores small corrections and shows large ones")
  func following() {
    let clock = clock(followsSystem: true)
    pass(10, correctedBy: -60_000)
    #expect(clock() == 1_000_000_010)
    pass(10, correctedBy: -7_200_000)
    #expect(clock() == 1_000_000_020 - 7_260_000)
    pass(10, correctedBy: 7_260_000)
    #expect(clock() == 1_000_000_030)
  }
}
