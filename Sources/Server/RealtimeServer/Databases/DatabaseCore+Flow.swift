internal import NIOCore
internal import RealtimeCore
internal import RealtimeTransport

extension DatabaseCore {
  /// Bytes that one client may send before the next batch is stored.
  private static let unsettledBytes = 4 * 1_024 * 1_024
  /// The size up to which data is sent even when memory is short, in bytes.
  private static let shortAnswer = 64 * 1_024

  // MARK: Reading

  /// Pauses a client that has sent much since the last batch was stored, or has not yet read what
  /// it requested.
  func slowDown(_ session: Session, after bytes: Int) {
    if session.output.backlog == nil, session.connection.isCongested {
      pause(session, for: .congested)
      session.connection.whenRelieved { [weak self] in self?.resume(session, for: .congested) }
    }
    guard batcher.isBusy else { return }
    if session.unsettled.messages == 0 { batcher.progress.unsettled.append(session) }
    session.unsettled.messages += 1
    session.unsettled.bytes += bytes
    if session.unsettled.messages >= options.limits.requests
      || session.unsettled.bytes >= Self.unsettledBytes
    {
      pause(session, for: .unsettled)
    }
  }

  /// Holds a read request back while too much output waits to be read by clients.
  ///
  /// - Returns: Whether the message is held back; nothing more is read from the client until it is
  ///   handled.
  func holdsBack(_ message: ClientMessage, of session: Session, length: Int) -> Bool {
    let path: Path
    switch message {
    case .request(_, .get(let asked, _)): path = asked
    case .request(_, .listen(let listen)): path = listen.path
    default: return false
    }
    guard mustWait(toRead: path, isBehind: session.connection.hasNotableOutput) else {
      return false
    }
    session.work = .heldBack(message, length: length)
    pause(session, for: .memory)
    whenRelieved(session)
    return true
  }

  private func whenRelieved(_ session: Session) {
    context.memory.whenRelieved { [weak self, weak session] in
      guard let self, let session, phase == .running, sessions[session.peer] === session,
        case .heldBack(let message, let length) = session.work
      else { return }
      session.work = .none
      admit(message, from: session, length: length)
      resume(session, for: .memory)
      context.scheduler.request(by: session)
    }
  }

  /// Whether a request for the data at a path must wait, because its answer may be long and much
  /// output waits already.
  ///
  /// A client that is behind has yet to read output that was sent to it.
  func mustWait(toRead path: Path, isBehind: Bool) -> Bool {
    guard context.memory.isExhausted(isWaiting: isBehind) else { return false }
    var left = Self.shortAnswer
    return isBehind || !Self.fits(hub.snapshot[path], in: &left)
  }

  /// Whether data fits in the remaining room, which is reduced by its size.
  ///
  /// - Complexity: O(room)
  private static func fits(_ node: Node, in room: inout Int) -> Bool {
    room -= 8
    guard let children = node.children else {
      if case .string(let text)? = node.leafValue { room -= text.utf8.count }
      return room >= 0
    }
    for child in children.map {
      room -= child.key.byteCount
      guard room >= 0, fits(child.value, in: &room) else { return false }
    }
    return room >= 0
  }

  /// Resumes the clients that waited for a batch.
  func settleSessions() {
    let settled = batcher.progress.unsettled
    batcher.progress.unsettled.removeAll(keepingCapacity: true)
    for session in settled {
      session.unsettled = (0, 0)
      resume(session, for: .unsettled)
    }
  }

  /// Stops reading from a client for a reason.
  func pause(_ session: Session, for reason: Session.Pauses) {
    let isReading = session.pauses.isEmpty
    session.pauses.formUnion(reason)
    if isReading { session.connection.setReading(false) }
  }

  /// Resumes reading from a client, unless there is another reason not to.
  func resume(_ session: Session, for reason: Session.Pauses) {
    guard session.pauses.contains(reason) else { return }
    session.pauses.subtract(reason)
    if session.pauses.isEmpty { session.connection.setReading(true) }
  }

  // MARK: Writing

  /// Sends output to a client, after any output that is still being encoded for it.
  func deliver(_ outgoing: Session.Outgoing, to session: Session) {
    guard session.output.isComposing else { return put(outgoing, to: session) }
    switch outgoing {
    case .message(let message):
      // Changes that arrive faster than large data can be encoded would pile up here.
      if session.output.backlog == nil, session.output.bytes > options.limits.outputCoalesceBytes {
        beginBacklog(of: session)
      }
      guard session.output.backlog == nil else { return hold(message, from: session) }
      session.output.bytes += message.bytes.count
    case .kept(let bytes): session.output.bytes += bytes.count
    case .composition(let composition, isKept: false):
      guard session.output.backlog == nil else { return hold(composition, from: session) }
    case .composition, .end: break
    }
    session.output.queue.append(outgoing)
  }

  private func put(_ outgoing: Session.Outgoing, to session: Session) {
    switch outgoing {
    case .message(let message): send(message, to: session)
    case .kept(let bytes): transmit(bytes, over: session.connection)
    case .composition(let composition, let isKept):
      if !isKept {
        if session.output.backlog == nil, composition.isListen, session.connection.isCongested {
          beginBacklog(of: session)
        }
        guard session.output.backlog == nil else { return hold(composition, from: session) }
      }
      compose(composition, for: session, isKept: isKept)
    case .end(let code, let reason): session.connection.close(code: code, reason: reason)
    }
  }

  /// Sends a client a message of the hub, or holds it back while the client is behind.
  private func send(_ message: HubMessage, to session: Session) {
    if session.output.backlog == nil {
      guard session.connection.isCongested, message.kind == .change else {
        return transmit(message.bytes, over: session.connection)
      }
      beginBacklog(of: session)
    }
    hold(message, from: session)
  }

  private func hold(_ message: HubMessage, from session: Session) {
    if session.output.backlog?.hold(message) == false { metrics.coalesced += 1 }
  }

  private func hold(_ composition: Composition, from session: Session) {
    if session.output.backlog?.hold(composition) == false { metrics.coalesced += 1 }
  }

  private func beginBacklog(of session: Session) {
    guard !session.isGone else { return }
    session.output.backlog = Backlog()
    // Further requests would only add to the output.
    pause(session, for: .congested)
    session.connection.whenRelieved { [weak self] in self?.endBacklog(of: session) }
  }

  /// Brings a client up to date after it has caught up on reading.
  private func endBacklog(of session: Session) {
    guard sessions[session.peer] === session, !session.output.isComposing else { return }
    while session.output.backlog != nil {
      for held in session.output.backlog?.takeReadings() ?? [] { deliver(held, to: session) }
      // Output that is being encoded comes first; this method is called again once it is done.
      if session.output.isComposing { return }
      while let listen = session.output.backlog?.listens.popLast() {
        show(listen, to: session)
        if session.output.isComposing || waitsAgain(session) { return }
      }
      let isBehind = session.output.backlog?.showsAgain { hub.listens(of: session.peer) } ?? false
      if !isBehind { break }
    }
    guard let others = session.output.backlog?.others else { return }
    session.output.backlog = nil
    for held in others { deliver(held, to: session) }
    resume(session, for: .congested)
    context.scheduler.request(by: session)
  }

  /// Sends a client the current data of one of its listens.
  private func show(_ listen: ListenKey, to session: Session) {
    switch hub.currentData(of: session.peer, listen: listen) {
    case .send(_, let message): deliver(.kept(message.bytes), to: session)
    case .compose(_, let composition):
      deliver(.composition(composition, isKept: true), to: session)
    case .broadcast, .deliver, .disconnect, nil: break
    }
  }

  /// Waits again for a client to catch up, if all of its data is too much to send at once.
  private func waitsAgain(_ session: Session) -> Bool {
    let connection = session.connection
    if connection.isCongested {
      connection.whenRelieved { [weak self] in self?.endBacklog(of: session) }
    } else if context.memory.isExhausted(isWaiting: connection.hasNotableOutput) {
      context.memory.whenRelieved { [weak self] in self?.endBacklog(of: session) }
    } else {
      return false
    }
    return true
  }

  /// Sends a client the output that was held back, except data of listens, and closes its
  /// connection.
  func end(_ session: Session, code: UInt16, reason: String) {
    if let backlog = session.output.backlog {
      session.output.backlog = nil
      for held in backlog.readings + backlog.others { deliver(held, to: session) }
    }
    deliver(.end(code: code, reason: reason), to: session)
  }

  // MARK: Encoding

  /// Encodes large data off the event loop; later output for the client waits.
  private func compose(_ composition: Composition, for session: Session, isKept: Bool) {
    guard !session.isGone else { return }
    session.output.isComposing = true
    let connection = session.connection
    context.workers.perform(
      for: session.account,
      isLong: composition.isLonger(than: WorkerPool.longBytes),
      mayBegin: { [memory = context.memory] in
        session.isGone || !memory.isExhausted(isWaiting: connection.hasNotableOutput)
      }
    ) {
      let result = composition.composed()
      return (result: result, encoded: result.messages.map { EncodedMessage($0.bytes) })
    } then: { [weak self] composed in
      session.output.isComposing = false
      guard let self, sessions[session.peer] === session else { return }
      for (message, encoded) in zip(composed.result.messages, composed.encoded) {
        learn(message.bytes, as: encoded)
        put(isKept ? .kept(message.bytes) : .message(message), to: session)
      }
      if composed.result.isRefused {
        perform(hub.compositionFailed(composition, of: session.peer))
      }
      goOn(session)
    }
  }

  /// Sends the output that waited for an encoding, up to the next output to be encoded.
  private func goOn(_ session: Session) {
    while !session.output.isComposing, let next = session.output.queue.popFirst() {
      guard case .message(let message) = next, session.output.backlog != nil else {
        put(next, to: session)
        continue
      }
      // It precedes everything that is held back.
      transmit(message.bytes, over: session.connection)
    }
    guard !session.output.isComposing else { return }
    session.output.bytes = 0
    if session.output.backlog != nil, !waitsAgain(session) { endBacklog(of: session) }
    context.scheduler.request(by: session)
  }
}
