internal import NIOCore
internal import RealtimeCore
internal import RealtimeTransport

/// Follows the data at a location, as a listening peer of the hub, for a client that reads events.
///
/// State: listening (the data is awaited) → open (pushes become events) → ended. Confined to the
/// server's event loop.
final class EventStream: InternalPeer, Schedulable {
  let account: SchedulerAccount
  var isWaiting = false
  /// The listen to request when the stream's turn comes.
  private var listen: ListenRequest?
  /// The size from which the first event is encoded off the event loop, in bytes.
  private static let largeBytes = 32 * 1_024

  private let request: RESTRequest
  private let core: DatabaseCore
  private let promise: EventLoopPromise<HTTPReply>
  private var peer: PeerID?
  /// The network whose share it counts towards, if it is a guest's.
  private var network: ClientNetwork?
  private var stream: HTTPStream?
  /// The data, until the first event has been sent.
  private var initial = Node.empty
  /// The first event, until it has been sent or the data has changed.
  private var first: [UInt8]?
  /// How many times the data has changed before the first event was sent.
  private var changes = 0
  private var isAccepted = false
  /// Whether the listen is delayed, because there is no memory for the first event.
  private var isHeldBack = false
  private var keepAlive: Scheduled<Void>?
  /// Whether changes are being dropped, because the client is behind.
  private var isBehind = false

  private init(_ request: RESTRequest, on core: DatabaseCore) {
    self.request = request
    self.core = core
    promise = core.eventLoop.makePromise()
    account = core.context.account(of: request.connection)
  }

  /// Opens a stream; the server keeps it alive until it ends.
  static func open(_ request: RESTRequest, on core: DatabaseCore) -> EventLoopFuture<HTTPReply> {
    let stream = EventStream(request, on: core)
    do throws(RESTError) {
      try stream.open()
      stream.listenWhenPossible()
    } catch {
      stream.promise.fail(error)
    }
    return stream.promise.futureResult
  }

  /// Becomes a peer, if there is room in the share of the client.
  ///
  /// Each event is encoded for each stream, so streams cost more than listens of WebSockets. Those
  /// of a user are limited with the user's connections.
  private func open() throws(RESTError) {
    let network = ClientNetwork(of: request.peer)
    let peer = try core.openInternal(self, for: request.credential, from: network)
    if let network, core.hub.identity(of: peer)?.isShared == true {
      guard core.context.beginGuestStream(from: network) else {
        core.closeInternal(peer)
        throw RESTError(429, reason: "the guests of this address have too many event streams")
      }
      self.network = network
    }
    self.peer = peer
  }

  /// Listens as soon as unread output leaves enough memory.
  private func listenWhenPossible() {
    guard peer != nil, !giveUp() else { return }
    isHeldBack = core.mustWait(toRead: request.path, isBehind: false)
    guard !isHeldBack else {
      return core.context.memory.whenRelieved { [weak self] in self?.listenWhenPossible() }
    }
    let query = request.query ?? .all
    listen = ListenRequest(
      path: request.path,
      query: query,
      tag: query.loadsAllData ? nil : 1
    )
    core.context.scheduler.request(by: self)
  }

  var isReady: Bool { listen != nil && peer != nil }

  func takeTurn() {
    guard !giveUp(), let listen, let peer else { return }
    self.listen = nil
    core.hand(.request(id: 1, .listen(listen)), from: peer)
  }

  /// Ends the stream if its client has left before it has begun; returns whether it has.
  private func giveUp() -> Bool {
    guard request.isGivenUp else { return false }
    close()
    return true
  }

  // MARK: Peer

  func receive(_ message: ServerMessage) {
    switch message {
    case .response(_, let response): listened(response)
    case .push(let push): pushed(push)
    case .hello, .reset, .shutdown, .error, .pong: break
    }
  }

  func disconnect(_ reason: DisconnectReason) {
    end()
  }

  func serverStops() {
    if isHeldBack { close() }
  }

  private func listened(_ response: ServerMessage.Response) {
    guard peer != nil, !isAccepted else { return }
    guard response.status == .ok else {
      promise.succeed(.answer(core.restError(response).answer))
      close()
      return
    }
    isAccepted = true
    let measure = NodeMeasure(of: initial, bytes: WorkerPool.longBytes)
    guard measure.bytes > Self.largeBytes else { return accept() }
    let (options, isSelection) = (request.options, request.query != nil)
    core.context.workers.perform(
      for: account,
      isLong: measure.isExceeded,
      mayBegin: { [memory = core.context.memory] in !memory.isExhausted(isWaiting: false) },
      isGivenUp: { [self] in giveUp() }
    ) { [initial] in
      StreamEvent.put(.root, options.json(of: initial, isSelection: isSelection)).text
    } then: { [changes] event in
      guard self.peer != nil else { return }
      // If the data has changed in the meantime, the event is made again.
      if changes == self.changes { self.first = event }
      self.accept()
    }
  }

  /// Opens the stream; its first event exists or can be made at once.
  private func accept() {
    guard makeFirstEvent() else {
      promise.succeed(.answer(RESTError.answerTooBig.answer))
      close()
      return
    }
    let head = HTTPAnswer(
      status: 200,
      contentType: "text/event-stream",
      headerLines: [
        HTTPAnswer.HeaderLine("Cache-Control", "no-cache"),
        // A proxy would keep events until its buffer is full.
        HTTPAnswer.HeaderLine("X-Accel-Buffering", "no"),
      ],
      body: []
    )
    let bound = NIOLoopBound(self, eventLoop: core.eventLoop)
    promise.succeed(
      .stream(head) { stream in
        bound.value.begin(stream)
        return { bound.value.close() }
      }
    )
  }

  private func pushed(_ push: ServerPush) {
    switch push {
    case .data(let path, let node, _):
      guard let relative = path.relative(to: request.path) else { return }
      guard stream != nil else { return update([Change(relative, to: node)]) }
      if leavesOut() { return }
      if relative.isPriority, request.options.form == .value { return }
      send(.put(relative, json(node, at: relative)))
    case .merge(let path, let changes, _):
      guard let relative = path.relative(to: request.path) else { return }
      guard stream != nil else {
        return update(changes.map { Change(relative.appending($0.path), to: $0.node) })
      }
      if leavesOut() { return }
      if let event = StreamEvent.patch(relative, changes: changes, form: request.options.form) {
        send(event)
      }
    case .listenRevoked: send(.cancel)
    case .authenticationRevoked(_, let reason): send(.authRevoked(reason))
    case .rangeMerge, .appCheckRevoked, .securityDebug, .unknown: break
    }
  }

  /// Updates the data before the first event has been sent.
  private func update(_ changes: [Change]) {
    first = nil
    self.changes += 1
    for change in changes { initial.update(at: change.path, to: change.node) }
  }

  /// Makes the first event unless it exists, and returns whether it is within the size limit of
  /// responses.
  private func makeFirstEvent() -> Bool {
    let event = first ?? StreamEvent.put(.root, json(initial, at: .root)).text
    first = event
    return event.count <= core.options.limits.responseBytes
  }

  // MARK: Stream

  private func begin(_ stream: HTTPStream) {
    // The data may have grown too large since the stream was accepted.
    guard peer != nil, makeFirstEvent(), let first else {
      stream.end()
      close()
      return
    }
    self.stream = stream
    stream.send(first)
    self.first = nil
    initial = .empty
    scheduleKeepAlive()
  }

  private func send(_ event: StreamEvent) {
    stream?.send(event.text)
    if event.isLast { end() }
  }

  /// Whether a change is dropped; the client gets the latest data once it has caught up.
  private func leavesOut() -> Bool {
    guard let stream, isBehind || stream.isCongested else { return false }
    core.metrics.coalesced += 1
    if !isBehind {
      isBehind = true
      stream.whenRelieved { [weak self] in self?.catchUp() }
    }
    return true
  }

  private func catchUp() {
    guard let peer else { return }
    isBehind = false
    for listen in core.hub.listens(of: peer) {
      guard case .deliver(_, let message)? = core.hub.currentData(of: peer, listen: listen) else {
        continue
      }
      receive(message)
    }
  }

  private func json(_ node: Node, at path: Path) -> JSONValue {
    request.options.json(of: node, isSelection: path.isRoot && request.query != nil)
  }

  private func scheduleKeepAlive() {
    let interval = TimeAmount.seconds(Int64(core.options.limits.streamSeconds))
    keepAlive = core.eventLoop.assumeIsolated().scheduleTask(in: interval) {
      self.send(.keepAlive)
      self.scheduleKeepAlive()
    }
  }

  private func end() {
    stream?.end()
    close()
  }

  private func close() {
    stream = nil
    keepAlive?.cancel()
    keepAlive = nil
    guard let peer else { return }
    self.peer = nil
    if let network { core.context.endGuestStream(from: network) }
    promise.fail(RESTError(503, reason: "the stream has ended"))
    core.closeInternal(peer)
  }
}

/// An event that is sent to a client of an event stream.
enum StreamEvent: Equatable {
  /// The data at a path, relative to the stream's location, has been replaced.
  case put(Path, JSONValue)
  /// The data at several paths below a path has been replaced, all at once.
  case patch(Path, [JSONMember])
  case keepAlive
  /// The data may no longer be read.
  case cancel
  /// The credential is no longer valid.
  case authRevoked(String)

  var text: [UInt8] {
    let (name, data): (String, JSONValue) =
      switch self {
      case .put(let path, let json):
        ("put", .object(("path", .string(path.description)), ("data", json)))
      case .patch(let path, let members):
        ("patch", .object(("path", .string(path.description)), ("data", .object(members))))
      case .keepAlive: ("keep-alive", .null)
      case .cancel: ("cancel", .null)
      case .authRevoked(let reason): ("auth_revoked", .string(reason))
      }
    return Array("event: \(name)\ndata: \(data.text)\n\n".utf8)
  }

  var isLast: Bool {
    switch self {
    case .put, .patch, .keepAlive: false
    case .cancel, .authRevoked: true
    }
  }

  /// The event for the changes of a merge, or nil if none of them is visible in the form.
  ///
  /// It names the deepest common path of the changes; keys below that are paths where necessary.
  static func patch(
    _ location: Path,
    changes: [Change],
    form: Node.JSONForm
  ) -> StreamEvent? {
    let shown = changes.filter { form == .export || !$0.path.isPriority }
    guard let first = shown.first else { return nil }
    var common = first.path.keys.dropLast()
    for change in shown.dropFirst() {
      let keys = change.path.keys.dropLast()
      let length = zip(common, keys).prefix { $0 == $1 }.count
      common = common.prefix(length)
    }
    let members = shown.map { change in
      let rest = Path(change.path.keys.dropFirst(common.count))
      return JSONMember(rest.wireText, change.node.json(form))
    }
    return .patch(location.appending(Path(common)), members)
  }
}
