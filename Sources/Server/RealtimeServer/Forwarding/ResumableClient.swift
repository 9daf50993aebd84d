internal import NIOCore
internal import RealtimeCore
internal import RealtimeTransport

/// The data of a copy when it ended; its clients do not keep it alive.
final class CopiedData {
  let root: Node

  init(_ root: Node) { self.root = root }
}

/// A client of a database that another server leads; it outlives the leader.
///
/// It stands between the client's connection and whoever serves it: the link to the leader, a copy
/// of the database, or the database itself once this server leads it. When they release it because
/// the leader changes, the client notices only a pause.
///
/// Meanwhile its scheduled disconnect writes wait, stored under its session and the run of this
/// server: see ``RemoteSession``. If they were carried out nevertheless, the next leader
/// disconnects the client, since only the client knows what to schedule next.
///
/// State: waiting (for a server) ⇄ served → ended. Confined to the event loop.
final class ResumableClient: MessageConnection {
  private enum Phase {
    case waiting
    case served(ServerHandlers.Callbacks)
    case ended
  }

  /// The bytes of requests that a client may send while nobody serves it.
  private static let mostWaitingBytes = 256 * 1_024
  /// How long it may receive nothing while one server after another releases it.
  private static let patience = TimeAmount.seconds(30)

  private let client: any MessageConnection
  /// The request that has opened the connection.
  private let handshake: HTTPRequest
  private let server: String
  private let eventLoop: any EventLoop
  /// Called when its leader is lost; returns whether it will be served again.
  private let onLoss: (ResumableClient) -> Bool
  /// Called when it has left, and something may be scheduled for that.
  private let onDeparture: () -> Void
  private var conversation = Conversation()
  private var phase = Phase.waiting
  private var session: String?
  /// When it was first released since it last received anything.
  private var firstLoss: NIODeadline?
  /// Whether the server that is about to serve it has turned it away.
  private var isTurnedAway = false
  /// The data that the client has for all that it listens to; nil if that is not known.
  ///
  /// It is known if a copy of the database has served the client, until either side sends
  /// something: the next server may release the client again before that.
  weak var copy: CopiedData?

  /// Makes a client that nobody serves yet.
  init(
    _ client: any MessageConnection,
    handshake: HTTPRequest,
    at server: String,
    on eventLoop: any EventLoop,
    onLoss: @escaping (ResumableClient) -> Bool,
    onDeparture: @escaping () -> Void
  ) {
    self.client = client
    self.handshake = handshake
    self.server = server
    self.eventLoop = eventLoop
    self.onLoss = onLoss
    self.onDeparture = onDeparture
  }

  /// Receives what the client sends.
  var callbacks: ServerHandlers.Callbacks {
    let bound = NIOLoopBound(self, eventLoop: eventLoop)
    return ServerHandlers.Callbacks(
      onMessage: { bound.value.receive($0) },
      onExcess: { bound.value.skipped($0) },
      onClose: { bound.value.closed($0) }
    )
  }

  var isWaiting: Bool { if case .waiting = phase { true } else { false } }

  var openListens: [ListenKey] { conversation.openListens }

  // MARK: The client

  private func receive(_ message: [UInt8]) {
    var bytes = message
    let isRequest = conversation.said(&bytes)
    switch phase {
    case .served(let callbacks):
      copy = nil
      callbacks.onMessage(bytes)
    case .waiting:
      if !isRequest, case .ping? = try? ClientMessage(decoding: bytes) {
        client.send(EncodedMessage(ServerMessage.pong.encoded()))
      }
      if conversation.waitingBytes > Self.mostWaitingBytes { client.setReading(false) }
    case .ended: break
    }
  }

  private func skipped(_ id: Int64) {
    conversation.saidTooMuch(as: id)
    if case .served(let callbacks) = phase { callbacks.onExcess(id) }
  }

  private func closed(_ end: ConnectionEnd) {
    let last = phase
    phase = .ended
    if conversation.mayHaveScheduled { onDeparture() }
    if case .served(let callbacks) = last { callbacks.onClose(end) }
  }

  // MARK: Servers

  /// Begins to be served by what `serve` returns; nil if that cannot accept it as a connection.
  ///
  /// The hash is that of the client's data for a listen; nil if it is unknown.
  ///
  /// - Returns: Whether it is served, or has left.
  func resume(
    by serve: (ResumableClient) -> ServerHandlers.Callbacks?,
    hash: (ListenKey) -> String? = { _ in nil }
  ) -> Bool {
    guard isWaiting else { return true }
    isTurnedAway = false
    guard let callbacks = serve(self) else { return false }
    guard isWaiting, !isTurnedAway else {
      part(from: callbacks, because: "turned away")
      return !isWaiting
    }
    phase = .served(callbacks)
    client.setReading(true)
    for step in conversation.resume(hash: hash) {
      guard case .served = phase else { break }
      switch step {
      case .message(let bytes): callbacks.onMessage(bytes)
      case .excess(let id): callbacks.onExcess(id)
      }
    }
    return true
  }

  /// Closes the connection of a client that nobody serves.
  func giveUp(because reason: String) {
    guard isWaiting else { return }
    phase = .ended
    client.close(code: CloseCode.goingAway, reason: reason)
  }

  // MARK: MessageConnection

  var peer: Peer { client.peer }

  /// The request that opened the connection, and the session that it continues.
  var opening: HTTPRequest {
    var request = handshake
    request.origin = HTTPRequest.Origin(
      server: server,
      session: session,
      hasScheduled: conversation.hasScheduled
    )
    return request
  }

  var request: HTTPRequest? { opening }
  var hasNotableOutput: Bool { client.hasNotableOutput }
  var isCongested: Bool { client.isCongested }

  func send(_ message: EncodedMessage) {
    guard let message = passed(message) else { return }
    copy = nil
    client.send(message)
  }

  /// Handles a message of a server, and returns what the client receives instead.
  private func passed(_ message: EncodedMessage) -> EncodedMessage? {
    firstLoss = nil
    // Several messages in one are changes of data.
    guard message.count == 1 else { return message }
    func decoded() -> ServerMessage? {
      message.texts.first.flatMap { try? ServerMessage(decoding: $0) }
    }
    switch message.withBeginning(upTo: ServerMessage.glanceBytes, ServerMessage.glance(at:)) {
    case .other: return message
    case .hello:
      if case .hello(let hello)? = decoded() { session = hello.session }
      return message
    case .listenRevoked:
      conversation.revoked(decoded())
      return message
    case .authenticationRevoked:
      conversation.signedOut()
      return message
    case .response(let id):
      guard conversation.awaitsAnswer else { return message }
      switch conversation.answered(id, decoded) {
      case .passes: return message
      case .isDropped: return nil
      case .isReplaced(let other): return EncodedMessage(other.encoded())
      }
    }
  }

  func allow(isStranger: Bool, messageBytes: Int) {
    client.allow(isStranger: isStranger, messageBytes: messageBytes)
  }

  func whenRelieved(_ body: @escaping () -> Void) { client.whenRelieved(body) }

  func keepAlive() { client.keepAlive() }

  var mayReturn: Bool { if case .ended = phase { false } else { true } }

  func setReading(_ isReading: Bool) {
    if case .served = phase { client.setReading(isReading) }
  }

  /// Closes the connection, or waits for the next server if the leader has changed.
  func close(code: UInt16, reason: String) {
    let mayWait = code == CloseCode.goingAway
    switch phase {
    case .waiting where mayWait: isTurnedAway = true
    case .served(let callbacks) where mayWait && isPatient:
      phase = .waiting
      firstLoss = firstLoss ?? .now()
      guard onLoss(self) else {
        phase = .served(callbacks)
        return client.close(code: code, reason: reason)
      }
      client.setReading(true)
      part(from: callbacks, because: reason)
    case .waiting:
      phase = .ended
      client.close(code: code, reason: reason)
    case .served, .ended: client.close(code: code, reason: reason)
    }
  }

  private var isPatient: Bool { firstLoss.map { .now() - $0 < Self.patience } ?? true }

  /// Tells a server that it no longer serves the client.
  private func part(from callbacks: ServerHandlers.Callbacks, because reason: String) {
    let end = ConnectionEnd(.closed, description: reason)
    eventLoop.assumeIsolated().execute { callbacks.onClose(end) }
  }
}
