internal import Logging
internal import NIOCore
internal import RealtimeHub
internal import RealtimeTransport

extension DatabaseCore {
  /// Whether nobody is connected and everything is stored.
  var isIdle: Bool {
    phase == .running && sessions.isEmpty && internalPeers.isEmpty && storeFailure == nil
      && !hub.hasPendingCommits && !hub.hasWaitingOutputs && !batcher.isBusy
  }

  /// Says goodbye to everyone who is connected, as soon as they have their answers.
  ///
  /// What they say from now on is not read: it is as if it had never arrived, and clients send it
  /// again to the next server. What has been taken in is stored and answered first, for a client
  /// that is not told of a write that is stored would make it twice.
  func sayGoodbye() {
    guard phase == .running else { return }
    phase = .settling
    for session in sessions.values { pause(session, .leaving) }
    for session in Array(sessions.values) where session.isGone { forget(session.peer) }
    for peer in Array(internalPeers.values) { peer.serverStops() }
    continueClosing()
  }

  /// Closes once everyone has left and the last batch is stored.
  ///
  /// - Returns: A future that completes when the store is closed; it never fails.
  func close() -> EventLoopFuture<Void> {
    isClosing = true
    sayGoodbye()
    continueClosing()
    return closed.futureResult
  }

  /// Goes on with leaving and closing as far as it is possible now.
  func continueClosing() {
    if phase == .settling, !hub.hasWaitingOutputs { leave() }
    guard phase == .leaving, isClosing, sessions.isEmpty, internalPeers.isEmpty else { return }
    if hub.hasPendingCommits || batcher.isBusy {
      guard hasGivenUp else {
        if hub.hasPendingCommits { batcher.wake() }
        return
      }
    }
    phase = .closed
    closeStore()
  }

  /// Closes all connections without an answer, and stores nothing any more.
  ///
  /// - Returns: A future that completes when the store is closed; it never fails.
  func abandon() -> EventLoopFuture<Void> {
    guard phase != .closed else { return closed.futureResult }
    phase = .closed
    batcher.stop()
    credentialCheck?.task.cancel()
    let reason = "the server ends, as its data could not be written"
    for session in Array(sessions.values) {
      session.connection.close(code: CloseCode.tryAgainLater, reason: reason)
      forget(session.peer)
    }
    // Their connections are closed already: nobody hears what they say now.
    for peer in Array(internalPeers.values) { peer.disconnect(.storageFailed(reason)) }
    closeStore()
    return closed.futureResult
  }

  private func closeStore() {
    thread.close().assumeIsolated().whenComplete { result in
      if case .failure(let error) = result {
        self.logger.error("the store could not be closed: \(error)")
      }
      self.closed.succeed()
    }
  }

  private func leave() {
    phase = .leaving
    for session in sessions.values {
      session.inbox.removeAll()
      end(session, code: CloseCode.goingAway, reason: "the server is stopping")
      // The answer to the goodbye is read, and nothing else.
      resume(session, .leaving)
    }
  }
}
