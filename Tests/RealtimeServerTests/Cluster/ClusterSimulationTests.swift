import Foundation
import RealtimeHub
import RealtimeServer
import TestSupport
import Testing

@Suite("Several servers and one storage, in virtual time")
struct ClusterSimulationTests {
  private static let environment = ProcessInfo.processInfo.environment

  /// The seeds to run: one named by CLUSTER_SEED, or as many as CLUSTER_SEEDS says.
  private static var seeds: [UInt64] {
    if let seed = environment["CLUSTER_SEED"].flatMap(UInt64.init) { return [seed] }
    if let count = environment["CLUSTER_SEEDS"].flatMap(UInt64.init) { return Array(1...count) }
    return Thoroughness.seeds(400)
  }

  @Test("One leads at a time, nothing is lost, and everybody is served", arguments: 0..<4)
  func promises(part: UInt64) {
    for seed in Self.seeds where seed % 4 == part {
      var simulation = ClusterSimulation(seed: seed)
      guard let problem = simulation.run() else { continue }
      Issue.record("\(problem)\nreplay: CLUSTER_SEED=\(seed) swift test --filter ClusterSimulation")
    }
  }

  @Test("A mistake put in on purpose is found", arguments: ClusterMistake.allCases)
  func mistakes(mistake: ClusterMistake) {
    var found = 0
    for seed: UInt64 in 1...80 where found < 2 {
      var simulation = ClusterSimulation(seed: seed, mistake: mistake)
      if simulation.run() != nil { found += 1 }
    }
    #expect(found == 2, "\(mistake) was found in \(found) of 80 runs")
  }

  @Test("The runs meet everything that can happen")
  func coverage() {
    var marks: [String: Int] = [:]
    for seed: UInt64 in 1...12 {
      var simulation = ClusterSimulation(seed: seed)
      #expect(simulation.run() == nil, "seed \(seed)")
      marks.merge(simulation.marks) { $0 + $1 }
    }
    let expected = [
      "abandoned", "cut off", "deposed", "farewell", "kill", "move", "pause", "read", "redirect",
      "retry", "stop", "unknown", "write",
    ]
    #expect(marks.keys.sorted() == expected, "\(marks)")
  }
}
