private import Foundation

/// How much the tests with random cases do.
///
/// By default they are short and use different cases each day; `HEARTH_TESTS=full` runs all of
/// them. In both modes a run prints its seed, and `HEARTH_SEED=N` repeats it.
package enum Thoroughness {
  /// Whether all rounds and all seeds are requested.
  package static let isFull = environment["HEARTH_TESTS"] == "full"

  /// The seed of this run's random cases: the number of the day, or `HEARTH_SEED`.
  package static let seed: UInt64 = {
    let day = UInt64(Date().timeIntervalSince1970 / 86_400)
    let seed = environment["HEARTH_SEED"].flatMap(UInt64.init) ?? day
    print("HEARTH_SEED=\(seed) repeats the random cases of this run")
    return seed
  }()

  /// The number of rounds: all in a full run, otherwise a tenth of them.
  package static func rounds(_ full: Int) -> Int { isFull ? full : max(1, full / 10) }

  /// The seeds: all in a full run, otherwise a tenth of them, and at least one.
  package static func seeds(_ full: Int) -> [UInt64] {
    // Consecutive days must not share seeds: the number of the day alone would only move by one.
    let first = isFull ? 1 : seed &* 1_000
    return (0..<UInt64(rounds(full))).map { first &+ $0 }
  }

  /// Every third case, starting with another one each day; all of them in a full run.
  package static func third<Case>(of cases: some Collection<Case>) -> [Case] {
    let all = Array(cases)
    guard !isFull, !all.isEmpty else { return all }
    let first = Int(seed % UInt64(min(3, all.count)))
    return stride(from: first, to: all.count, by: 3).map { all[$0] }
  }

  private static var environment: [String: String] { ProcessInfo.processInfo.environment }
}
