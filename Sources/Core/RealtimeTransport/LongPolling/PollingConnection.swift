package import NIOCore
internal import RealtimeCore

/// A server's connection to a client that polls, until it has moved to a WebSocket.
///
/// State: polling → offered (a WebSocket for the session is open) → moved (both ends have changed to
/// it) → ended. The session, its order of messages and what is scheduled for its end are the same
/// throughout. Confined to the server's event loop.
package final class PollingConnection: MessageConnection {
  private enum Stage {
    case polling
    case offered(Offer)
    case moved(ServerConnection)
    case ended
  }

  /// A WebSocket to which the session is about to move.
  private struct Offer {
    let socket: ServerConnection
    /// Whether the client has said that it will send there only.
    var isConfirmed = false
    /// What it has sent there, which comes after everything that it sends by polling.
    var held: [Held] = []
  }

  private enum Held {
    case text([UInt8])
    case excess(Int64)
  }

  /// How long a request waits for something to say.
  private static let patience = TimeAmount.seconds(20)
  /// How long a client may take to hear of the end.
  private static let farewell = TimeAmount.seconds(1)
  /// The most messages that wait for the end of polling; nothing is read from the socket by then.
  private static let mostHeld = 1_024
  /// The longest control message that the session looks at, in bytes.
  private static let controlBytes = 64

  package let ticket: PollRequest.Ticket
  package let peer: Peer
  /// The request that began the session; nil after it has been accepted.
  package private(set) var request: HTTPRequest?
  /// The name of the session; nil until the client is greeted with it.
  package private(set) var sessionName: String?

  private let eventLoop: any EventLoop
  private let limits: TransportLimits
  private let memory: ConnectionMemory
  /// Called when nothing more may be polled.
  private var onSilence: (() -> Void)?
  private var session: PollingSession
  private var stage = Stage.polling
  private var callbacks: ServerHandlers.Callbacks?
  private var earlyEnd: ConnectionEnd?
  /// Whether the client has said that it sends nothing more by polling.
  private var hasMovedInput = false
  private var isReading = true
  private var waiting: [PollingSession.Token: (EventLoopPromise<[UInt8]>, Scheduled<Void>)] = [:]
  private var lastToken = 0
  package private(set) var lastRequest: NIODeadline
  private var promised: PromisedInput
  private var countedBytes = 0
  private var isFlushScheduled = false
  private var onRelief: (() -> Void)?
  private var nextCheck: Scheduled<Void>?
  private var goodbye: Scheduled<Void>?

  /// Makes a connection for the session that a request begins, with a ticket that nobody can guess.
  ///
  /// `onSilence` is called once, when nothing more may be polled.
  package init(
    _ request: HTTPRequest,
    ticket: PollRequest.Ticket,
    limits: TransportLimits,
    memory: ConnectionMemory,
    eventLoop: any EventLoop,
    onSilence: @escaping () -> Void
  ) {
    self.request = request
    self.ticket = ticket
    self.limits = limits
    self.memory = memory
    self.eventLoop = eventLoop
    self.onSilence = onSilence
    peer = request.peer
    promised = PromisedInput(memory)
    session = PollingSession(share: memory.bounds.share)
    session.messageBytes = limits.messageBytes
    lastRequest = .now()
  }

  // MARK: Requests

  /// Whether a request waits for something to say.
  package var isAwaited: Bool { session.isAwaited }

  /// Begins the session, once it has been accepted; returns the script that answers the request.
  ///
  /// The callback completes the names of the functions of the client's page.
  package func begin(_ callbacks: ServerHandlers.Callbacks, callback: String) -> [UInt8] {
    request = nil
    let (script, isClosed) = session.start(
      callback: callback,
      id: ticket.id,
      password: ticket.password
    )
    count()
    if let earlyEnd {
      callbacks.onClose(earlyEnd)
    } else {
      self.callbacks = callbacks
      guard !isClosed else {
        end(.closed, because: "was turned away")
        return script
      }
      scheduleCheck()
    }
    return script
  }

  /// Receives a request, and answers it as soon as there is something to say.
  package func poll(serial: Int, pieces: [PollRequest.Piece]) -> EventLoopFuture<[UInt8]> {
    lastToken += 1
    let token = lastToken
    let promise = eventLoop.makePromise(of: [UInt8].self)
    let timeout = eventLoop.assumeIsolated().scheduleTask(in: Self.patience) { [weak self] in
      guard let self else { return }
      perform(session.expire(token))
    }
    waiting[token] = (promise, timeout)
    lastRequest = .now()
    perform(session.receive(token, serial: serial, pieces: pieces, at: .now()))
    scheduleFlush()
    return promise.futureResult
  }

  /// Ends the session, because the client has gone; one that has moved to a WebSocket goes on.
  package func leave() {
    switch stage {
    case .polling, .offered:
      end(.closedByPeer(code: 1_000), because: "left the page")
    case .moved, .ended: break
    }
  }

  /// Ends the session at once, because others need the room; the client learns of it when it polls.
  package func giveWay() {
    end(.closed, because: "was idle, and others need the room")
  }

  // MARK: Sending

  package func send(_ message: EncodedMessage) {
    switch stage {
    case .polling, .offered:
      if sessionName == nil { sessionName = Self.sessionName(in: message) }
      for text in message.texts { session.send(text) }
      count()
      guard session.queuedBytes <= limits.pendingBytes else {
        return end(.slowConsumer, because: "is too slow: much output waits for it")
      }
      scheduleFlush()
    case .moved(let socket): socket.send(message)
    case .ended: break
    }
  }

  private static func sessionName(in message: EncodedMessage) -> String? {
    guard let text = message.texts.first,
      case .hello(let hello)? = try? ServerMessage(decoding: text)
    else { return nil }
    return hello.session
  }

  package var hasNotableOutput: Bool {
    if case .moved(let socket) = stage { return socket.hasNotableOutput }
    return session.queuedBytes > min(16 * 1_024, limits.congestionBytes)
  }

  package var isCongested: Bool {
    if case .moved(let socket) = stage { return socket.isCongested }
    return session.queuedBytes > limits.congestionBytes || memory.isTight && hasNotableOutput
  }

  package func whenRelieved(_ body: @escaping () -> Void) {
    if case .moved(let socket) = stage { return socket.whenRelieved(body) }
    onRelief = body
  }

  package func keepAlive() {
    if case .moved(let socket) = stage { socket.keepAlive() }
  }

  /// Sends what has gathered, at the end of the tick.
  private func scheduleFlush() {
    guard !isFlushScheduled else { return }
    isFlushScheduled = true
    eventLoop.assumeIsolated().execute {
      self.isFlushScheduled = false
      self.perform(self.session.flush())
    }
  }

  /// Counts the waiting output towards the memory of all connections.
  private func count() {
    memory.count(session.queuedBytes - countedBytes)
    countedBytes = session.queuedBytes
    guard let onRelief, countedBytes <= limits.congestionBytes / 2 else { return }
    self.onRelief = nil
    eventLoop.assumeIsolated().execute { onRelief() }
  }

  // MARK: Receiving

  package func allow(isStranger: Bool, messageBytes: Int) {
    promised.isStranger = isStranger
    session.messageBytes = messageBytes
    session.isPatient = !isStranger
    switch stage {
    case .offered(let offer): offer.socket.allow(isStranger: isStranger, messageBytes: messageBytes)
    case .moved(let socket): socket.allow(isStranger: isStranger, messageBytes: messageBytes)
    case .polling, .ended: break
    }
  }

  package func setReading(_ isReading: Bool) {
    self.isReading = isReading
    switch stage {
    case .moved(let socket): socket.setReading(isReading)
    case .polling, .offered: perform(session.setPaused(!isReading, at: .now()))
    case .ended: break
    }
  }

  private func perform(_ outputs: [PollingSession.Output]) {
    for output in outputs {
      switch output {
      case .answer(let token, let script):
        guard let (promise, timeout) = waiting.removeValue(forKey: token) else { continue }
        timeout.cancel()
        promise.succeed(script)
      case .message(let bytes): receive(bytes)
      case .excess(let id):
        promised.release()
        callbacks?.onExcess(id)
      case .wants(let bytes): askForMemory(bytes)
      case .violation(let reason): return end(.protocolViolation, because: reason)
      case .closed: pollingEnded()
      }
    }
    count()
  }

  private func receive(_ message: [UInt8]) {
    defer { promised.release() }
    if Self.kind(of: .text(message)) == "n" {
      hasMovedInput = true
      return moveIfReady()
    }
    guard !hasMovedInput else {
      return end(.protocolViolation, because: "polled with a message at its end")
    }
    callbacks?.onMessage(message)
  }

  private func askForMemory(_ bytes: Int) {
    let isPromised = promised.ask(
      bytes,
      whenRoom: { [weak self] in self?.memoryFound(bytes) },
      orEnd: { [weak self] in
        self?.end(.protocolViolation, because: "stalled in a message while others waited")
      }
    )
    if isPromised { eventLoop.assumeIsolated().execute { self.memoryFound(bytes) } }
  }

  private func memoryFound(_ bytes: Int) {
    session.memoryFound(bytes)
    perform(session.memoryGranted(at: .now()))
    scheduleFlush()
  }

  // MARK: Ending

  package func close(code: UInt16, reason: String) {
    switch stage {
    case .ended: return
    case .moved(let socket): return socket.close(code: code, reason: reason)
    case .offered(let offer):
      stage = .polling
      offer.socket.close(code: code, reason: reason)
    case .polling: break
    }
    let closed = ConnectionEnd(.closed, description: reason)
    perform(session.close())
    guard !session.isClosed else { return end(closed) }
    goodbye = eventLoop.assumeIsolated().scheduleTask(in: Self.farewell) { [weak self] in
      self?.end(closed)
    }
  }

  /// Ends the session of a client that has not made a request for too long, or does not finish a
  /// message; looks again later otherwise.
  private func check() {
    let silence = NIODeadline.now() - lastRequest
    let stall = memory.isTight ? limits.stall : 3 * limits.stall
    if silence >= limits.silence { return end(.lost, because: "has stopped polling") }
    if session.queuedBytes > 0, !session.isAwaited, silence >= stall {
      return end(.slowConsumer, because: "does not poll for its output")
    }
    if let since = session.unfinishedSince, !session.isPaused,
      NIODeadline.now() - since >= limits.reassembly
    {
      return end(.protocolViolation, because: "did not finish a message in time")
    }
    scheduleCheck()
  }

  private func scheduleCheck() {
    let interval = min(limits.stall, limits.silence, limits.reassembly)
    nextCheck = eventLoop.assumeIsolated().scheduleTask(in: interval) { [weak self] in
      self?.check()
    }
  }

  /// Notes that nothing more will be polled.
  private func pollingEnded() {
    forgetPolling()
    switch stage {
    case .polling, .offered: end(.closed, because: "was told to close")
    case .moved, .ended: break
    }
  }

  private func forgetPolling() {
    nextCheck?.cancel()
    onSilence?()
    onSilence = nil
  }

  private func end(_ kind: ConnectionEnd.Kind, because what: String) {
    end(ConnectionEnd(kind, description: "\(peer) \(what)"))
  }

  private func end(_ end: ConnectionEnd) {
    let last = stage
    if case .ended = last { return }
    stage = .ended
    forgetPolling()
    goodbye?.cancel()
    perform(session.abort())
    promised.release()
    onRelief = nil
    switch last {
    case .offered(let offer): offer.socket.close(code: 1_001, reason: end.description)
    case .moved(let socket): socket.close(code: 1_001, reason: end.description)
    case .polling, .ended: break
    }
    guard let callbacks else {
      earlyEnd = end
      return
    }
    self.callbacks = nil
    // Deferred, because the owner may be in the middle of a change.
    eventLoop.assumeIsolated().execute { callbacks.onClose(end) }
  }
}

// MARK: The move to a WebSocket

extension PollingConnection {
  /// Offers the client a WebSocket that it has opened for this session.
  ///
  /// - Returns: What receives the socket's messages; nil if the session cannot move to it.
  package func offer(_ socket: ServerConnection) -> ServerHandlers.Callbacks? {
    guard case .polling = stage, callbacks != nil, !hasMovedInput, goodbye == nil else {
      return nil
    }
    stage = .offered(Offer(socket: socket))
    socket.send(EncodedMessage(Self.message(of: "a")))
    let bound = NIOLoopBound(self, eventLoop: eventLoop)
    return ServerHandlers.Callbacks(
      onMessage: { bound.value.received(.text($0), over: socket) },
      onExcess: { bound.value.received(.excess($0), over: socket) },
      onClose: { bound.value.closed(socket, because: $0) }
    )
  }

  private static func message(of kind: String) -> [UInt8] {
    Array(#"{"t":"c","d":{"t":"\#(kind)","d":{}}}"#.utf8)
  }

  private func received(_ held: Held, over socket: ServerConnection) {
    switch stage {
    case .moved(let current) where current === socket: deliver(held)
    case .offered(var offer) where offer.socket === socket:
      if !offer.isConfirmed {
        switch Self.kind(of: held) {
        case "p": return socket.send(EncodedMessage(Self.message(of: "o")))
        case "a":
          offer.isConfirmed = true
          // What follows comes after everything that is still being polled.
          socket.setReading(false)
          stage = .offered(offer)
          return moveIfReady()
        default: break
        }
      }
      guard offer.held.count < Self.mostHeld else {
        return socket.close(code: 1_008, reason: "it sent messages before it moved there")
      }
      offer.held.append(held)
      stage = .offered(offer)
    case .polling, .offered, .moved, .ended: break
    }
  }

  /// The kind of a control message; nil for any other message.
  private static func kind(of held: Held) -> String? {
    guard case .text(let bytes) = held, bytes.count <= controlBytes else { return nil }
    return switch try? ClientMessage(decoding: bytes) {
    case .ping: "p"
    case .control(let kind): kind
    case .request, nil: nil
    }
  }

  private func deliver(_ held: Held) {
    switch held {
    case .text(let bytes): callbacks?.onMessage(bytes)
    case .excess(let id): callbacks?.onExcess(id)
    }
  }

  /// Moves to the WebSocket once the client has done so, and then ends the polling.
  private func moveIfReady() {
    guard hasMovedInput else { return }
    guard case .offered(let offer) = stage else {
      return end(.protocolViolation, because: "ended its polling without a socket")
    }
    guard offer.isConfirmed else { return }
    session.send(Self.message(of: "n"))
    stage = .moved(offer.socket)
    offer.socket.allow(isStranger: promised.isStranger, messageBytes: session.messageBytes)
    if let onRelief {
      self.onRelief = nil
      eventLoop.assumeIsolated().execute { onRelief() }
    }
    for held in offer.held { deliver(held) }
    if case .moved = stage { offer.socket.setReading(isReading) }
    perform(session.close())
  }

  private func closed(_ socket: ServerConnection, because reason: ConnectionEnd) {
    switch stage {
    case .moved(let current) where current === socket: end(reason)
    case .offered(let offer) where offer.socket === socket:
      stage = .polling
      // The client has said that it will not poll with anything more.
      if hasMovedInput || offer.isConfirmed { end(reason) }
    case .polling, .offered, .moved, .ended: break
    }
  }
}
