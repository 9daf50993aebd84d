import Foundation
import RealtimeCore
import RealtimeServer
import TestSupport
import Testing

@Suite("Simulation of clients and server")
struct SimulationTests {
  private static let environment = ProcessInfo.processInfo.environment

  /// The seeds to run: one named by SIMULATION_SEED, or as many as SIMULATION_SEEDS says.
  private static var seeds: [UInt64] {
    if let seed = environment["SIMULATION_SEED"].flatMap(UInt64.init) { return [seed] }
    if let count = environment["SIMULATION_SEEDS"].flatMap(UInt64.init) { return Array(1...count) }
    return Thoroughness.seeds(240)
  }

  /// The parts into which the seeds are divided, so that they run in parallel.
  private static let parts: ClosedRange<UInt64> = 0...3

  @Test("Every promise holds in every run", arguments: parts)
  func promises(part: UInt64) {
    for seed in Self.seeds where seed % 4 == part {
      var simulation = Simulation(seed: seed)
      guard let problem = simulation.run() else { continue }
      Issue.record("\(problem)\nreplay: SIMULATION_SEED=\(seed) \(Self.command)")
    }
  }

  /// The command that runs the seeds named by SIMULATION_SEED or counted by SIMULATION_SEEDS.
  private static let command = "swift test --filter SimulationTests.promises"

  @Test("A deliberate bug is found", arguments: Fault.allCases)
  func faults(fault: Fault) {
    var found = 0
    for seed: UInt64 in 1...12 {
      var simulation = Simulation(seed: seed, fault: fault)
      if simulation.run() != nil { found += 1 }
    }
    #expect(found >= 2, "\(fault) was found in \(found) of 12 runs")
  }

  @Test("After ten minutes without a server, the views agree and every write arrives once")
  func outage() {
    for seed: UInt64 in 1...8 {
      var simulation = Simulation(seed: seed)
      simulation.crash(for: 600_000)
      #expect(simulation.run() == nil, "seed \(seed)")
      #expect(simulation.now >= 600_000)
      #expect(simulation.marks["crash"] == 1 || simulation.marks["crash"] == 2)
    }
  }

  @Test("A seed reproduces its run exactly")
  func repeats() {
    var first = Simulation(seed: 7)
    var second = Simulation(seed: 7)
    #expect(first.run() == second.run())
    #expect(first.marks == second.marks)
    #expect(first.store.commits == second.store.commits)
  }

  @Test("The runs reach the situations they are made for")
  func coverage() {
    var marks: [String: Int] = [:]
    for seed: UInt64 in 1...60 {
      var simulation = Simulation(seed: seed)
      _ = simulation.run()
      marks.merge(simulation.marks) { $0 + $1 }
    }
    let wanted = [
      "crash", "cut", "blocked", "retired", "lingering request", "batch failed",
      "ended with a batch", "ended without a batch", "batches joined",
      "batch failed before others", "client restart",
      "read of the server", "hub disconnects", "set", "unavailable", "invalid_data",
      "range merge", "partition", "unreachable", "request doubled", "answer doubled", "slow peer",
      "spare", "spare greeted",
    ]
    #expect(wanted.filter { marks[$0] == nil } == [])
  }
}

/// A minimized case that the simulation found.
@Suite("A batch that fails after its client disconnects")
struct FailedBatchTests {
  @Test("A write resent on another connection is not answered as stored")
  func repeatedWrite() throws {
    var hub = TreeHub(stored: StoredTree(root: .empty))
    let key = WriteKey(client: "c", number: 1)
    let write = WriteRequest(path: "a", operation: .set(.integer(1)), key: key)
    hub.open(PeerID(1))
    _ = hub.handle(.request(id: 1, .write(write)), from: PeerID(1), at: 0)
    #expect(hub.takeBatch() != nil)
    _ = hub.close(PeerID(1), at: 1)
    hub.open(PeerID(2))
    var outputs = hub.handle(.request(id: 2, .write(write)), from: PeerID(2), at: 2)
    outputs += hub.batchFailed(StoreError(.full, description: "the disk is full"), at: 3)
    outputs += hub.handle(.request(id: 3, .write(write)), from: PeerID(2), at: 4)
    while hub.takeBatch() != nil { outputs += hub.batchCommitted() }
    let answers = try outputs.compactMap { output -> ServerMessage? in
      guard case .send(PeerID(2), let message) = output else { return nil }
      return try ServerMessage(decoding: message.bytes)
    }
    let isStored = !hub.snapshot.isEmpty
    let statuses = answers.compactMap {
      if case .response(_, let it) = $0 { it.status } else { nil }
    }
    #expect(!statuses.isEmpty)
    for status in statuses { #expect((status == .ok) == isStored, "\(status)") }
  }
}
