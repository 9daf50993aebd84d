import Testing

@Suite("Several engines and one server")
struct SimulationTests {
  @Test("All converge, and every write counts exactly once", arguments: 0..<10)
  func converges(block: UInt64) {
    for seed in (block * 10)..<(block * 10 + 10) {
      var simulation = Simulation(seed: seed, clients: 3)
      let problem = simulation.run(steps: 200)
      #expect(problem == nil, "seed \(seed)")
    }
  }
}
