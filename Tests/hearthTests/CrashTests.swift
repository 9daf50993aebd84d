import FaultyStorage
import Foundation
import TestSupport
import Testing

extension EndToEnd {
  @Suite("Killed server", .timeLimit(.minutes(5)))
  struct CrashTests {
    enum Disk: CaseIterable, CustomTestStringConvertible {
      /// The program itself uses it.
      case sound
      /// It fails for a while in every round; the server for tests uses it.
      case faulty

      var testDescription: String {
        switch self {
        case .sound: "on a disk that works"
        case .faulty: "on a disk that fails for a while, each time"
        }
      }
    }

    /// How often the server is killed; the variable allows longer runs.
    private static let rounds =
      ProcessInfo.processInfo.environment["CRASH_ROUNDS"].flatMap { Int($0) }
      ?? (Thoroughness.isFull ? 200 : 60)
    private static let seed =
      ProcessInfo.processInfo.environment["CRASH_SEED"].flatMap { UInt64($0) }
      ?? Thoroughness.seed

    /// The fault of a round, early enough for the traffic to reach it.
    private func fault(_ random: inout SplitMix64) -> DiskFault {
      let kind = DiskFault.Kind.allCases[Int.random(in: 0..<3, using: &random)]
      let last = kind == .sync ? 12 : 80
      return DiskFault(
        kind,
        at: Int.random(in: 1...last, using: &random),
        times: Int.random(in: 1...3, using: &random)
      )
    }

    /// When a server dies, in terms of what it has done, so that a round means the same on any
    /// machine.
    private enum End {
      /// After this many responses.
      case answers(Int)
      /// When it has stored something after refusing something.
      case recovery

      init(_ disk: Disk, _ random: inout SplitMix64) {
        let waitsForRoom = disk == .faulty && Int.random(in: 0..<5, using: &random) == 0
        self = waitsForRoom ? .recovery : .answers(Int.random(in: 1...40, using: &random))
      }

      func isReached(_ progress: CrashProgress) -> Bool {
        switch self {
        case .answers(let count): progress.answers >= count
        case .recovery: progress.hasRecovered
        }
      }
    }

    private func start(
      _ sandbox: Sandbox,
      _ socket: String,
      _ fault: DiskFault?,
      _ note: String
    ) throws -> Spawned {
      let paths = ["--socket", socket, "--data-dir", sandbox.directory + "/db"]
      let faults = fault.map {
        ["--fault", $0.kind.rawValue, "--number", "\($0.number)", "--times", "\($0.times)"]
      }
      let server = try sandbox.start(
        faults.map { paths + $0 } ?? ["serve"] + paths,
        of: faults == nil ? Sandbox.program : Sandbox.built("FaultyServer")
      )
      try waitUntil("the server answers, \(note)") {
        guard let descriptor = WireClient.connect(to: socket) else { return false }
        close(descriptor)
        return true
      }
      return server
    }

    /// All data of the server.
    private func data(_ socket: String) throws -> [String: Any] {
      let client = try #require(WireClient(socket: socket))
      #expect(client.send(#"{"t":"d","d":{"r":1,"a":"g","b":{"p":"/","q":{}}}}"#))
      let answer = try object(try #require(client.receive()))
      let body = (answer["d"] as? [String: Any])?["b"] as? [String: Any]
      return body?["d"] as? [String: Any] ?? [:]
    }

    /// Checks the counter that only transactions change, and describes what is wrong with it.
    ///
    /// Each of its values was set by a single transaction, which was acknowledged or had no
    /// response; and no acknowledged value is lost.
    private func checkShared(_ stored: [String: Any], _ writers: [CrashWriter]) -> String? {
      let count = (stored["shared"] as? [String: Any])?["count"] as? Int ?? 0
      let values = writers.flatMap(\.transactionValues)
      let others = writers.flatMap(\.pendingValues)
      guard Set(values).count == values.count else { return "a value was set twice" }
      guard values.max() ?? 0 <= count else { return "\(count), but \(values) were acknowledged" }
      let unknown = Set(1..<(count + 1)).subtracting(values + others)
      return unknown.isEmpty ? nil : "\(count), but no one has set \(unknown)"
    }

    /// Lets all writers write until the server is killed or has ended on its own.
    ///
    /// - Returns: Whether it ended on its own because it could not know what the disk contains.
    private func traffic(
      _ writers: [CrashWriter],
      _ socket: String,
      _ server: Spawned,
      killedAt end: End
    ) -> Bool {
      let progress = CrashProgress()
      let group = DispatchGroup()
      for writer in writers {
        group.enter()
        Thread.detachNewThread {
          writer.write(to: socket, progress: progress)
          group.leave()
        }
      }
      // If the traffic does not reach the fault, the end would never be reached.
      let deadline = Date().addingTimeInterval(2)
      while !end.isReached(progress), !server.hasEnded, Date() < deadline { usleep(500) }
      kill(server.processIdentifier, SIGKILL)
      let status = server.wait()
      group.wait()
      #expect([128 + SIGKILL, EXIT_FAILURE].contains(status))
      return status == EXIT_FAILURE
    }

    @Test(
      "keeps every acknowledged write exactly once, over many crashes",
      arguments: Disk.allCases
    )
    func rounds(disk: Disk) throws {
      let sandbox = try Sandbox()
      let socket = sandbox.directory + "/s"
      var random = SplitMix64(seed: Self.seed)
      let writers = (0..<3).map { CrashWriter("w\($0)", seed: Self.seed + UInt64($0)) }
      var last: DiskFault?
      var refusals: [DiskFault.Kind: Int] = [:]
      var endings = 0
      for round in 1...Self.rounds {
        let fault = disk == .faulty ? fault(&random) : nil
        let note = "seed \(Self.seed), round \(round), after \(last?.description ?? "no fault")"
        let server = try start(sandbox, socket, fault, note)
        let stored = try data(socket)
        for writer in writers {
          let problems = writer.check(stored)
          try #require(problems == [], "\(note)")
        }
        try #require(checkShared(stored, writers) == nil, "\(note)")
        let before = writers.reduce(0) { $0 + $1.refusedCount }
        let hasEnded = traffic(writers, socket, server, killedAt: End(disk, &random))
        if hasEnded { endings += 1 }
        #expect(fault != nil || !hasEnded, "\(note)")
        let hasRefused = writers.reduce(0) { $0 + $1.refusedCount } > before
        if let fault, hasRefused { refusals[fault.kind, default: 0] += 1 }
        #expect(fault != nil || !hasRefused, "\(note)")
        last = fault
      }
      let count = writers.reduce(0) { $0 + $1.acknowledgedCount }
      #expect(count > Self.rounds, "the traffic is to be more than a few writes")
      let transactions = writers.reduce(0) { $0 + $1.transactionValues.count }
      #expect(transactions > Self.rounds / 4, "transactions are to be a part of it")
      #expect(writers.contains { $0.staleCount > 0 }, "and to get into each other's way")
      if disk == .faulty {
        #expect(refusals[.full, default: 0] > Self.rounds / 20, "the disk is to be full")
        #expect(writers.contains { $0.recoveryCount > 0 }, "and to have room again")
        #expect(endings > Self.rounds / 10, "and the server is to end where it does not work")
      }
      // The last server is the program itself.
      let server = try start(sandbox, socket, nil, "seed \(Self.seed), the last time")
      let left = try data(socket)
      for writer in writers { #expect(writer.check(left) == []) }
      for writer in writers { writer.write(to: socket, onlyPending: true) }
      let stored = try data(socket)
      for writer in writers { #expect(writer.check(stored) == []) }
      #expect(writers.allSatisfy { $0.pendingValues.isEmpty })
      #expect(checkShared(stored, writers) == nil)
      server.terminate()
      #expect(try sandbox.hearth("fsck", sandbox.directory + "/db").status == 0)
    }
  }
}
