internal import Logging
internal import NIOCore
internal import RealtimeHub
internal import RealtimeTransport

extension DatabaseCore {
  /// Says goodbye to everyone who is connected.
  func sayGoodbye() {
    guard phase == .running else { return }
    phase = .leaving
    for session in sessions.values {
      session.connection.close(code: CloseCode.goingAway, reason: "the server is stopping")
    }
  }

  /// Closes once everyone has left and the last batch is stored.
  ///
  /// - Returns: A future that completes when the store is closed; it never fails.
  func close() -> EventLoopFuture<Void> {
    sayGoodbye()
    if phase == .leaving { phase = .closing }
    continueClosing()
    return closed.futureResult
  }

  /// Goes on with closing as far as it is possible now.
  func continueClosing() {
    guard phase == .closing, sessions.isEmpty, internalPeers.isEmpty else { return }
    if hub.hasPendingCommits || batcher.isBusy {
      guard hasGivenUp else {
        if hub.hasPendingCommits { batcher.wake() }
        return
      }
    }
    phase = .closed
    thread.close().assumeIsolated().whenComplete { result in
      if case .failure(let error) = result {
        self.logger.error("the store could not be closed: \(error)")
      }
      self.closed.succeed()
    }
  }
}
