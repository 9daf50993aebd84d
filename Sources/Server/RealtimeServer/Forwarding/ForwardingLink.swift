internal import Logging
internal import NIOCore
internal import RealtimeTransport

/// A connection to the server that leads databases whose clients have reached this one.
///
/// It carries the messages of all these clients side by side. State: connecting (what is sent
/// waits) → open → ended. When it ends, all exchanges over it end too: see ``ResumableClient``.
/// Confined to the event loop.
final class ForwardingLink {
  private enum Phase {
    case connecting(waiting: [[UInt8]])
    case open
    case ended
  }

  /// An exchange of a client with the other server.
  private final class Exchange {
    enum Client {
      case session(any MessageConnection)
      /// A request, and the head of its answer as soon as that has arrived.
      case request(EventLoopPromise<HTTPReply>, answer: HTTPAnswer?)
      /// A stream, and the pieces that arrived before it was opened.
      case stream(HTTPStream?, early: [[UInt8]])
      /// A part of this server.
      case receiver(any LinkReceiver)
    }

    var client: Client
    var assembler = LinkAssembler()
    /// Whether the other server was asked to stop sending for now.
    var isBehind = false
    /// Whether the other server accepts nothing for now.
    var isPaused = false
    /// Whether the client has not been allowed anything yet.
    var isStranger = true
    let database: String
    let begin = NIODeadline.now()
    /// Receives what the client of a session sends.
    var callbacks = ServerHandlers.Callbacks(onMessage: { _ in }, onClose: { _ in })
    /// What the client has sent while it is being taken over; nil at other times.
    var held: [[UInt8]]?
    /// Receives what the client has open once it is taken over.
    var onTakeOver: ((SessionState?) -> Void)?

    init(_ client: Client, about database: String) {
      self.client = client
      self.database = database
    }
  }

  /// Thrown when the other server has not carried out a request, since it does not lead the database
  /// or was not reached.
  struct NotLedThere: Error {
    var reason = "no server leads the database at the moment"
  }

  /// How often each end sends a sign of life.
  static let interval = TimeAmount.seconds(1)
  /// How long the other end may be silent: longer than any pause of a working server.
  static let patience = TimeAmount.seconds(6)

  let server: String
  private let context: ServerContext
  /// Called once when the link has ended.
  private let onEnd: () -> Void
  private var connection: ClientConnection?
  private var phase = Phase.connecting(waiting: [])
  private var exchanges: [Int: Exchange] = [:]
  private var lastNumber = 0
  /// The exchanges that the next messages belong to, unchanged, and the number of these messages.
  private var following: (count: Int, exchanges: [Int]) = (0, [])
  private var lastHeard = NIODeadline.now()
  private var beat: Scheduled<Void>?
  /// Whether clients wait until the other server has read more.
  private var isCongested = false

  /// Starts to connect; a ticket proves to the other server that this one may.
  init(
    to target: ConnectionTarget,
    server: String,
    ticket: String,
    trust: TrustRoots,
    context: ServerContext,
    onEnd: @escaping () -> Void
  ) {
    self.server = server
    self.context = context
    self.onEnd = onEnd
    let link = NIOLoopBound(self, eventLoop: context.eventLoop)
    connection = ClientConnection(
      to: target,
      parameters: "&\(LinkTicket.parameter)=\(ticket)",
      trust: trust,
      on: context.eventLoop,
      onMessage: { link.value.receive($0) },
      onClose: { link.value.ended($0) }
    )
    scheduleBeat()
  }

  /// Whether the other server has answered, and nothing has ended the link since.
  var isOpen: Bool { if case .open = phase { true } else { false } }

  /// The WebSockets that are forwarded.
  var sessions: [any MessageConnection] {
    exchanges.values.compactMap { if case .session(let client) = $0.client { client } else { nil } }
  }

  /// How many WebSockets and streams about a database are forwarded.
  func clientCount(of database: String) -> Int {
    exchanges.values.reduce(0) { count, exchange in
      switch exchange.client {
      case .session, .stream: exchange.database == database ? count + 1 : count
      case .request, .receiver: count
      }
    }
  }

  // MARK: Clients

  /// Forwards the messages of a client of a database, and returns those of the other server to it.
  func forward(_ client: ResumableClient, to database: String) -> ServerHandlers.Callbacks {
    context.connectionOpened()
    let exchange = Exchange(.session(client), about: database)
    let number = begin(exchange)
    send(.session, number, client.opening.linkHead)
    let link = NIOLoopBound(self, eventLoop: context.eventLoop)
    exchange.callbacks = ServerHandlers.Callbacks(
      onMessage: { link.value.sendMessage($0, number) },
      onExcess: { link.value.send(.excess, number, "\($0)".utf8) },
      onClose: { link.value.closed(number, because: $0) }
    )
    let bound = NIOLoopBound(exchange, eventLoop: context.eventLoop)
    return ServerHandlers.Callbacks(
      onMessage: { message in
        if bound.value.held?.append(message) == nil { bound.value.callbacks.onMessage(message) }
      },
      onExcess: { bound.value.callbacks.onExcess($0) },
      onClose: { bound.value.callbacks.onClose($0) }
    )
  }

  /// Takes over the reads of the forwarded WebSockets of a database.
  ///
  /// Messages that a client sends meanwhile are kept, and passed on to whoever serves it then.
  ///
  /// The body receives a connection, the number of its exchange, and what the client has open; it
  /// returns who receives further messages of the other server, and who receives those of the
  /// client.
  func takeOver(
    _ database: String,
    _ body:
      @escaping (any MessageConnection, Int, SessionState) -> (
        receiver: any LinkReceiver, callbacks: ServerHandlers.Callbacks
      )?
  ) {
    for (number, exchange) in exchanges where exchange.database == database {
      guard case .session(let client) = exchange.client, exchange.held == nil else { continue }
      exchange.held = []
      client.setReading(false)
      exchange.onTakeOver = { [weak self, weak exchange] state in
        guard let self, let exchange else { return }
        if let state, let taken = body(client, number, state) {
          exchange.client = .receiver(taken.receiver)
          exchange.callbacks = taken.callbacks
        }
        let held = exchange.held ?? []
        exchange.held = nil
        client.setReading(true)
        setReading(exchange)
        for message in held { exchange.callbacks.onMessage(message) }
      }
      send(.takeOver, number)
    }
  }

  /// Has a request about a database answered by the other server.
  ///
  /// The future fails with a ``RESTError`` if the link ends before, and with ``NotLedThere`` if the
  /// other server does not lead the database or was never reached.
  func forward(_ request: HTTPRequest, about database: String) -> EventLoopFuture<HTTPReply> {
    let promise = context.eventLoop.makePromise(of: HTTPReply.self)
    if case .ended = phase {
      promise.fail(Self.unreached)
      return promise.futureResult
    }
    let number = begin(Exchange(.request(promise, answer: nil), about: database))
    send(.request, number, request.linkHead)
    sendMessage(request.body, number)
    return promise.futureResult
  }

  /// Follows a database that the other server leads.
  ///
  /// - Returns: The number of the exchange, over which the other server tells what changes.
  func follow(_ database: String, _ receiver: any LinkReceiver) -> Int {
    let number = begin(Exchange(.receiver(receiver), about: database))
    send(.follow, number, database.utf8)
    return number
  }

  /// Opens a session at the other server for a client whose reads this one answers.
  func submit(_ request: HTTPRequest, to database: String, _ receiver: any LinkReceiver) -> Int {
    let number = begin(Exchange(.receiver(receiver), about: database))
    send(.submission, number, request.linkHead)
    return number
  }

  /// Ends an exchange from this side; a client that may return may be served in another way.
  ///
  /// Nothing happens if the exchange is over.
  func end(_ number: Int, mayReturn: Bool = false) {
    guard exchanges.removeValue(forKey: number) != nil else { return }
    send(mayReturn ? .part : .end, number, "it is no longer needed".utf8)
  }

  /// Tells the other server that it serves all remaining clients of a database.
  ///
  /// The closure receives whether the other server leads the database.
  func settle(_ database: String, _ body: @escaping (Bool) -> Void) {
    guard isOpen else { return body(false) }
    let number = begin(Exchange(.receiver(Settlement(body)), about: database))
    send(.settled, number, database.utf8)
  }

  /// Waits for confirmation that a database is led at the other end.
  private final class Settlement: LinkReceiver {
    private let body: (Bool) -> Void

    init(_ body: @escaping (Bool) -> Void) { self.body = body }

    func receive(_ message: [UInt8]) {}

    func ended(code: UInt16, reason: String) { body(code == CloseCode.normal) }
  }

  /// Ends the WebSocket that needs its place least, if any: the oldest with nothing allowed so far.
  func makeRoom() -> Bool {
    let oldest = exchanges.values.filter { exchange in
      if case .session = exchange.client { exchange.isStranger } else { false }
    }.min { $0.begin < $1.begin }
    guard case .session(let client)? = oldest?.client else { return false }
    client.close(code: CloseCode.tryAgainLater, reason: "the server needs its place for others")
    return true
  }

  /// Ends all exchanges about a database that the other server no longer leads.
  func leave(_ database: String) {
    for (number, exchange) in exchanges where exchange.database == database {
      send(.part, number, "the database is led elsewhere".utf8)
      end(number, exchange, code: CloseCode.goingAway, reason: "another server leads the database")
    }
  }

  private func begin(_ exchange: Exchange) -> Int {
    lastNumber += 1
    exchanges[lastNumber] = exchange
    return lastNumber
  }

  /// Forgets a client that has gone.
  private func closed(_ number: Int, because end: ConnectionEnd) {
    guard let exchange = exchanges.removeValue(forKey: number) else { return }
    send(.end, number, "\(end)".utf8)
    if case .session = exchange.client { context.connectionClosed() }
  }

  // MARK: Sending

  private func send(_ kind: LinkFrame.Kind, _ number: Int, _ payload: some Collection<UInt8> = []) {
    send(LinkFrame.bytes(kind, number, payload))
  }

  func sendMessage(_ message: [UInt8], _ number: Int) {
    guard exchanges[number] != nil else { return }
    for frame in LinkFrame.frames(of: message, number) { send(frame) }
    pauseClients()
  }

  private func send(_ frame: [UInt8]) {
    switch phase {
    case .connecting(var waiting):
      // Appending copies nothing while the phase does not hold the array, too.
      phase = .ended
      waiting.append(frame)
      phase = .connecting(waiting: waiting)
    case .open: connection?.send(frame)
    case .ended: break
    }
  }

  /// Reads nothing more from any client until the other server has read what they have sent.
  private func pauseClients() {
    guard !isCongested, case .open = phase, connection?.isCongested == true else { return }
    isCongested = true
    setReading()
    connection?.whenRelieved { [weak self] in
      self?.isCongested = false
      self?.setReading()
    }
  }

  private func setReading() {
    for exchange in exchanges.values { setReading(exchange) }
  }

  private func setReading(_ exchange: Exchange) {
    let isReading = !isCongested && !exchange.isPaused
    switch exchange.client {
    case .session(let client): client.setReading(isReading)
    case .receiver(let receiver): receiver.setReading(isReading)
    case .request, .stream: break
    }
  }

  // MARK: Receiving

  private func receive(_ bytes: [UInt8]) {
    lastHeard = .now()
    if following.count > 0 {
      following.count -= 1
      return deliver(bytes, toAll: following.exchanges)
    }
    guard let frame = LinkFrame(bytes) else { return connection?.close() ?? () }
    if frame.kind == .whole {
      guard let announced = frame.following else { return connection?.close() ?? () }
      return following = announced
    }
    if frame.kind == .beat { return opened() }
    // The other server may speak to a client that has gone in the meantime.
    guard let exchange = exchanges[frame.exchange] else { return }
    take(frame, for: exchange)
  }

  private func take(_ frame: LinkFrame, for exchange: Exchange) {
    let number = frame.exchange
    switch frame.kind {
    case .piece, .message:
      if let message = exchange.assembler.take(frame) { deliver(message, to: exchange, number) }
    case .answer, .stream: answered(frame, exchange)
    case .hold, .resume:
      exchange.isPaused = frame.kind == .hold
      setReading(exchange)
    case .limits:
      let numbers = frame.payload.split(separator: 0x20)
        .map { Int(String(decoding: $0, as: UTF8.self)) }
      guard case .session(let client) = exchange.client, numbers.count == 2,
        let isStranger = numbers[0], let bytes = numbers[1]
      else { return }
      exchange.isStranger = isStranger == 1
      client.allow(isStranger: isStranger == 1, messageBytes: bytes)
    case .takeOver:
      exchange.onTakeOver.take()?(SessionState(frame.payload))
    case .end: ended(frame, exchange)
    case .elsewhere:
      guard case .request(let promise, nil) = exchange.client else { return }
      exchanges[number] = nil
      promise.fail(NotLedThere())
    case .session, .submission, .request, .follow, .whole, .excess, .part, .settled, .beat: break
    }
  }

  /// The other server has greeted this one, or has sent a sign of life.
  private func opened() {
    guard case .connecting(let waiting) = phase else { return }
    phase = .open
    for frame in waiting { connection?.send(frame) }
    pauseClients()
  }

  private func answered(_ frame: LinkFrame, _ exchange: Exchange) {
    guard case .request(let promise, nil) = exchange.client,
      let answer = HTTPAnswer(linkHead: frame.payload)
    else { return }
    guard frame.kind == .stream else {
      exchange.client = .request(promise, answer: answer)
      return
    }
    exchange.client = .stream(nil, early: [])
    let number = frame.exchange
    let link = NIOLoopBound(self, eventLoop: context.eventLoop)
    let end = ConnectionEnd(.lost, description: "the client has left")
    promise.succeed(
      .stream(answer) { stream in
        link.value.open(stream, number)
        return { link.value.closed(number, because: end) }
      }
    )
  }

  private func open(_ stream: HTTPStream, _ number: Int) {
    guard let exchange = exchanges[number], case .stream(_, let early) = exchange.client else {
      // The other server has ended it meanwhile.
      return stream.end()
    }
    exchange.client = .stream(stream, early: [])
    for piece in early { deliver(piece, to: exchange, number) }
  }

  /// Encodes a message once and passes it on to several clients.
  private func deliver(_ message: [UInt8], toAll numbers: [Int]) {
    let encoded = EncodedMessage(message)
    for number in numbers {
      guard let exchange = exchanges[number] else { continue }
      guard case .session(let client) = exchange.client else {
        deliver(message, to: exchange, number)
        continue
      }
      client.send(encoded)
      hold(exchange, number, client.isCongested) { client.whenRelieved($0) }
    }
  }

  /// Passes a message on to the client.
  private func deliver(_ message: [UInt8], to exchange: Exchange, _ number: Int) {
    switch exchange.client {
    case .session(let client):
      client.send(EncodedMessage(message))
      hold(exchange, number, client.isCongested) { client.whenRelieved($0) }
    case .request(let promise, var answer?):
      answer.body = message
      exchanges[number] = nil
      promise.succeed(.answer(answer))
    case .stream(let stream?, _):
      stream.send(message)
      hold(exchange, number, stream.isCongested) { stream.whenRelieved($0) }
    case .stream(nil, let early): exchange.client = .stream(nil, early: early + [message])
    case .receiver(let receiver): receiver.receive(message)
    case .request(_, nil): break
    }
  }

  /// Asks the other server to wait while a client does not keep up.
  private func hold(
    _ exchange: Exchange,
    _ number: Int,
    _ isBehind: Bool,
    whenRelieved: (@escaping () -> Void) -> Void
  ) {
    guard isBehind, !exchange.isBehind else { return }
    exchange.isBehind = true
    send(.hold, number)
    whenRelieved { [weak self, weak exchange] in
      exchange?.isBehind = false
      self?.send(.resume, number)
    }
  }

  /// The other server has ended an exchange.
  private func ended(_ frame: LinkFrame, _ exchange: Exchange) {
    let parts = frame.payload.split(separator: 0x20, maxSplits: 1)
      .map { String(decoding: $0, as: UTF8.self) }
    let code = parts.first.flatMap { UInt16($0) } ?? CloseCode.goingAway
    end(frame.exchange, exchange, code: code, reason: parts.count > 1 ? parts[1] : "")
  }

  private func end(_ number: Int, _ exchange: Exchange, code: UInt16, reason: String) {
    exchanges[number] = nil
    switch exchange.client {
    case .session(let client):
      context.connectionClosed()
      client.close(code: code, reason: reason)
    case .request(let promise, _): promise.fail(Self.loss)
    case .stream(let stream, _): stream?.end()
    case .receiver(let receiver): receiver.ended(code: code, reason: reason)
    }
  }

  // MARK: Ending

  /// Ends the link and all exchanges.
  func close() {
    connection?.close()
  }

  private static let unreached = NotLedThere(
    reason: "the server that leads the database cannot be reached"
  )

  private static let loss = RESTError(
    503,
    reason:
      "the server that leads the database was lost before it answered: what was written may be "
      + "stored or not"
  )

  private func scheduleBeat() {
    beat = context.eventLoop.assumeIsolated().scheduleTask(in: Self.interval) { [weak self] in
      guard let self else { return }
      if NIODeadline.now() - lastHeard > Self.patience { return close() }
      send(.beat, 0)
      scheduleBeat()
    }
  }

  private func ended(_ end: ConnectionEnd) {
    if case .ended = phase { return }
    // Until a lost leader is replaced, it is tried many times.
    let wasOpen = isOpen
    let level: Logger.Level = wasOpen ? .notice : .debug
    phase = .ended
    beat?.cancel()
    connection = nil
    if case .insecure = end.kind {
      context.noteOnce(
        "a server that leads databases is not trusted: \(end) (--tls-ca names the authority of its "
          + "certificate, and --redirect sends clients there instead)"
      )
    }
    context.logger.log(
      level: level,
      "a link to another server has ended: \(end)",
      metadata: ["exchanges": "\(exchanges.count)"]
    )
    for (number, exchange) in exchanges {
      // Until the other server has greeted this one, nothing is sent.
      if !wasOpen, case .request(let promise, _) = exchange.client {
        exchanges[number] = nil
        promise.fail(Self.unreached)
        continue
      }
      self.end(
        number,
        exchange,
        code: CloseCode.goingAway,
        reason: "the server that leads the database was lost"
      )
    }
    onEnd()
  }
}

/// A part of this server that talks to the other one over a link.
protocol LinkReceiver: AnyObject {
  func receive(_ message: [UInt8])

  /// Called when the other server stops accepting messages for now, or accepts them again.
  func setReading(_ isReading: Bool)

  /// Called when the exchange has ended from the other side, or the link has.
  func ended(code: UInt16, reason: String)
}

extension LinkReceiver {
  func setReading(_ isReading: Bool) {}
}
