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
      let server = try start(place, socket)
      for writer in writers { writer.write(to: socket, onlyPending: true) }
      let stored = try data(socket)
      for writer in writers { #expect(writer.check(stored) == []) }
      server.terminate()
      #expect(try place.hearth("fsck", place.directory + "/db").status == 0)
    }
  }
}
