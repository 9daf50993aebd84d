private import Glibc
internal import Logging
internal import NIOCore
internal import RealtimeCore
internal import RealtimeTransport

extension DatabaseCore {
  /// The identity of a connection without a credential.
  ///
  /// A process that can connect to the private socket runs as the server's user or as root, so it
  /// could read and write the server's files anyway.
  static func identity(of peer: Peer) -> Identity {
    switch peer {
    case .local(let credentials):
      credentials.isAllowed(byServerOf: geteuid()) ? .administrator : .anonymous
    case .network: .anonymous
    }
  }

  // MARK: Connections

  /// Accepts a new connection, and returns what to call when the client sends something or leaves.
  func accept(_ connection: any MessageConnection) -> ServerHandlers.Callbacks {
    callbacks(of: connect(connection).peer)
  }

  /// Adds a new connection and sends it the server's greeting, unless it resumes a session.
  ///
  /// Where the database is a copy, the leader's session of the client greets it. A client that
  /// reads elsewhere is another server's, which answers what it reads.
  func connect(
    _ connection: any MessageConnection,
    writingTo leader: (any LeaderSession)? = nil,
    readsElsewhere: Bool = false
  ) -> Session {
    let origin = connection.request?.origin
    let resumed = origin?.session
    if let resumed {
      retire(resumed, mayReturn: true)
    } else if let last = connection.request?.parameter("ls") {
      retire(last)
      if term != nil { peers.replace(last) }
      endSuspended { $0.name == last }
    }
    context.connectionOpened()
    let session = open(connection, leader: leader, readsElsewhere: readsElsewhere)
    allowMessages(of: session)
    if leader == nil, resumed == nil { greet(session) }
    if phase != .running {
      connection.close(code: CloseCode.goingAway, reason: "the server is stopping")
    }
    expectSignIn(of: session)
    if let origin, resumed != nil, leader == nil { resume(session, from: origin) }
    return session
  }

  /// Adds a session for a connection that is counted already.
  func open(
    _ connection: any MessageConnection,
    leader: (any LeaderSession)?,
    readsElsewhere: Bool
  ) -> Session {
    let peer = peers.makeID()
    let origin = connection.request?.origin
    let session = Session(
      peer,
      of: self,
      connection: connection,
      named: origin?.session ?? Session.makeName(),
      leader: leader,
      readsElsewhere: readsElsewhere
    )
    leader?.serve(session, of: self)
    peers.add(session)
    metrics.connections += 1
    hub.open(
      peer,
      as: DatabaseCore.identity(of: connection.peer),
      from: ClientNetwork(of: connection.peer)?.description,
      in: origin.map { RemoteSession(server: $0.server, name: session.name) }
    )
    logger.debug("connected", metadata: ["peer": "\(peer)", "from": "\(connection.peer)"])
    return session
  }

  /// Receives the messages of a client.
  func callbacks(of peer: PeerID) -> ServerHandlers.Callbacks {
    let core = NIOLoopBound(self, eventLoop: eventLoop)
    return ServerHandlers.Callbacks(
      onMessage: { core.value.receive(.text($0), from: peer) },
      onExcess: { core.value.refuseExcess($0, of: peer) },
      onClose: { core.value.closed(peer, because: $0) }
    )
  }

  private func greet(_ session: Session) {
    let named = session.connection.request?.namedHost
    // Where servers forward, clients stay at the name by which they have come.
    let staysAtName = term != nil && !options.redirectsClients
    let host = (staysAtName ? named : nil) ?? options.advertisedHost ?? named ?? "localhost"
    let hello = TreeHub.hello(timestamp: context.clock(), host: host, session: session.name)
    session.connection.send(EncodedMessage(ServerMessage.hello(hello).encoded()))
  }

  /// Closes the connection that a new one from the same client replaces.
  private func retire(_ name: String, mayReturn: Bool = false) {
    guard let session = peers[name] else { return }
    forget(session.peer, mayReturn: mayReturn)
    session.connection.close(code: CloseCode.normal, reason: Self.replacement)
  }

  /// The number of waiting messages at which reading from a connection stops.
  private static let mostWaiting = 16
  /// The length from which messages are decoded off the event loop.
  private static let largeBytes = 64 * 1_024

  private func receive(_ incoming: Session.Incoming, from peer: PeerID) {
    guard phase == .running, let session = sessions[peer] else { return }
    session.receive(incoming)
    context.scheduler.request(by: session)
    if session.inbox.count >= Self.mostWaiting
      || (session.work == .decoding && !session.inbox.isEmpty)
    {
      pause(session, for: .turn)
    }
  }

  /// Takes the oldest unhandled message of a client.
  func takeNext(of session: Session) {
    // If another server can lead the database, the data here may be outdated.
    guard phase == .running, term?.counts ?? true, let incoming = session.inbox.popFirst() else {
      return session.inbox.removeAll()
    }
    switch incoming {
    case .text(let bytes) where bytes.count > Self.largeBytes: decode(bytes, of: session)
    case .text(let bytes):
      take(Self.decoded(bytes, depthLimit: options.limits.jsonDepth), bytes, from: session)
    case .decoded(let result, let bytes): take(result, bytes, from: session)
    case .takeOver(let body, let attemptsLeft):
      giveUpReads(of: session, attemptsLeft: attemptsLeft, body)
    case .current(let message, let length): session.leader?.answer(message, length: length)
    case .answer(let message):
      deliver(.message(HubMessage(bytes: message, kind: .other)), to: session)
    case .compared(let message, let node, let hash, let length):
      hub.learn(hash, of: node)
      take(message, from: session, length: length)
      slowDown(session, after: length)
    }
    settle(session)
  }

  /// Once no message of a client is waiting, reads from it again, or forgets it if it has gone.
  private func settle(_ session: Session) {
    guard session.inbox.isEmpty, session.work != .decoding else { return }
    resume(session, for: .turn)
    guard session.isGone, sessions[session.peer] === session else { return }
    finish(session.peer)
  }

  private static func decoded(
    _ bytes: [UInt8],
    depthLimit: Int
  ) -> Result<ClientMessage, MessageError> {
    Result { () throws(MessageError) in try ClientMessage(decoding: bytes, depthLimit: depthLimit) }
  }

  /// Decodes a large message off the event loop; later messages of the client wait.
  private func decode(_ bytes: [UInt8], of session: Session) {
    session.work = .decoding
    let depthLimit = options.limits.jsonDepth
    context.workers.perform(
      for: session.account,
      isLong: bytes.count > WorkerPool.longBytes
    ) {
      Self.decoded(bytes, depthLimit: depthLimit)
    } then: { [weak self] result in
      session.work = .none
      guard let self, sessions[session.peer] === session else { return }
      session.inbox.prepend(.decoded(result, bytes))
      context.scheduler.request(by: session)
    }
  }

  private func take(
    _ result: Result<ClientMessage, MessageError>,
    _ bytes: [UInt8],
    from session: Session
  ) {
    let length = bytes.count
    switch result {
    case .success(let message):
      if session.leader?.take(message, bytes) == true {
        return slowDown(session, after: length)
      }
      guard !holdsBack(message, of: session, length: length) else { return }
      admit(message, from: session, length: length)
    case .failure(let error):
      metrics.undecodable += 1
      logger.debug("undecodable message", metadata: ["peer": "\(session.peer)"])
      perform(hub.handle(undecodable: error, from: session.peer))
      if error.requestID == nil {
        drop(
          session.peer,
          code: CloseCode.protocolError,
          reason: "it sent a message that cannot be understood"
        )
      }
      slowDown(session, after: length)
    }
  }

  /// Handles a message once there is memory for its answer.
  func admit(_ message: ClientMessage, from session: Session, length: Int) {
    guard let node = hub.dataToHash(for: message, from: session.peer) else {
      take(message, from: session, length: length)
      return slowDown(session, after: length)
    }
    // The hash of large data is computed off the event loop.
    session.work = .decoding
    let measure = NodeMeasure(of: node, bytes: WorkerPool.longBytes)
    context.workers.perform(for: session.account, isLong: measure.isExceeded) {
      node.hash
    } then: { [weak self] hash in
      session.work = .none
      guard let self, sessions[session.peer] === session else { return }
      session.inbox.prepend(.compared(message, node, hash: hash, length: length))
      context.scheduler.request(by: session)
    }
  }

  private func take(_ message: ClientMessage, from session: Session, length: Int) {
    let peer = session.peer
    guard case .request(let id, let request) = message else {
      return perform(hub.handle(message, from: peer, at: context.clock()))
    }
    count(request)
    if let answer = refusal(of: request) ?? metrics(for: request, of: peer) {
      perform([.send(peer, HubMessage(.response(id: id, answer)))])
      return
    }
    perform(hub.handle(message, from: peer, at: context.clock()))
    switch request {
    case .authenticate, .unauthenticate: identityChanged(peer)
    case .listen: noteListens(peer)
    case .write: limitWriteRate(session, after: length)
    case .onDisconnect:
      noteScheduled(peer)
      limitWriteRate(session, after: length)
    case .stats, .appCheck, .unlisten, .get, .cancelOnDisconnect, .unknown: break
    }
  }

  private func count(_ request: ClientRequest) {
    metrics.requests.add(request.kind)
    context.requestCount &+= 1
    if case .write = request { batcher.progress.arrived(at: .now()) }
  }

  private func closed(_ peer: PeerID, because end: ConnectionEnd) {
    logger.debug("disconnected", metadata: ["peer": "\(peer)", "reason": "\(end)"])
    switch end.kind {
    case .slowConsumer:
      metrics.dropped += 1
      context.noteOnce("dropped a connection", because: end, in: logger)
    case .protocolViolation: context.noteOnce("dropped a connection", because: end, in: logger)
    case .closed, .closedByPeer, .lost, .unreachable, .timedOut, .refused, .notADatabaseServer,
      .insecure:
      break
    }
    guard let session = sessions[peer], phase == .running else { return finish(peer) }
    // Complete messages count even if their turn has not come yet.
    session.leave()
    guard !session.inbox.isEmpty || session.work == .decoding else { return finish(peer) }
    context.scheduler.request(by: session)
  }

  private func finish(_ peer: PeerID) {
    forget(peer, mayReturn: sessions[peer]?.connection.mayReturn ?? false)
    continueClosing()
  }

  /// Closes an idle connection to make room for another.
  func makeRoom(_ session: Session) {
    let reason = "it was idle, and others need the room"
    logger.debug("dropped a connection: \(reason)", metadata: ["peer": "\(session.peer)"])
    metrics.dropped += 1
    forget(session.peer)
    session.connection.close(code: CloseCode.tryAgainLater, reason: reason)
  }

  /// Closes the connection of a client that has violated a limit.
  func drop(_ peer: PeerID, code: UInt16, reason: String) {
    guard let session = sessions[peer] else { return }
    metrics.dropped += 1
    let note = "dropped a connection: \(reason)"
    // It can come back at once and do the same again.
    if peers.users.isDue(note, about: hub.identity(of: peer)?.uid) {
      logger.notice("\(note)", metadata: ["peer": "\(peer)"])
    }
    // Its remaining messages are ignored.
    session.inbox.removeAll()
    end(session, code: code, reason: reason)
  }

  /// Removes a connection from the hub; if it may return, its session can be resumed.
  func forget(_ peer: PeerID, mayReturn: Bool = false) {
    guard let session = peers.removeSession(peer) else { return }
    session.inbox.removeAll()
    session.output.queue.removeAll()
    session.timers.cancel()
    session.leader?.end()
    peers.users.leave(peer)
    perform(hub.close(peer, at: context.clock(), mayReturn: mayReturn))
    if mayReturn { watchSuspended() }
    context.connectionClosed()
  }

  // MARK: Internal peers

  /// Adds an internal peer, and returns the identifier by which the hub knows it.
  func openInternal(
    _ peer: any InternalPeer,
    as identity: Identity = .anonymous,
    from network: ClientNetwork? = nil
  ) -> PeerID {
    let id = peers.add(peer)
    hub.open(id, as: identity, isInternal: true, from: network?.description)
    context.connectionOpened()
    return id
  }

  func hand(_ message: ClientMessage, from peer: PeerID) {
    guard term?.counts ?? true else {
      peers.inside[peer]?.disconnect(.storageFailed("another server may lead the database now"))
      return
    }
    if case .request(let id, let request) = message {
      count(request)
      if let refusal = refusal(of: request) {
        return perform([.deliver(peer, .response(id: id, refusal))])
      }
    }
    perform(hub.handle(message, from: peer, at: context.clock()))
  }

  func closeInternal(_ peer: PeerID) {
    guard peers.removeInside(peer) else { return }
    peers.users.leave(peer)
    perform(hub.close(peer, at: context.clock()))
    context.connectionClosed()
    continueClosing()
  }
}

/// A peer of the hub inside the server, which talks to it by calls instead of over a WebSocket.
protocol InternalPeer: AnyObject {
  func receive(_ message: ServerMessage)

  /// Called when the hub ends the connection; the peer must close itself.
  func disconnect(_ reason: DisconnectReason)

  /// Called when the server stops; requests that have not reached the hub yet are dropped.
  func serverStops()
}

extension InternalPeer {
  func serverStops() {}
}

// MARK: Clients whose reads another server takes over

extension DatabaseCore {
  /// How often handing over a client's reads is tried, while answers are on their way to it.
  private static let mostAttempts = 50

  /// Hands over the reads of a client, after everything that it has sent before.
  ///
  /// The body receives what the client has open; nil if it stays here.
  func giveUpReads(of session: Session, _ body: @escaping (SessionState?) -> Void) {
    guard sessions[session.peer] === session else { return body(nil) }
    session.inbox.append(.takeOver(body, attemptsLeft: Self.mostAttempts))
    context.scheduler.request(by: session)
  }

  private func giveUpReads(
    of session: Session,
    attemptsLeft: Int,
    _ body: @escaping (SessionState?) -> Void
  ) {
    let hasOutput = session.output.backlog != nil || session.output.isComposing
    if !hasOutput, let state = hub.giveUp(session.peer) {
      session.readsElsewhere = true
      session.timers.signIn?.cancel()
      return body(state)
    }
    guard attemptsLeft > 0 else { return body(nil) }
    eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(20)) { [weak self] in
      guard let self, phase == .running, sessions[session.peer] === session else { return }
      session.inbox.append(.takeOver(body, attemptsLeft: attemptsLeft - 1))
      context.scheduler.request(by: session)
    }
  }
}
