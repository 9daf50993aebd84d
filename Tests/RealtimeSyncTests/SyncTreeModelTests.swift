import Testing

@Suite("SyncTree against a naive oracle")
struct SyncTreeModelTests {
  @Test("Views show what the oracle says, and events replay to it", arguments: 0..<24)
  func model(block: UInt64) {
    var comparisons = 0
    for seed in (block * 10)..<(block * 10 + 10) {
      var model = SyncTreeModel(seed: seed, usesPriorities: seed.isMultiple(of: 2))
      let problem = model.run(steps: 120)
      #expect(problem == nil, "seed \(seed)")
      comparisons += model.comparisons
    }
    #expect(comparisons > 50)
  }
}
