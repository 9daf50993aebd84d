import Foundation
import TestSupport
import Testing

extension EndToEnd {
  @Suite("A server that is killed", .timeLimit(.minutes(5)))
  struct CrashTests {
    /// How often the server is killed; the variable is for longer runs.
    private static let rounds =
      ProcessInfo.processInfo.environment["CRASH_ROUNDS"].flatMap { Int($0) } ?? 200
    private static let seed =
      ProcessInfo.processInfo.environment["CRASH_SEED"].flatMap { UInt64($0) } ?? 20_261

    private func start(_ place: Place, _ socket: String) throws -> Spawned {
      let server = try place.start(
        "serve",
        "--socket",
        socket,
        "--data-dir",
        place.directory + "/db"
      )
      try waitUntil("the server answers") {
        guard let descriptor = WireClient.connect(to: socket) else { return false }
        close(descriptor)
        return true
      }
      return server
    }

    /// Everything that the server has.
    private func data(_ socket: String) throws -> [String: Any] {
      let client = try #require(WireClient(socket: socket))
      #expect(client.send(#"{"t":"d","d":{"r":1,"a":"g","b":{"p":"/","q":{}}}}"#))
      let answer = try object(try #require(client.receive()))
      let body = (answer["d"] as? [String: Any])?["b"] as? [String: Any]
      return body?["d"] as? [String: Any] ?? [:]
    }

    /// What is wrong with the counter that is changed by transactions only.
    ///
    /// It is as high as the number of those that were acknowledged, and of those without an answer that
    /// were applied; no two were told that they had set it to the same value.
    private func checkShared(_ stored: [String: Any], _ writers: [CrashWriter]) -> String? {
      let count = (stored["shared"] as? [String: Any])?["count"] as? Int ?? 0
      let values = writers.flatMap(\.transactionValues)
      guard Set(values).count == values.count else { return "a value was set twice" }
      let pending = writers.reduce(0) { $0 + $1.pendingTransactions }
      guard !(values.count...(values.count + pending)).contains(count) else { return nil }
      return "\(values.count) transactions and \(pending) without an answer, but \(count) there"
    }

    @Test("has all that it acknowledged, nothing half and nothing twice, time after time")
    func rounds() throws {
      let place = try Place()
      let socket = place.directory + "/s"
      var random = SplitMix64(seed: Self.seed)
      let writers = (0..<3).map { CrashWriter("w\($0)", seed: Self.seed + UInt64($0)) }
      var previous = 0
      for round in 1...Self.rounds {
        let server = try start(place, socket)
        let stored = try data(socket)
        for writer in writers {
          #expect(writer.check(stored) == [], "seed \(Self.seed), round \(round)")
        }
        #expect(checkShared(stored, writers) == nil, "seed \(Self.seed), round \(round)")
        let group = DispatchGroup()
        for writer in writers {
          group.enter()
          Thread.detachNewThread {
            writer.write(to: socket)
            group.leave()
          }
        }
        usleep(UInt32.random(in: 1_000...40_000, using: &random))
        kill(server.processIdentifier, SIGKILL)
        #expect(server.wait() == 128 + SIGKILL)
        group.wait()
        let count = writers.reduce(0) { $0 + $1.acknowledgedCount }
        previous = max(previous, count)
      }
      #expect(previous > Self.rounds, "the traffic is to be more than a few writes")
      let transactions = writers.reduce(0) { $0 + $1.transactionValues.count }
      #expect(transactions > Self.rounds / 4, "transactions are to be a part of it")
      #expect(writers.contains { $0.staleCount > 0 }, "and to get into each other's way")
      let server = try start(place, socket)
      for writer in writers { writer.write(to: socket, onlyPending: true) }
      let stored = try data(socket)
      for writer in writers { #expect(writer.check(stored) == []) }
      #expect(writers.allSatisfy { $0.pendingTransactions == 0 })
      #expect(checkShared(stored, writers) == nil)
      server.terminate()
      #expect(try place.hearth("fsck", place.directory + "/db").status == 0)
    }
  }
}
