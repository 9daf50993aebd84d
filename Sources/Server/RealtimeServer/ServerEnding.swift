internal import NIOConcurrencyHelpers
internal import NIOCore
internal import NIOPosix

/// The end of a server, for everyone who waits for it.
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
  }

  private let group: MultiThreadedEventLoopGroup
  private let state = NIOLockedValueBox(State())

  init(group: MultiThreadedEventLoopGroup) {
    self.group = group
  }

  /// Calls a closure unless the server's event loop is ending or has ended.
  func whileRunning(_ body: () -> Void) {
    state.withLockedValue { state in
      if state.phase == .running { body() }
    }
  }

  /// Ends the event loop, then lets everyone go who waits.
  func resolve() {
    state.withLockedValue { $0.phase = .shuttingDown }
    group.shutdownGracefully { [state] _ in
      let waiters = state.withLockedValue { state in
        defer { state.waiters = [] }
        state.phase = .ended
        return state.waiters
      }
      for waiter in waiters { waiter.resume() }
    }
  }

  /// Waits for the end.
  func wait() async {
    await withCheckedContinuation { continuation in
      let isEnded = state.withLockedValue { state in
        guard state.phase != .ended else { return true }
        state.waiters.append(continuation)
        return false
      }
      if isEnded { continuation.resume() }
    }
  }
}
