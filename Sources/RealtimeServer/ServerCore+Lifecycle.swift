internal import Logging
internal import NIOCore
internal import RealtimeHub
internal import RealtimeTransport

extension ServerCore {
  /// Starts to listen at every address of the options.
  func listen() -> EventLoopFuture<[ListenAddress]> {
    var addresses: [ListenAddress] = []
    if let path = options.socketPath { addresses.append(.unix(path: path)) }
    if let port = options.port { addresses.append(.loopback(port: port)) }
    let core = NIOLoopBound(self, eventLoop: eventLoop)
    let handlers = ServerHandlers(
      admit: { core.value.admit($0) },
      answer: { request, _ in core.value.answer(request) },
      accept: { core.value.accept($0) }
    )
    var started = eventLoop.makeSucceededVoidFuture()
    for address in addresses {
      started = started.flatMap {
        ServerListener.listen(at: address, on: core.eventLoop, handlers: handlers)
      }.map { core.value.listeners.append($0) }
    }
    return started.map {
      let listening = core.value.listeners.map(\.address)
      core.value.logger.info("listening", metadata: ["at": "\(listening)"])
      core.value.connectionsChanged()
      if core.value.hub.hasPendingCommits { core.value.batcher.wake() }
      return listening
    }.flatMapError { error in
      // An address that worked is given up again when another one does not.
      let closing = core.value.listeners.map { $0.close() }
      return EventLoopFuture.andAllComplete(closing, on: core.eventLoop)
        .flatMapThrowing { throw error }
    }
  }

  /// Looks whether the last connection is gone.
  func connectionsChanged() {
    guard sessions.isEmpty, internalPeers.isEmpty else { return }
    switch phase {
    case .running:
      guard let delay = options.idleExit, idle == nil else { return }
      idle = eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(delay)) {
        self.logger.info("nobody is connected any more")
        self.stop()
      }
    case .stopping: continueStopping()
    case .stopped: break
    }
  }

  /// Stops listening, then says goodbye to everyone.
  func stop() {
    guard phase == .running else { return }
    phase = .stopping
    idle?.cancel()
    logger.info("stopping", metadata: ["connections": "\(sessions.count)"])
    let closing = listeners.map { $0.close() }
    EventLoopFuture.andAllComplete(closing, on: eventLoop).assumeIsolated().whenComplete { _ in
      let plain = self.listeners.map { $0.closePlainConnections() }
      EventLoopFuture.andAllComplete(plain, on: self.eventLoop).assumeIsolated().whenComplete { _ in
        self.hasClosedPlainConnections = true
        self.continueStopping()
      }
      self.listeners = []
      for session in self.sessions.values {
        session.connection.close(code: 1_001, reason: "the server is stopping")
      }
      self.continueStopping()
    }
  }

  /// Goes on with stopping as far as it is possible now.
  func continueStopping() {
    guard phase == .stopping, listeners.isEmpty, sessions.isEmpty, internalPeers.isEmpty,
      hasClosedPlainConnections
    else { return }
    if hub.hasPendingCommits || batcher.isBusy {
      guard hasGivenUp else {
        if hub.hasPendingCommits { batcher.wake() }
        return
      }
    }
    phase = .stopped
    thread.close().assumeIsolated().whenComplete { result in
      if case .failure(let error) = result {
        self.logger.error("the store could not be closed: \(error)")
      }
      self.logger.info("stopped")
      self.onStopped()
    }
  }
}
