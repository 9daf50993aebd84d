import Testing

@Suite("The engine with a store that crashes", .serialized)
struct OfflinePropertyTests {
  @Test(
    "The store follows the engine, and each write that it kept is applied once",
    arguments: 0..<80
  )
  func seeds(seed: Int) {
    var run = OfflineRun(seed: UInt64(seed))
    let problem = run.run(steps: 400)
    #expect(problem == nil, "seed \(seed)")
  }
}
