import Foundation
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import RealtimeHub
import RealtimeServer
import RealtimeTransport
import Testing

/// A directory that is removed with everything in it.
final class TemporaryDirectory: Sendable {
  let path: String

  init() throws {
    path = FileManager.default.temporaryDirectory.path + "/t-\(UUID().uuidString.prefix(13))"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func file(_ name: String) -> String { path + "/" + name }
}

extension DatabaseServer {
  /// A server on a free port, with a fixed time.
  static func startForTest(
    _ options: Options = Options(port: 0),
    store: any TreeStore = MemoryTreeStore()
  ) async throws -> DatabaseServer {
    try await start(options, store: store, clock: { 1_700_000_000_000 })
  }

  /// A connection whose greeting is still to come.
  func connect(lastSession: String? = nil) async throws -> ClientProbe {
    let url = try DatabaseURL(try #require(urls.first))
    return try await ClientProbe(url.target, lastSession: lastSession)
  }

  /// A connection that has been greeted.
  func connectAndGreet() async throws -> ClientProbe {
    let client = try await connect()
    #expect(try await client.next().contains("\"t\":\"h\""))
    return client
  }

  /// Where the server listens, for bytes that are no protocol.
  var address: ListenAddress {
    get throws { .loopback(port: try #require(port)) }
  }
}

/// A store whose commits wait until the test lets them return, or fail when it says so.
final class GateStore: TreeStore {
  private struct State {
    var outcomes: [StoreError?] = []
    var isOpen: Bool
    var isClosed = false
  }

  private let memory = MemoryTreeStore()
  private let state: NIOLockedValueBox<State>
  private let gate = ConditionLock(value: 0)
  private let entered = MultiThreadedEventLoopGroup.singleton.next().makePromise(of: Void.self)

  init(isOpen: Bool = false) {
    state = NIOLockedValueBox(State(isOpen: isOpen))
  }

  deinit { entered.succeed(()) }

  /// Whether the server has given the store up.
  var isClosed: Bool { state.withLockedValue { $0.isClosed } }

  /// Completes once the first commit has arrived.
  func waitForCommit() async throws { try await entered.futureResult.get() }

  /// Lets the commit that waits, or else the next one, return or fail.
  func release(_ error: StoreError? = nil) {
    state.withLockedValue { $0.outcomes.append(error) }
    gate.lock()
    gate.unlock(withValue: 1)
  }

  /// Lets every commit through from now on.
  func open() {
    state.withLockedValue { $0.isOpen = true }
    gate.lock()
    gate.unlock(withValue: 1)
  }

  func load() -> StoredTree { memory.load() }

  func commit(_ batch: CommitBatch) throws {
    entered.succeed(())
    while true {
      gate.lock()
      let outcome = state.withLockedValue { state -> StoreError?? in
        if !state.outcomes.isEmpty { return .some(state.outcomes.removeFirst()) }
        return state.isOpen ? .some(nil) : .none
      }
      guard let outcome else {
        gate.unlock(withValue: 0)
        gate.lock(whenValue: 1)
        gate.unlock()
        continue
      }
      gate.unlock()
      if let outcome { throw outcome }
      memory.commit(batch)
      return
    }
  }

  func close() { state.withLockedValue { $0.isClosed = true } }
}
