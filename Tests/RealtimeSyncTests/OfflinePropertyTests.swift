import TestSupport
import Testing

@Suite("The engine with a store that crashes", .serialized)
struct OfflinePropertyTests {
  @Test(
    "The store follows the engine, and each write that it kept is applied once",
    arguments: Thoroughness.seeds(80)
  )
  func seeds(seed: UInt64) {
    var run = OfflineRun(seed: seed)
    let problem = run.run(steps: 400)
    #expect(problem == nil, "seed \(seed)")
  }
}
