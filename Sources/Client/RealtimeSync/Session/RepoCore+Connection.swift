import RealtimeCore

extension RepoCore {
  /// Starts connecting at the first use.
  mutating func open() {
    if connection.interrupts.contains(.waitingForOpen) { goOnline(.waitingForOpen) }
  }

  mutating func goOnline(_ reason: InterruptReason) {
    connection.interrupts.remove(reason)
    // Who says that there is a network also wants to use it.
    if reason == .user {
      connection.interrupts.remove(.waitingForOpen)
      if connection.phase == .interrupted { connection.resetPause() }
    }
    guard reason == .user, case .waiting = connection.phase else { return reconnect() }
    outputs.append(.cancelTimer(.reconnect))
    connection.resetPause()
    connect()
  }

  mutating func goOffline(_ reason: InterruptReason) {
    connection.interrupts.insert(reason)
    if case .waiting = connection.phase { outputs.append(.cancelTimer(.reconnect)) }
    if connection.current != nil {
      close()
    } else {
      connection.phase = .interrupted
    }
  }

  private mutating func connect() {
    let id = connection.makeAttempt()
    connection.phase = .connecting(id)
    connection.openedAt = now.monotonic
    outputs.append(.connect(id, host: connection.host))
    outputs.append(.schedule(.connectTimeout, after: configuration.connectTimeout))
  }

  /// Closes the connection from this end and goes on as if it had been lost.
  ///
  /// - Parameter host: Where the server wants the next one to go, if it does.
  mutating func close(redirectedTo host: String? = nil) {
    guard let id = connection.current else { return }
    outputs.append(.disconnect(id))
    connectionLost(redirectedTo: host)
  }

  mutating func transportOpened(_ id: ConnectionID) {
    guard connection.current == id else { return }
    connection.lastReceived = now.monotonic
  }

  /// A message that takes long to arrive is a sign of life, as what it answers shows only at its end.
  mutating func transportProgressed(_ id: ConnectionID) {
    guard connection.current == id else { return }
    connection.lastReceived = now.monotonic
    if connection.unansweredSince != nil { connection.unansweredSince = now.monotonic }
  }

  mutating func transportClosed(_ id: ConnectionID, _ reason: String) {
    guard connection.current == id else { return }
    log("the connection ended: \(reason)")
    connectionLost()
  }

  private mutating func connectionLost(redirectedTo host: String? = nil) {
    let wasConnected = isConnected
    outputs.append(.cancelTimer(wasConnected ? .keepalive : .connectTimeout))
    if wasConnected {
      let duration = now.monotonic - connection.openedAt
      if duration > configuration.stableConnectionTime { connection.settle() }
    } else {
      connection.host = nil
    }
    if let host { connection.redirect(to: host) }
    connection.phase = .interrupted
    connection.requests = [:]
    connection.unsettledTargets = []
    connection.extensions = []
    connection.unansweredSince = nil
    listens.connectionLost()
    if wasConnected {
      failSentTransactions { $0.request.key == nil }
      updateInfo(InfoPath.connected, to: .bool(false))
      runScheduledWrites()
      for (_, get) in gets { scheduleDeadline(get) }
    }
    reconnect()
  }

  private mutating func reconnect() {
    guard connection.interrupts.isEmpty, connection.phase == .interrupted else { return }
    let pause = connection.makePause(configuration, random: now.random)
    guard pause > 0 else { return connect() }
    connection.phase = .waiting(until: now.monotonic + pause)
    outputs.append(.schedule(.reconnect, after: pause))
  }

  mutating func timerFired(_ timer: RepoTimer) {
    switch timer {
    case .reconnect:
      if case .waiting = connection.phase { connect() }
    case .connectTimeout:
      guard case .connecting = connection.phase else { return }
      log("the server did not greet in time")
      close()
    case .keepalive: keepalive()
    case .getDeadline(let token): failGet(token)
    case .transactionRetry(let path): sendReadyTransactions(around: path)
    }
  }

  private mutating func keepalive() {
    guard let id = connection.connected else { return }
    let interval = configuration.keepaliveInterval
    if let since = connection.unansweredSince, now.monotonic - since >= 2 * interval {
      log("the server has been silent for too long")
      return close()
    }
    // A server may owe an answer and still be there, which shows when it is asked directly.
    let isOwed = connection.unansweredSince.map { now.monotonic - $0 >= interval } ?? false
    if isOwed || now.monotonic - connection.lastReceived >= interval {
      if connection.unansweredSince == nil { connection.unansweredSince = now.monotonic }
      connection.lastSent = now.monotonic
      outputs.append(.send(id, .ping))
    } else if now.monotonic - connection.lastSent >= interval {
      connection.lastSent = now.monotonic
      outputs.append(.sendKeepalive(id))
    }
    outputs.append(.schedule(.keepalive, after: interval))
  }

  /// Sends a request if there is a connection; its answer comes back for the given purpose.
  mutating func send(_ request: ClientRequest, for purpose: ConnectionState.Request) {
    guard let id = connection.connected else { return }
    let number = connection.makeRequest(purpose)
    connection.lastSent = now.monotonic
    if connection.unansweredSince == nil { connection.unansweredSince = now.monotonic }
    outputs.append(.send(id, .request(id: number, request)))
  }
}
