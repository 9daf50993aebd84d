import Dispatch
import HearthLab
import Logging
import NIOConcurrencyHelpers
import NIOCore
import RealtimeDatabase
import RealtimeServer
import TestSupport
import Testing

@Suite("Two users on a bad network", .timeLimit(.minutes(3)), .cleansUp)
struct BadNetworkTests {
  /// A user who writes numbers for the other one, and keeps those that arrive.
  private final class Person: Sendable {
    let database: Database
    let arrived = NIOLockedValueBox<[Int]>([])
    let status = NIOLockedValueBox<ConnectionStatus?>(nil)
    private let outbox: DatabaseReference

    init(port: Int, outbox: String, inbox: String, keepalive: Duration) throws {
      var options = DatabaseOptions()
      options.keepaliveInterval = keepalive
      options.patience = keepalive * 2
      options.maximumReconnectDelay = .milliseconds(500)
      database = try Database(url: "http://127.0.0.1:\(port)?ns=hearth", options: options)
      database.callbackQueue = DispatchQueue(label: "test.callbacks")
      self.outbox = database.reference(withPath: outbox)
      database.observeConnection { [status] now in status.withLockedValue { $0 = now } }
      database.reference(withPath: inbox).observe(.childAdded) { [arrived] child in
        let number = (child.value as? [String: Any])?["n"] as? Int
        arrived.withLockedValue { $0.append(number ?? -1) }
      }
    }

    /// Writes numbers, each in an entry of its own that is about the size of a post.
    func write(_ numbers: ClosedRange<Int>) {
      let text = String(repeating: "x", count: 300)
      for number in numbers {
        outbox.childByAutoId().setValue(
          ["n": number, "text": text] as [String: Any],
          withCompletionBlock: nil
        )
      }
    }

    var pendingWrites: Int { status.withLockedValue { $0?.pendingWrites ?? 0 } }
    var isConnected: Bool { status.withLockedValue { $0?.phase == .connected } }
  }

  private struct DeadlinePassed: Error { let what: String }

  /// Waits for a condition; the deadline allows for a machine that is busy with other work.
  private static func wait(
    _ what: String,
    within limit: Duration = .seconds(60),
    until isMet: () -> Bool
  ) async throws {
    let clock = ContinuousClock()
    let deadline = clock.now + limit
    while !isMet() {
      guard clock.now < deadline else { throw DeadlinePassed(what: what) }
      await Task.yield()
      try await clock.sleep(for: .milliseconds(10))
    }
  }

  /// A server, a network in front of it, a user behind the network and a user at the server.
  private struct Scene {
    let server: DatabaseServer
    let network: FaultyNetwork
    let far: Person
    let near: Person

    init(keepalive: Duration = .seconds(45)) async throws {
      server = try await DatabaseServer.start(
        DatabaseServer.Options(port: 0, rules: .open),
        logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
      )
      let port = try #require(server.port)
      network = try FaultyNetwork(to: port)
      far = try Person(port: network.port, outbox: "a", inbox: "b", keepalive: keepalive)
      near = try Person(port: port, outbox: "b", inbox: "a", keepalive: .seconds(45))
      try await BadNetworkTests.wait("connections") { [far, near] in
        far.isConnected && near.isConnected
      }
      afterTest { [server, network, far, near] in
        await far.database.close()
        await near.database.close()
        network.close()
        await server.stop()
      }
    }

    func write(_ numbers: ClosedRange<Int>) {
      far.write(numbers)
      near.write(numbers)
    }

    /// Waits until everything up to a number has arrived on both sides, once and in order.
    func expectArrival(upTo last: Int) async throws {
      try await BadNetworkTests.wait("everything up to \(last)") {
        far.arrived.withLockedValue(\.count) >= last
          && near.arrived.withLockedValue(\.count) >= last
          && far.pendingWrites == 0
      }
      #expect(far.arrived.withLockedValue(\.self) == Array(1...last))
      #expect(near.arrived.withLockedValue(\.self) == Array(1...last))
    }
  }

  @Test("lose and duplicate nothing when the network is cut, slow, lossy, one-way and restored")
  func everything() async throws {
    let scene = try await Scene()
    scene.write(1...20)
    try await scene.expectArrival(upTo: 20)

    scene.network.set(.cut)
    scene.write(21...40)
    try await Self.wait("the loss of the connection") { !scene.far.isConnected }
    scene.network.set(.sound)
    try await scene.expectArrival(upTo: 40)

    scene.network.set(.lossy(percent: 20))
    scene.write(41...60)
    try await scene.expectArrival(upTo: 60)

    scene.network.set(.oneWay)
    scene.write(61...80)
    try await Self.wait("what the other one wrote") {
      scene.far.arrived.withLockedValue(\.count) == 80
    }
    #expect(scene.near.arrived.withLockedValue(\.count) == 60)
    #expect(scene.far.pendingWrites > 0)
    scene.network.set(.sound)
    try await scene.expectArrival(upTo: 80)
  }

  @Test("keep working on a slow network: local writes show at once and arrive later")
  func slow() async throws {
    let scene = try await Scene()
    // At first nothing gets out, so the test cannot be waiting for a response.
    scene.network.set(.oneWay)
    let shown = NIOLockedValueBox(false)
    scene.far.database.reference(withPath: "a").queryLimited(toLast: 1).observe(.childAdded) { _ in
      shown.withLockedValue { $0 = true }
    }
    scene.write(1...20)
    try await Self.wait("what is written here") { shown.withLockedValue(\.self) }
    #expect(scene.near.arrived.withLockedValue(\.self) == [])
    let clock = ContinuousClock()
    let start = clock.now
    scene.network.set(.late(.milliseconds(400)))
    try await scene.expectArrival(upTo: 20)
    #expect(clock.now - start > .milliseconds(800))
  }

  @Test("reconnect after a silent change of address")
  func changedAddress() async throws {
    let scene = try await Scene(keepalive: .milliseconds(500))
    scene.write(1...5)
    try await scene.expectArrival(upTo: 5)
    scene.network.strand()
    scene.write(6...10)
    try await scene.expectArrival(upTo: 10)
  }
}
