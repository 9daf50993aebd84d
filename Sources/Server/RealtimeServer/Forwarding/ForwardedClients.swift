internal import Logging
internal import NIOCore
internal import RealtimeTransport

/// The server to which another one forwards clients.
protocol ForwardingHost: AnyObject {
  var eventLoop: any EventLoop { get }
  var logger: Logger { get }

  func name(in request: HTTPRequest) -> String

  /// A database by its name; the future fails at once unless this server leads it.
  func ledDatabase(_ name: String) -> EventLoopFuture<DatabaseCore>

  /// Answers a request; the future fails if this server does not lead its database.
  func answerForwarded(_ request: HTTPRequest) -> EventLoopFuture<HTTPReply>

  /// Called when a link has ended, with all that went over it.
  func ended(_ clients: ForwardedClients)
}

/// The clients that another server forwards to this one over a link; confined to the event loop.
///
/// Each counts as a client of this server, with the address and the credentials that it presented
/// to the other one, which has also checked the limits for connections.
final class ForwardedClients {
  private let link: any MessageConnection
  /// The run of the other server.
  private let origin: String
  private let host: any ForwardingHost
  private var sessions: [Int: ForwardedSession] = [:]
  private var streams: [Int: ForwardedStream] = [:]
  /// The databases that the other server follows.
  private var followers: [Int: ForwardedFollower] = [:]
  /// The databases whose sessions were refused, although the other server may think otherwise.
  private var refused: Set<String> = []
  /// The requests whose body has not arrived yet.
  private var requests: [Int: (head: [UInt8], assembler: LinkAssembler)] = [:]
  private var lastHeard = NIODeadline.now()
  private var watch: Scheduled<Void>?
  private var hasEnded = false
  /// Called once the other server has read more.
  private var waiting: [() -> Void] = []
  /// A message for many clients in a row, which is sent over the link once, at the end of the turn.
  private var shared: EncodedMessage?
  /// The exchanges that the shared message is for.
  private var sharing: [Int] = []

  init(_ link: any MessageConnection, from origin: String, to host: any ForwardingHost) {
    self.link = link
    self.origin = origin
    self.host = host
    link.allow(isStranger: false, messageBytes: 2 * LinkFrame.pieceBytes)
    send(.beat, 0)
    scheduleWatch()
  }

  // MARK: Sending

  func send(_ kind: LinkFrame.Kind, _ number: Int, _ payload: some Collection<UInt8> = []) {
    send(LinkFrame.bytes(kind, number, payload))
  }

  func sendMessage(_ message: [UInt8], _ number: Int) {
    for frame in LinkFrame.frames(of: message, number) { send(frame) }
  }

  private func send(_ frame: [UInt8]) {
    sendShared()
    link.send(EncodedMessage(frame))
  }

  /// Sends a message that is already encoded for a client.
  func send(_ message: EncodedMessage, _ number: Int) {
    if shared?.isSame(as: message) == true, sharing.count < LinkFrame.mostSharing {
      return sharing.append(number)
    }
    sendShared()
    shared = message
    sharing.append(number)
    host.eventLoop.assumeIsolated().execute { [weak self] in self?.sendShared() }
  }

  private func sendShared() {
    guard let message = shared else { return }
    link.send(EncodedMessage(LinkFrame.announcement(of: message.count, to: sharing)))
    link.send(message)
    shared = nil
    sharing.removeAll(keepingCapacity: true)
  }

  var isCongested: Bool { link.isCongested }

  /// Calls a closure once, as soon as the other server has read most of what was sent.
  func whenRelieved(_ body: @escaping () -> Void) {
    waiting.append(body)
    guard waiting.count == 1 else { return }
    link.whenRelieved { [weak self] in
      guard let self else { return }
      let bodies = waiting
      waiting = []
      for body in bodies { body() }
    }
  }

  // MARK: Receiving

  func receive(_ bytes: [UInt8]) {
    lastHeard = .now()
    guard let frame = LinkFrame(bytes) else {
      return link.close(code: CloseCode.goingAway, reason: "the other server spoke otherwise")
    }
    let number = frame.exchange
    switch frame.kind {
    case .beat: send(.beat, 0)
    case .session, .submission: open(frame)
    case .takeOver:
      sessions[number]?.takeOver { [weak self] state in
        self?.send(.takeOver, number, state?.encoded ?? [])
      }
    case .follow: follow(String(decoding: frame.payload, as: UTF8.self), number)
    case .request: requests[number] = (Array(frame.payload), LinkAssembler())
    case .piece, .message:
      if let session = sessions[number] {
        session.receive(frame)
      } else if let follower = followers[number] {
        follower.confirm(frame.payload)
      } else if let body = requests[number]?.assembler.take(frame),
        let request = requests.removeValue(forKey: number)
      {
        answer(number, head: request.head, body: body)
      }
    case .hold, .resume:
      sessions[number]?.output.isHeld = frame.kind == .hold
      streams[number]?.output.isHeld = frame.kind == .hold
    case .excess:
      if let id = Int64(String(decoding: frame.payload, as: UTF8.self)) {
        sessions[number]?.skipped(id)
      }
    case .end, .part:
      let end = ConnectionEnd(.lost, description: String(decoding: frame.payload, as: UTF8.self))
      requests[number] = nil
      sessions.removeValue(forKey: number)?.ended(end, mayReturn: frame.kind == .part)
      streams.removeValue(forKey: number)?.stream?.ended()
      followers.removeValue(forKey: number)?.end()
    case .settled: settle(String(decoding: frame.payload, as: UTF8.self), number)
    case .answer, .stream, .whole, .limits, .elsewhere: break
    }
  }

  private func open(_ frame: LinkFrame) {
    let number = frame.exchange
    guard let request = HTTPRequest(linkHead: frame.payload, body: [], from: origin) else {
      return send(.end, number, "\(CloseCode.goingAway) the request is malformed".utf8)
    }
    let session = ForwardedSession(request, number, of: self, on: host.eventLoop)
    sessions[number] = session
    let name = host.name(in: request)
    host.ledDatabase(name).assumeIsolated().whenComplete { [weak self] result in
      guard let self, sessions[number] === session else { return }
      switch result {
      case .success(let database):
        session.begin(at: database, readsElsewhere: frame.kind == .submission)
      case .failure:
        // The other server finds out who leads the database.
        refused.insert(name)
        session.close(code: CloseCode.goingAway, reason: "this server does not lead the database")
      }
    }
  }

  private func answer(_ number: Int, head: [UInt8], body: [UInt8]) {
    guard let request = HTTPRequest(linkHead: head, body: body, from: origin) else {
      return send(.end, number)
    }
    host.answerForwarded(request).assumeIsolated().whenComplete { [weak self] result in
      switch result {
      case .success(let reply): self?.send(reply, number)
      case .failure: self?.send(.elsewhere, number)
      }
    }
  }

  private func send(_ reply: HTTPReply, _ number: Int) {
    switch reply {
    case .answer(let answer):
      send(.answer, number, answer.linkHead)
      sendMessage(answer.body, number)
    case .stream(let answer, let open):
      guard !hasEnded else { return }
      send(.stream, number, answer.linkHead)
      let carrier = ForwardedStream(number, of: self)
      let stream = HTTPStream(carrier, on: host.eventLoop)
      carrier.stream = stream
      streams[number] = carrier
      stream.open(open)
    }
  }

  /// Lets the other server follow a database.
  private func follow(_ name: String, _ number: Int) {
    host.ledDatabase(name).assumeIsolated().whenComplete { [weak self] result in
      guard let self, !hasEnded else { return }
      guard case .success(let database) = result else {
        return ended(number, code: CloseCode.goingAway, reason: "this server does not lead it")
      }
      followers[number] = ForwardedFollower(of: database, number, over: self)
    }
  }

  /// Ends the sessions of a database that the other server has not continued.
  ///
  /// If this server has begun to lead the database after it refused sessions, the other one learns
  /// of that only now, and forwards them again.
  private func settle(_ name: String, _ number: Int) {
    host.ledDatabase(name).assumeIsolated().whenComplete { [weak self] result in
      guard let self else { return }
      let isComplete = refused.remove(name) == nil
      guard case .success(let database) = result, isComplete, database.settle(origin) else {
        return ended(number, code: CloseCode.goingAway, reason: "this server does not lead it")
      }
      ended(number, code: CloseCode.normal, reason: "")
    }
  }

  // MARK: Ending

  /// Forgets a session that this server has closed, or a stream that it has ended.
  func ended(_ number: Int, code: UInt16, reason: String) {
    sessions[number] = nil
    streams[number] = nil
    followers[number] = nil
    send(.end, number, "\(code) \(reason)".utf8)
  }

  /// Ends the exchanges of a link that has ended.
  func ended(_ end: ConnectionEnd) {
    guard !hasEnded else { return }
    hasEnded = true
    watch?.cancel()
    host.ended(self)
    host.logger.notice(
      "a link from another server has ended: \(end)",
      metadata: ["clients": "\(sessions.count)"]
    )
    let (sessions, streams, followers) = (sessions, streams, followers)
    self.sessions = [:]
    self.streams = [:]
    self.followers = [:]
    for session in sessions.values { session.ended(end, mayReturn: true) }
    for stream in streams.values { stream.stream?.ended() }
    for follower in followers.values { follower.end() }
  }

  func close() {
    sendShared()
    link.close(code: CloseCode.goingAway, reason: "the server is stopping")
  }

  private func scheduleWatch() {
    watch = host.eventLoop.assumeIsolated().scheduleTask(in: ForwardingLink.interval) {
      [weak self] in
      guard let self else { return }
      guard NIODeadline.now() - lastHeard <= ForwardingLink.patience else {
        return link.close(code: CloseCode.goingAway, reason: "the other server is silent")
      }
      scheduleWatch()
    }
  }
}

/// Whether a client of another server can take more, and who waits for that.
///
/// A class, because a closure that is called when more may be sent can wait again.
final class ForwardedOutput {
  /// Whether the other server has asked to stop sending for now.
  var isHeld = false {
    didSet {
      guard !isHeld, let onRelief else { return }
      self.onRelief = nil
      onRelief()
    }
  }

  private var onRelief: (() -> Void)?

  /// Calls a closure once, as soon as more may be sent.
  func whenRelieved(over link: ForwardedClients?, _ body: @escaping () -> Void) {
    if isHeld { onRelief = body } else { link?.whenRelieved(body) }
  }
}

/// The connection of a client to another server, as this one sees it.
final class ForwardedSession: MessageConnection {
  let peer: Peer
  private(set) var request: HTTPRequest?
  let output = ForwardedOutput()
  private let number: Int
  private weak var link: ForwardedClients?
  private let eventLoop: any EventLoop
  private var callbacks: ServerHandlers.Callbacks?
  private var assembler = LinkAssembler()
  private var isPaused = false
  private var hasEnded = false
  /// Whether the other server may serve the client in another way.
  private(set) var mayReturn = false
  /// What has arrived while reading was paused.
  private var inbox = CircularBuffer<Arrival>(initialCapacity: 1)

  private enum Arrival {
    case message([UInt8])
    case excess(Int64)
    case takeOver((SessionState?) -> Void)
  }

  private weak var database: DatabaseCore?
  private weak var session: Session?

  init(
    _ request: HTTPRequest,
    _ number: Int,
    of link: ForwardedClients,
    on eventLoop: any EventLoop
  ) {
    peer = request.peer
    self.request = request
    self.number = number
    self.link = link
    self.eventLoop = eventLoop
  }

  /// Has the session accepted, and delivers what has arrived meanwhile.
  func begin(at database: DatabaseCore, readsElsewhere: Bool) {
    let session = database.connect(self, readsElsewhere: readsElsewhere)
    let callbacks = database.callbacks(of: session.peer)
    self.database = database
    self.session = session
    request = nil
    guard !hasEnded else {
      return callbacks.onClose(ConnectionEnd(.closed, description: "closed while accepted"))
    }
    self.callbacks = callbacks
    deliver()
  }

  func receive(_ frame: LinkFrame) {
    guard let message = assembler.take(frame) else { return }
    inbox.append(.message(message))
    deliver()
  }

  /// Gives up what the client reads, after everything that it has said before.
  ///
  /// The body receives what the client has open; nil if it stays here.
  func takeOver(_ body: @escaping (SessionState?) -> Void) {
    inbox.append(.takeOver(body))
    deliver()
  }

  func skipped(_ id: Int64) {
    inbox.append(.excess(id))
    deliver()
  }

  private func deliver() {
    while !isPaused, let callbacks, let next = inbox.popFirst() {
      switch next {
      case .message(let message): callbacks.onMessage(message)
      case .excess(let id): callbacks.onExcess(id)
      case .takeOver(let body):
        if let database, let session {
          database.giveUpReads(of: session, body)
        } else {
          body(nil)
        }
      }
    }
  }

  /// Reports that the client, or the connection to it, is gone.
  func ended(_ end: ConnectionEnd, mayReturn: Bool) {
    guard !hasEnded else { return }
    hasEnded = true
    self.mayReturn = mayReturn
    inbox.removeAll()
    callbacks?.onClose(end)
    callbacks = nil
  }

  // MARK: MessageConnection

  var isCongested: Bool { output.isHeld || link?.isCongested == true }

  var hasNotableOutput: Bool { isCongested }

  func send(_ message: EncodedMessage) {
    guard !hasEnded else { return }
    link?.send(message, number)
  }

  func allow(isStranger: Bool, messageBytes: Int) {
    link?.send(.limits, number, "\(isStranger ? 1 : 0) \(messageBytes)".utf8)
  }

  func whenRelieved(_ body: @escaping () -> Void) {
    output.whenRelieved(over: link) { [weak self] in
      guard let self, !hasEnded else { return }
      // The client and the link take turns at being behind.
      if isCongested { whenRelieved(body) } else { body() }
    }
  }

  /// The other server keeps the connection alive.
  func keepAlive() {}

  func setReading(_ isReading: Bool) {
    guard isPaused == isReading else { return }
    isPaused = !isReading
    link?.send(isReading ? .resume : .hold, number)
    deliver()
  }

  func close(code: UInt16, reason: String) {
    guard !hasEnded else { return }
    link?.ended(number, code: code, reason: reason)
    let end = ConnectionEnd(.closed, description: reason)
    eventLoop.assumeIsolated().execute {
      self.ended(end, mayReturn: code == CloseCode.goingAway)
    }
  }
}

/// The streamed answer to a client of another server.
final class ForwardedStream: HTTPStreamCarrier {
  let output = ForwardedOutput()
  weak var stream: HTTPStream?
  private let number: Int
  private weak var link: ForwardedClients?

  init(_ number: Int, of link: ForwardedClients) {
    self.number = number
    self.link = link
  }

  var isCongested: Bool { output.isHeld || link?.isCongested == true }

  func whenRelieved(_ body: @escaping () -> Void) {
    output.whenRelieved(over: link, body)
  }

  func sendPart(_ bytes: [UInt8]) {
    guard !bytes.isEmpty else { return }
    link?.sendMessage(bytes, number)
  }

  func endStream() {
    let stream = stream
    link?.ended(number, code: CloseCode.normal, reason: "")
    stream?.ended()
  }
}

/// Another server that follows a database led here.
final class ForwardedFollower: Follower {
  private let database: DatabaseCore
  private let number: Int
  private weak var link: ForwardedClients?

  /// Starts to send the other server what becomes durable.
  init(of database: DatabaseCore, _ number: Int, over link: ForwardedClients) {
    self.database = database
    self.number = number
    self.link = link
    send(.beginning(revision: database.hub.revision, lineage: database.batcher.progress.lineage))
    database.batcher.progress.followers.append(self)
  }

  /// Confirms a mark: everything that was acknowledged before it arrived has been sent.
  ///
  /// If another server may lead the database, more may have been acknowledged, and nothing is
  /// confirmed.
  func confirm(_ mark: some Collection<UInt8>) {
    guard database.isAnswering, let number = Int(String(decoding: mark, as: UTF8.self)) else {
      return
    }
    send(.mark(number))
  }

  func tell(_ batch: CommitBatch) {
    // Rules come first: they may forbid some clients what the batch holds.
    if let rules = batch.rules { send(.rules(source: rules)) }
    if !batch.commits.isEmpty { send(.commits(batch.commits)) }
  }

  private func send(_ message: FollowerMessage) {
    do throws(StoreError) {
      link?.sendMessage(try message.encoded(), number)
    } catch {
      leaderEnded()
    }
  }

  func leaderEnded() {
    link?.ended(number, code: CloseCode.goingAway, reason: "another server may lead the database")
  }

  func end() {
    database.batcher.progress.followers.removeAll { $0 === self }
  }
}
