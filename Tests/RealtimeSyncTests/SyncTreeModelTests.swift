import Foundation
import TestSupport
import Testing

@Suite("SyncTree against a naive oracle")
struct SyncTreeModelTests {
  private static let environment = ProcessInfo.processInfo.environment

  /// The seeds to run: one named by SYNC_MODEL_SEED, or as many as SYNC_MODEL_SEEDS says.
  private static var seeds: [UInt64] {
    if let seed = environment["SYNC_MODEL_SEED"].flatMap(UInt64.init) { return [seed] }
    if let count = environment["SYNC_MODEL_SEEDS"].flatMap(UInt64.init) { return Array(1...count) }
    return Thoroughness.seeds(240)
  }

  /// The parts that the seeds are divided into, so that they run side by side.
  private static let parts: ClosedRange<UInt64> = 0...3

  @Test("Views show what the oracle says, and events replay to it", arguments: parts)
  func model(part: UInt64) {
    var comparisons = 0
    let seeds = Self.seeds.filter { $0 % 4 == part }
    for seed in seeds {
      var model = SyncTreeModel(seed: seed, usesPriorities: seed.isMultiple(of: 2))
      if let problem = model.run(steps: 120) {
        Issue.record("\(problem)\nreplay: SYNC_MODEL_SEED=\(seed) \(Self.command)")
      }
      comparisons += model.comparisons
    }
    #expect(comparisons >= seeds.count * 5, "the oracle knew too seldom what to expect")
  }

  @Test(
    "Seeds that once found the oracle wrong hold",
    arguments: [1_158, 1_604, 1_892, 3_184] as [UInt64]
  )
  func regressions(seed: UInt64) {
    var model = SyncTreeModel(seed: seed, usesPriorities: seed.isMultiple(of: 2))
    #expect(model.run(steps: 120) == nil)
  }

  private static let command = "swift test --filter SyncTreeModelTests"
}
