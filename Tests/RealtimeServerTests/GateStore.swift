import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import RealtimeHub
import RealtimeServer

/// A store whose commits wait until the test lets them return, or fail when it says so.
final class GateStore: TreeStore {
  private struct State {
    var outcomes: [StoreError?] = []
    var failure: StoreError?
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

  /// Whether the server has given the store up.
  var isClosed: Bool { state.withLockedValue { $0.isClosed } }

  /// The number of batches that have been stored.
  var commitCount: Int { state.withLockedValue { $0.commitCount } }

  /// Completes once the first commit has arrived.
  func waitForCommit() async throws { try await entered.futureResult.get() }

  /// Lets the commit that waits, or else the next one, return or fail.
  func release(_ error: StoreError? = nil) {
    state.withLockedValue { $0.outcomes.append(error) }
    gate.lock()
    gate.unlock(withValue: 1)
  }

  /// Lets every commit fail from now on.
  func fail(_ error: StoreError) {
    state.withLockedValue { $0.failure = error }
    gate.lock()
    gate.unlock(withValue: 1)
  }

  /// Lets every commit through from now on.
  func open() {
    state.withLockedValue {
      $0.isOpen = true
      $0.failure = nil
    }
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
        if let failure = state.failure { return .some(failure) }
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
      state.withLockedValue { $0.commitCount += 1 }
      return
    }
  }

  func close() { state.withLockedValue { $0.isClosed = true } }
}
