import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import RealtimeServer

/// A store whose commits wait until the test lets them return or fail.
final class GateStore: TreeStore {
  private struct State {
    var outcomes: [(error: StoreError?, stores: Bool)] = []
    var isOpen: Bool
    var isClosed = false
    var commitCount = 0
  }

  private let memory = MemoryTreeStore()
  private let state: NIOLockedValueBox<State>
  private let gate = ConditionLock(value: 0)
  private let entered = MultiThreadedEventLoopGroup.singleton.next().makePromise(of: Void.self)

  init(isOpen: Bool = false) {
    state = NIOLockedValueBox(State(isOpen: isOpen))
  }

  deinit { entered.succeed(()) }

  /// Whether the server has closed the store.
  var isClosed: Bool { state.withLockedValue { $0.isClosed } }

  /// The number of batches stored.
  var commitCount: Int { state.withLockedValue { $0.commitCount } }

  /// Waits until the first commit has arrived.
  func waitForCommit() async throws { try await entered.futureResult.get() }

  /// Lets the waiting commit, or else the next one, return or fail.
  ///
  /// - Parameters:
  ///   - error: The error that the commit throws, if it fails.
  ///   - isStored: Whether a failing commit is stored even so.
  func release(_ error: StoreError? = nil, isStored: Bool = false) {
    state.withLockedValue { $0.outcomes.append((error, isStored || error == nil)) }
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
      let outcome = state.withLockedValue { state -> (error: StoreError?, stores: Bool)? in
        if !state.outcomes.isEmpty { return state.outcomes.removeFirst() }
        return state.isOpen ? (error: nil, stores: true) : nil
      }
      guard let outcome else {
        gate.unlock(withValue: 0)
        gate.lock(whenValue: 1)
        gate.unlock()
        continue
      }
      gate.unlock()
      if outcome.stores {
        memory.commit(batch)
        state.withLockedValue { $0.commitCount += 1 }
      }
      if let error = outcome.error { throw error }
      return
    }
  }

  func close() { state.withLockedValue { $0.isClosed = true } }
}
