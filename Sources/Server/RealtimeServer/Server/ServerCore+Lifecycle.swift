internal import Logging
internal import NIOCore
internal import RealtimeTransport

extension ServerCore {
  /// Opens the default database, then starts to listen at every address in the options.
  func start() -> EventLoopFuture<[ListenAddress]> {
    let core = NIOLoopBound(self, eventLoop: eventLoop)
    // The lock on the data guards the accounts too: a second server fails to open the data.
    return openDatabases()
      .flatMap { core.value.listen() }
      .flatMapThrowing { addresses in
        if let failure = core.value.failure {
          for listener in core.value.listeners { _ = listener.close() }
          throw failure
        }
        core.value.logger.info("listening", metadata: ["at": "\(addresses)"])
        core.value.beginLeading(at: addresses)
        core.value.connectionsChanged()
        core.value.scheduleMetrics()
        if core.value.options.port != nil { core.value.scheduleKeepAlives() }
        return addresses
      }
  }

  /// Sets the closure to call when the server has stopped; calls it at once if it already has.
  func whenStopped(_ body: @escaping (DatabaseServerError?) -> Void) {
    onStopped = body
    if phase == .stopped { body(failure) }
  }

  /// Opens the accounts, which the databases use to verify credentials.
  private func openIdentities() -> EventLoopFuture<Void> {
    identities.open { [weak self] note in
      for database in self?.served ?? [] where database.name == note.database {
        database.endSessions(note)
      }
    } onLoss: { [context] in
      context.onLoss($0)
    }
  }

  /// Opens the default database and the accounts.
  ///
  /// In a cluster, the database is only created if it is missing; its leader opens it later.
  private func openDatabases() -> EventLoopFuture<Void> {
    let core = NIOLoopBound(self, eventLoop: eventLoop)
    guard let leaders else {
      return databases.database(options.namespace, isMade: true).map { _ in }
        .flatMap { core.value.openIdentities() }
        .flatMap { core.value.beginMainDatabase() }
    }
    let bound = NIOLoopBound(leaders, eventLoop: eventLoop)
    return openIdentities().flatMap { bound.value.prepare(core.value.options.namespace) }
  }

  private func beginLeading(at addresses: [ListenAddress]) {
    guard let leaders else { return }
    let listening = addresses.lazy.compactMap { address in
      if case .tcp(let host, let port, _) = address { "\(host):\(port)" } else { nil }
    }
    let host = options.advertisedHost ?? listening.first
    if options.redirectsClients, let host, !host.hasPrefix("s-") {
      logger.notice(
        "official JavaScript clients only fall back from hosts whose names begin with s-",
        metadata: ["host": "\(host)"]
      )
    }
    leaders.begin(at: host)
    // If this server is to lead it, it opens the database and applies what was left over.
    _ = databases.database(options.namespace, isMade: false)
  }

  /// Lets the default database apply what was left over; the revoked users are known by this point.
  private func beginMainDatabase() -> EventLoopFuture<Void> {
    databases.database(options.namespace, isMade: true).flatMapThrowing { database in
      if let rules = try database.options.rules.compiled() { database.setRules(rules) }
      database.begin()
    }
  }

  /// Releases what a start that failed has opened; the future never fails.
  func release() -> EventLoopFuture<Void> {
    let core = NIOLoopBound(self, eventLoop: eventLoop)
    return stopLeading().flatMap { core.value.close() }
  }

  private func stopLeading() -> EventLoopFuture<Void> {
    leaders?.stop() ?? eventLoop.makeSucceededVoidFuture()
  }

  /// Closes the databases, then the accounts; the future never fails.
  func close() -> EventLoopFuture<Void> {
    let identities = NIOLoopBound(identities, eventLoop: eventLoop)
    let closed = failure == nil ? databases.close() : databases.abandon()
    return closed.flatMap { identities.value.close() }
  }

  private func listen() -> EventLoopFuture<[ListenAddress]> {
    var addresses: [ListenAddress] = []
    if let path = options.socketPath { addresses.append(.unix(path: path)) }
    if let port = options.port {
      addresses.append(.tcp(host: options.host, port: port, isSecure: certificate != nil))
    }
    let core = NIOLoopBound(self, eventLoop: eventLoop)
    let hosts = options.allowedHosts + [options.advertisedHost].compactMap(\.self)
    let options = options
    let memory = NIOLoopBoundBox(context.memory, eventLoop: eventLoop)
    var handlers = ServerHandlers { core.value.acceptSocket($0) }
    handlers.admit = { request, _ in core.value.admit(request) }
    handlers.answer = { request, _ in core.value.answer(request) }
    handlers.admitBody = { core.value.admitBody(of: $0) }
    handlers.onRefusal = { core.value.context.noteOnce($0) }
    handlers.makeRoom = { core.value.makeRoom() }
    handlers.noteExcess = { core.value.context.noteOnce("refused: \($0)") }
    var started = eventLoop.makeSucceededVoidFuture()
    for address in addresses {
      started = started.flatMap { [handlers] in
        ServerListener.listen(
          at: address,
          certificate: address.isSecure ? core.value.certificate : nil,
          on: core.eventLoop,
          limits: options.limits.transport,
          memory: memory,
          // DNS rebinding fails here: a rebound host name has no valid certificate.
          policy: RequestPolicy(
            allowedOrigins: options.allowedOrigins,
            // The emulator is meant for web pages under development.
            allowsLoopbackPages: options.isEmulator,
            ownHosts: hosts,
            allowsAnyHost: address.isSecure || !address.isLoopback,
            isEncrypted: address.isSecure,
            // Pages link to each other, and other sites link to them.
            isPublic: { options.pages(at: $0) != nil }
          ),
          handlers: handlers
        )
      }.map { core.value.listeners.append($0) }
    }
    return started.map { core.value.listeners.map(\.address) }.flatMapError { error in
      // If one address fails, the others are released again.
      let closing = core.value.listeners.map { $0.close() }
      return EventLoopFuture.andAllComplete(closing, on: core.eventLoop)
        .flatMapThrowing { throw error }
    }
  }

  /// Keeps silent WebSockets alive: many proxies cut them after a minute.
  ///
  /// Each round looks at a fifth of the connections, so that none is silent for 50 seconds.
  func scheduleKeepAlives(round: Int = 0) {
    let rounds = 5
    keepAliveTask = eventLoop.assumeIsolated().scheduleTask(in: .seconds(5)) { [weak self] in
      guard let self else { return }
      for database in served {
        for (peer, session) in database.sessions where peer.number % rounds == round {
          session.connection.keepAlive()
        }
      }
      if round == 0 {
        for link in links.values { for client in link.sessions { client.keepAlive() } }
      }
      scheduleKeepAlives(round: (round + 1) % rounds)
    }
  }

  /// Starts or cancels the idle timer after the number of connections has changed.
  func connectionsChanged() {
    guard context.connectionCount == 0 else {
      idle?.cancel()
      idle = nil
      return
    }
    guard phase == .running, let delay = options.idleExit, idle == nil, !listeners.isEmpty else {
      return
    }
    idle = eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(delay)) {
      self.logger.info("no clients are connected any more")
      self.stop()
    }
  }

  /// Stops listening, disconnects all clients, then closes the databases.
  func stop() {
    guard phase == .running else { return }
    phase = .stopping
    for task in [idle, metricsTask, keepAliveTask] { task?.cancel() }
    logger.info("stopping", metadata: ["connections": "\(context.connectionCount)"])
    let listeners = listeners
    let core = NIOLoopBound(self, eventLoop: eventLoop)
    EventLoopFuture.andAllComplete(listeners.map { $0.close() }, on: eventLoop)
      .flatMap { core.value.stopLeading() }
      .flatMap {
        core.value.databases.disperse()
        core.value.databases.shutDown()
        core.value.closeLinks()
        let closing = listeners.map { $0.closePlainConnections() }
        return EventLoopFuture.andAllComplete(closing, on: core.eventLoop)
      }
      .flatMap { core.value.close() }
      .assumeIsolated().whenComplete { _ in
        // If a write has failed in the meantime, that failure ends the server.
        guard self.failure == nil else { return }
        self.phase = .stopped
        self.logger.info("stopped")
        self.onStopped(nil)
      }
  }

  /// Ends the server after a write whose outcome on disk is unknown.
  ///
  /// All connections are closed without an answer. Clients resend whatever was not answered, to a
  /// server that has read what is really stored.
  func fail(_ error: StoreError) {
    guard failure == nil, phase != .stopped else { return }
    let isListening = phase == .running
    phase = .stopping
    let failure = DatabaseServerError(
      .storeFailed,
      description:
        "the server ends because a write failed and it cannot know what is on the disk (\(error)); "
        + "check the disk, then start the server again: it reads what is really there"
    )
    self.failure = failure
    logger.critical("\(failure)")
    for task in [idle, metricsTask, keepAliveTask] { task?.cancel() }
    for listener in listeners { listener.dropPlainConnections() }
    closeLinks()
    let closing = isListening ? listeners.map { $0.close() } : []
    EventLoopFuture.andAllComplete(closing + [close()], on: eventLoop)
      .assumeIsolated().whenComplete { _ in
        self.phase = .stopped
        self.onStopped(failure)
      }
  }
}
