import TestSupport
import Testing

@testable import HearthLab

@Suite("Linearizability")
struct LinearizabilityTests {
  private func call(
    _ action: RegisterCall.Action,
    _ invoked: Int64,
    _ returned: Int64?
  ) -> RegisterCall {
    RegisterCall(
      action: action,
      invoked: Moment(microseconds: invoked),
      returned: returned.map { Moment(microseconds: $0) }
    )
  }

  private func run(_ calls: [RegisterCall]) -> LinearizabilitySearch.Result {
    LinearizabilitySearch(calls).run()
  }

  @Test("holds for sequential calls and for concurrent ones in any order")
  func right() {
    #expect(run([]) == .linearizable)
    #expect(run([call(.write(3), 0, 1), call(.read(3), 2, 3)]) == .linearizable)
    #expect(
      run([call(.write(1), 0, 9), call(.write(2), 0, 9), call(.read(1), 10, 11)]) == .linearizable
    )
    #expect(
      run([call(.write(1), 0, 9), call(.read(0), 1, 2), call(.read(1), 3, 4)]) == .linearizable
    )
    #expect(
      run([call(.add(1, sum: 2), 0, 9), call(.add(1, sum: 1), 0, 9), call(.read(2), 10, 11)])
        == .linearizable
    )
  }

  @Test("fails for stale reads, lost additions and reads that go backwards")
  func wrong() {
    #expect(run([call(.write(3), 0, 1), call(.read(0), 2, 3)]) == .violated)
    #expect(
      run([call(.add(1, sum: 1), 0, 9), call(.add(1, sum: 1), 0, 9)]) == .violated
    )
    #expect(
      run([call(.write(1), 0, 9), call(.read(1), 1, 2), call(.read(0), 3, 4)]) == .violated
    )
  }

  @Test("allows a call of unknown outcome to have taken effect or not")
  func unknown() {
    for value: Int64 in [0, 3] {
      #expect(run([call(.write(3), 0, nil), call(.read(value), 5, 6)]) == .linearizable)
    }
    #expect(run([call(.write(3), 5, nil), call(.read(3), 0, 1)]) == .violated)
    #expect(
      run([call(.write(3), 0, nil), call(.read(3), 1, 2), call(.read(0), 3, 4)]) == .violated
    )
  }

  @Test("is undecided when there are too many orders to search")
  func undecided() {
    let calls = (0..<30).map { call(.write(Int64($0)), 0, 100) } + [call(.read(-1), 101, 102)]
    #expect(LinearizabilitySearch(calls, limit: 1_000).run() == .undecided(steps: 1_001))
  }

  @Test("holds for random register histories and fails when one read is corrupted")
  func property() {
    var caught = 0
    for seed: UInt64 in 0..<300 {
      var random = SplitMix64(seed: seed)
      var calls: [RegisterCall] = []
      var number: Int64 = 0
      for index in 0..<random.below(14) {
        // The call takes effect at its own time, after it begins and before it ends.
        let effect = Int64(index) * 10
        let begin = effect - Int64(random.below(25))
        let end = effect + Int64(random.below(25))
        let action: RegisterCall.Action
        switch random.below(3) {
        case 0: action = .read(number)
        case 1:
          number = Int64(random.below(3))
          action = .write(number)
        default:
          number += 1
          action = .add(1, sum: number)
        }
        calls.append(call(action, begin, random.once(in: 6) ? nil : end))
      }
      calls.append(call(.read(number), 1_000, 1_001))
      #expect(run(calls) == .linearizable, "seed \(seed)")
      calls.append(call(.read(number + 50), 1_002, 1_003))
      if run(calls) == .violated { caught += 1 }
    }
    #expect(caught == 300)
  }
}
