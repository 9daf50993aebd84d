private import Foundation

/// How much the tests with random cases do.
///
/// By default they are short and look at other cases each day; `HEARTH_TESTS=full` asks for all of
/// them. Either way a run prints its seed, and `HEARTH_SEED=N` repeats it.
package enum Thoroughness {
  /// Whether all rounds and all seeds are wanted.
  package static let isFull = environment["HEARTH_TESTS"] == "full"

  /// Where the random cases of this run begin: a number of the day, or `HEARTH_SEED`.
  package static let seed: UInt64 = {
    let day = UInt64(Date().timeIntervalSince1970 / 86_400)
    let seed = environment["HEARTH_SEED"].flatMap(UInt64.init) ?? day
    print("HEARTH_SEED=\(seed) repeats the random cases of this run")
    return seed
  }()

  /// So many rounds in a full run, a tenth of them otherwise.
  package static func rounds(_ full: Int) -> Int { isFull ? full : max(1, full / 10) }

  /// So many seeds in a full run, a tenth of them otherwise, and at least one.
  package static func seeds(_ full: Int) -> [UInt64] {
    // Days that follow each other must not share seeds: a number of the day alone would move by one.
    let first = isFull ? 1 : seed &* 1_000
    return (0..<UInt64(rounds(full))).map { first &+ $0 }
  }

  private static var environment: [String: String] { ProcessInfo.processInfo.environment }
}
