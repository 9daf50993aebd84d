import Foundation
import HearthLab
import PostgresTestSupport
import TestSupport
import Testing

extension EndToEnd {
  /// Users of several servers that share a PostgreSQL, while their leaders are killed and frozen.
  @Suite("Swarm on several servers", .needsPostgres)
  struct SwarmClusterTests {
    /// One seed, in half a minute; `CLUSTER_SWARM_SEEDS` sets how many there are.
    private static let seeds: ClosedRange<Int> = {
      let wanted = ProcessInfo.processInfo.environment["CLUSTER_SWARM_SEEDS"].flatMap { Int($0) }
      return 1...max(1, wanted ?? (Thoroughness.isFull ? 5 : 1))
    }()

    @Test(
      "Every promise holds across failovers, and a woken leader sends nothing",
      arguments: seeds
    )
    func failovers(seed: Int) throws {
      let run = try SwarmProcess([
        "--servers", "3", "--users", "4", "--users-per-process", "2", "--seconds", "16", "--rate",
        "12", "--seed", "\(seed)", "--faults", "kill,freeze", "--terminals", "0",
      ])
      let (status, report) = try run.result()
      // On a busy machine a run may do little; what it did must still be right.
      let isRight = status == 0 || (report["verdict"] as? String)?.hasPrefix("too little") == true
      #expect(isRight, "seed \(seed): \(run.text)\(run.errors)")
      #expect(report["violations"] as? Int == 0)
      #expect(report["mishaps"] as? [String] == [])
      #expect((report["faults"] as? [String: Int])?.keys.sorted() == ["freeze", "kill"])
      #expect(report["awakenings"] as? Int ?? 0 > 0, "no leader woke: \(run.text)\(run.errors)")
      let settings = try #require(report["settings"] as? [String: Any])
      #expect(settings["servers"] as? Int == 3)
    }

    @Test("A read that lacks the reader's own write is found, whichever server answers it")
    func oldRead() throws {
      let run = try SwarmProcess([
        "--servers", "3", "--users", "3", "--seconds", "3", "--rate", "20", "--seed", "3",
        "--faults", "none", "--terminals", "0", "--inject-bug", "old-read",
      ])
      let (status, report) = try run.result()
      #expect(status == 1)
      #expect(SwarmProcess.violated(report).isSuperset(of: ["G2", "G6"]), "\(run.text)")
    }
  }
}
