import TestSupport
import Testing

@Suite("Ten minutes with tokens of two seconds, in simulated time")
struct TokenSimulationTests {
  @Test("No listener is lost, no event missed or told twice", arguments: Thoroughness.seeds(4))
  func steady(seed: UInt64) {
    var simulation = TokenSimulation(seed: seed)
    simulation.run(for: 600_000)
    #expect(simulation.problems.isEmpty)
    #expect(simulation.told == simulation.written)
    #expect(simulation.written.count > 10_000)
    #expect(simulation.refreshes > 300)
    // Each token is replaced before the server would miss it, on the connection that stands.
    #expect(simulation.refusals == 0)
    #expect(simulation.connections == 1)
  }

  @Test(
    "Nor when the accounts cannot be reached for a while and tokens do end",
    arguments: Thoroughness.seeds(4)
  )
  func outages(seed: UInt64) {
    let outages = (0..<12).map { number -> Range<Int64> in
      let start = 1_010_000 + Int64(number) * 45_000
      return start..<start + 1_000 + Int64(number) * 700
    }
    var simulation = TokenSimulation(seed: seed, outages: outages)
    simulation.run(for: 600_000)
    #expect(simulation.problems.isEmpty)
    #expect(simulation.told == simulation.written)
    #expect(simulation.refusals > 3)
    #expect(simulation.connections > 3)
  }
}
