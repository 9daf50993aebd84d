import Foundation
import TestSupport
import Testing

extension EndToEnd {
  /// Faulty servers, which a swarm must detect, and a correct one, at which it must find nothing.
  @Suite("Swarm against faulty servers")
  struct SwarmAttackTests {
    /// The seeds for each server; `SWARM_MISTAKE_SEEDS` sets their number for longer runs.
    private static let seeds: ClosedRange<Int> = {
      let wanted = ProcessInfo.processInfo.environment["SWARM_MISTAKE_SEEDS"].flatMap { Int($0) }
      if let wanted { return 1...max(1, wanted) }
      let seed = Int(Thoroughness.seed % 1_000)
      return seed...seed
    }()

    /// The mistakes of the server for tests, with the promise that each one breaks.
    private static let mistakes = [
      ("early-acknowledgement", "I11"), ("split-update", "G4"), ("double-star", "I1"),
      ("unasked-rules", "I9"), ("lost-push", "G11"), ("late-push", "G12"),
      ("reordered-push", "G13"),
    ]

    private static func variables(_ mistake: String, _ seed: Int, every: Int) -> [String: String] {
      [
        "FAULTY_SERVER_MISTAKE": mistake, "FAULTY_SERVER_SEED": "\(seed)",
        "FAULTY_SERVER_EVERY": "\(every)",
      ]
    }

    /// Several runs at a time: each waits more than it works.
    private static let batches: [[(name: String, promise: String, seed: Int)]] = {
      let all = seeds.flatMap { seed in mistakes.map { (name: $0.0, promise: $0.1, seed: seed) } }
      return stride(from: 0, to: all.count, by: 4).map { Array(all[$0..<min($0 + 4, all.count)]) }
    }()

    @Test("Each server fault is found under its promise with every seed", arguments: batches)
    func finds(mistakes: [(name: String, promise: String, seed: Int)]) throws {
      let runs = try mistakes.map { name, _, seed in
        try SwarmProcess(
          [
            "--users", "6", "--users-per-process", "3", "--seconds", "3", "--rate", "40",
            "--seed", "\(seed)", "--terminals", "0", "--server", Sandbox.built("FaultyServer"),
            "--faults", name == "early-acknowledgement" ? "server-kill" : "none",
            // Rules are missed only if somebody tries what they forbid: with the usual mix, one plan
            // in thirty has nobody who does.
            "--mix", "post=5,comment=20,star=40,unstar=14,edit=5,delete=4,count=6,trespass=20",
          ],
          variables: Self.variables(name, seed, every: 30)
        )
      }
      for ((name, promise, seed), run) in zip(mistakes, runs) {
        let (status, report) = try run.result()
        #expect(status == 1, "\(name), seed \(seed): \(run.text)")
        #expect(
          SwarmProcess.violated(report).contains(promise),
          "\(name), seed \(seed): \(run.text)"
        )
      }
    }

    @Test("One lost message in five hundred is found", arguments: Array(seeds))
    func findsFew(seed: Int) throws {
      let run = try SwarmProcess(
        [
          "--users", "12", "--seconds", "10", "--rate", "24", "--seed", "\(seed)", "--terminals",
          "0", "--server", Sandbox.built("FaultyServer"),
        ],
        variables: Self.variables("lost-push", seed, every: 500)
      )
      let (status, report) = try run.result()
      #expect(status == 1, "\(run.text)")
      #expect(SwarmProcess.violated(report).contains("G11"), "seed \(seed): \(run.text)")
    }

    @Test("Every promise holds on an emulator with open rules", arguments: Array(seeds))
    func emulator(seed: Int) throws {
      let sandbox = try Sandbox()
      let server = try ServerProcess(sandbox, ["--emulator", "--port", "0"])
      let run = try SwarmProcess([
        "--users", "6", "--seconds", "5", "--rate", "40", "--seed", "\(seed)", "--database",
        "http://127.0.0.1:\(server.port)?ns=swarm",
      ])
      let (status, report) = try run.result()
      #expect(status == 0, "\(run.text)")
      #expect(report["verdict"] as? String == "held")
      #expect(run.errors.contains("left out: trespass, which the rules allow"))
    }
  }
}
