internal import NIOConcurrencyHelpers
internal import NIOCore
internal import NIOPosix

/// The end of a server, and the tasks that wait for it.
///
/// State: running → shutting down (its last thread is ending) → ended.
final class ServerEnding: Sendable {
  private enum Phase {
    case running
    case shuttingDown
    case ended
  }

  private struct State {
    var phase = Phase.running
    var waiters: [CheckedContinuation<Void, Never>] = []
    var failure: DatabaseServerError?
  }

  private let group: MultiThreadedEventLoopGroup
  private let state = NIOLockedValueBox(State())

  init(group: MultiThreadedEventLoopGroup) {
    self.group = group
  }

  /// Calls a closure unless the server's event loop is ending or has ended; nil in that case.
  @discardableResult func whileRunning<Value>(_ body: () -> Value) -> Value? {
    state.withLockedValue { $0.phase == .running ? body() : nil }
  }

  /// Shuts the event loop down, then resumes all waiting tasks.
  ///
  /// The failure is what ends the server; nil if it was told to stop.
  func resolve(_ failure: DatabaseServerError?) {
    state.withLockedValue { state in
      state.phase = .shuttingDown
      state.failure = failure
    }
    group.shutdownGracefully { [state] _ in
      let waiters = state.withLockedValue { state in
        defer { state.waiters = [] }
        state.phase = .ended
        return state.waiters
      }
      for waiter in waiters { waiter.resume() }
    }
  }

  /// Waits for the server to end, and returns the failure; nil if it was told to stop.
  func wait() async -> DatabaseServerError? {
    await withCheckedContinuation { continuation in
      let isEnded = state.withLockedValue { state in
        guard state.phase != .ended else { return true }
        state.waiters.append(continuation)
        return false
      }
      if isEnded { continuation.resume() }
    }
    return state.withLockedValue { $0.failure }
  }
}
