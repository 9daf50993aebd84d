import Foundation
import NIOConcurrencyHelpers
import TestSupport
import Testing

@testable import RealtimeServer

@Suite("Cluster simulation")
struct ClusterSimulationTests {
  private static let environment = ProcessInfo.processInfo.environment

  /// The seeds to run: one named by CLUSTER_SEED, or as many as CLUSTER_SEEDS says.
  private static var seeds: [UInt64] {
    if let seed = environment["CLUSTER_SEED"].flatMap(UInt64.init) { return [seed] }
    if let count = environment["CLUSTER_SEEDS"].flatMap(UInt64.init) { return Array(1...count) }
    return Thoroughness.seeds(1_000)
  }

  /// Runs a simulation for each seed, on all cores, and returns the broken promises by seed.
  private static func problems(
    _ seeds: [UInt64],
    mistake: ClusterMistake? = nil
  ) -> [(seed: UInt64, promise: ClusterPromise, text: String)] {
    let found = NIOLockedValueBox<[(seed: UInt64, promise: ClusterPromise, text: String)]>([])
    DispatchQueue.concurrentPerform(iterations: seeds.count) { index in
      var simulation = ClusterSimulation(seed: seeds[index], mistake: mistake)
      guard let problem = simulation.run() else { return }
      found.withLockedValue { $0.append((seeds[index], problem.promise, problem.text)) }
    }
    return found.withLockedValue { $0.sorted { $0.seed < $1.seed } }
  }

  @Test("One server leads at a time, nothing is lost and every client is served")
  func promises() {
    for (seed, promise, text) in Self.problems(Self.seeds) {
      Issue.record(
        "\(promise): \(text)\nreplay: CLUSTER_SEED=\(seed) swift test --filter ClusterSimulation"
      )
    }
  }

  @Test("A deliberate bug is caught by the promise it breaks", arguments: ClusterMistake.allCases)
  func mistakes(mistake: ClusterMistake) {
    // Some mistakes do harm in every run, others only if several faults come together.
    let least = Thoroughness.isFull ? 2 : 1
    var found: [(seed: UInt64, promise: ClusterPromise, text: String)] = []
    var seeds: Range<UInt64> = 1..<3
    while found.count < least, seeds.lowerBound < 1_000 {
      found += Self.problems(Array(seeds), mistake: mistake)
      seeds = seeds.upperBound..<seeds.upperBound + 2
    }
    #expect(found.count >= least, "\(mistake) was found in \(found.count) of 1000 runs")
    let others = found.filter { !mistake.broken.contains($0.promise) }
    #expect(others.isEmpty, "\(mistake)")
  }

  @Test("The runs cover every kind of event")
  func coverage() {
    var marks: [String: Int] = [:]
    for seed: UInt64 in 1...12 {
      var simulation = ClusterSimulation(seed: seed)
      #expect(simulation.run() == nil, "seed \(seed)")
      marks.merge(simulation.marks) { $0 + $1 }
    }
    let expected = [
      "abandoned", "batch behind", "caught up", "clock set", "copy", "copy failed", "copy read",
      "cut", "cut off", "deposed", "farewell", "kill", "move", "pause", "read", "read anew",
      "redirect", "report", "retry", "stop", "storage back", "stuck", "unknown", "write",
    ]
    #expect(marks.keys.sorted() == expected, "\(marks)")
  }
}
