internal import NIOCore
internal import RealtimeHub
internal import RealtimeProtocol
internal import RealtimeTransport

extension DatabaseCore {
  // MARK: Reading

  /// Lets a client wait that has sent much since the last batch was stored.
  func slowDown(_ session: Session) {
    guard batcher.isBusy else { return }
    if session.unsettledMessages == 0 { unsettled.append(session) }
    session.unsettledMessages += 1
    if session.unsettledMessages >= options.limits.requests { pause(session, .unsettled) }
  }

  /// Lets everyone go on who waited for a batch.
  func settleSessions() {
    let settled = unsettled
    unsettled.removeAll(keepingCapacity: true)
    for session in settled {
      session.unsettledMessages = 0
      resume(session, .unsettled)
    }
  }

  /// Reads no more from a client for a reason.
  func pause(_ session: Session, _ reason: Session.Pause) {
    guard session.pauses.insert(reason).inserted, session.pauses.count == 1 else { return }
    session.connection.setReading(false)
  }

  /// Reads from a client again, unless there is another reason not to.
  func resume(_ session: Session, _ reason: Session.Pause) {
    guard session.pauses.remove(reason) != nil, session.pauses.isEmpty else { return }
    session.connection.setReading(true)
  }

  // MARK: Writing

  /// Sends a client something, or lets it wait for what is being encoded for the client.
  func deliver(_ outgoing: Session.Outgoing, to session: Session) {
    guard session.isComposing else { return put(outgoing, to: session) }
    switch outgoing {
    case .message(let bytes):
      // Changes that come faster than large data are encoded would pile up here.
      if session.backlog == nil, session.outgoingBytes > options.limits.outputCoalesceBytes {
        beginBacklog(of: session)
      }
      guard session.backlog == nil else { return hold(bytes, from: session) }
      session.outgoingBytes += bytes.count
    case .kept(let bytes): session.outgoingBytes += bytes.count
    case .composition(let composition, isKept: false):
      guard session.backlog == nil else { return hold(composition, from: session) }
    case .composition, .end: break
    }
    session.outgoing.append(outgoing)
  }

  private func put(_ outgoing: Session.Outgoing, to session: Session) {
    switch outgoing {
    case .message(let bytes): send(bytes, to: session)
    case .kept(let bytes): transmit(bytes, over: session.connection)
    case .composition(let composition, let isKept):
      if !isKept {
        if session.backlog == nil, composition.isListen, session.connection.isCongested {
          beginBacklog(of: session)
        }
        guard session.backlog == nil else { return hold(composition, from: session) }
      }
      compose(composition, for: session, isKept: isKept)
    case .end(let code, let reason): session.connection.close(code: code, reason: reason)
    }
  }

  /// Sends a client a message of the hub, or holds it back while the client does not keep up.
  private func send(_ bytes: [UInt8], to session: Session) {
    if session.backlog == nil {
      guard session.connection.isCongested, OutgoingKind(bytes) == .change else {
        return transmit(bytes, over: session.connection)
      }
      beginBacklog(of: session)
    }
    hold(bytes, from: session)
  }

  private func hold(_ bytes: [UInt8], from session: Session) {
    if session.backlog?.hold(bytes) == false { metrics.coalesced += 1 }
  }

  private func hold(_ composition: Composition, from session: Session) {
    if session.backlog?.hold(composition) == false { metrics.coalesced += 1 }
  }

  private func beginBacklog(of session: Session) {
    guard !session.isGone else { return }
    session.backlog = Backlog()
    // What it asks for meanwhile would only make it worse.
    pause(session, .congested)
    session.connection.whenRelieved { [weak self] in self?.endBacklog(of: session) }
  }

  /// Brings a client up to date that has caught up.
  private func endBacklog(of session: Session) {
    guard !session.isComposing, let backlog = session.backlog else { return }
    session.backlog = nil
    for held in backlog.readings { deliver(held, to: session) }
    for output in hub.currentData(of: session.peer) {
      switch output {
      case .send(_, let bytes): deliver(.kept(bytes), to: session)
      case .compose(_, let composition):
        deliver(.composition(composition, isKept: true), to: session)
      case .broadcast, .deliver, .disconnect: break
      }
    }
    for held in backlog.others { deliver(held, to: session) }
    resume(session, .congested)
    context.turns.request(by: session)
  }

  /// Sends a client that is disconnected what was held back, but no data, and says goodbye.
  func end(_ session: Session, code: UInt16, reason: String) {
    if let backlog = session.backlog {
      session.backlog = nil
      for held in backlog.readings + backlog.others { deliver(held, to: session) }
    }
    deliver(.end(code: code, reason: reason), to: session)
  }

  // MARK: Encoding

  /// Encodes large data beside the event loop; what comes for the client meanwhile waits.
  private func compose(_ composition: Composition, for session: Session, isKept: Bool) {
    guard !session.isGone else { return }
    session.isComposing = true
    context.workbench.perform(
      for: session.account,
      isLong: composition.isLonger(than: Workbench.longBytes)
    ) {
      let messages = composition.composed()
      return (messages: messages, encoded: messages.texts.map { EncodedMessage($0) })
    } then: { [weak self] result in
      session.isComposing = false
      guard let self, sessions[session.peer] === session else { return }
      for (bytes, message) in zip(result.messages.texts, result.encoded) {
        encoder.learn(bytes, as: message)
        put(isKept ? .kept(bytes) : .message(bytes), to: session)
      }
      if result.messages.isRefused {
        perform(hub.compositionFailed(composition, of: session.peer))
      }
      goOn(session)
    }
  }

  /// Sends what has waited for something to be encoded, up to the next that is.
  private func goOn(_ session: Session) {
    while !session.isComposing, let next = session.outgoing.popFirst() {
      guard case .message(let bytes) = next, session.backlog != nil else {
        put(next, to: session)
        continue
      }
      // It comes before everything that is held back.
      transmit(bytes, over: session.connection)
    }
    guard !session.isComposing else { return }
    session.outgoingBytes = 0
    if session.backlog != nil, !session.connection.isCongested { endBacklog(of: session) }
    context.turns.request(by: session)
  }
}
