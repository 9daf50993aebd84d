internal import Logging
internal import NIOCore
internal import RealtimeHub
internal import RealtimeProtocol
internal import RealtimeTransport
internal import RealtimeTree

/// The hub of a server with its connections; confined to the server's event loop.
///
/// State: running → stopping (says goodbye, stores the last batch) → stopped.
final class ServerCore {
  enum Phase {
    case running
    case stopping
    case stopped
  }

  /// Called once when everything is closed.
  var onStopped: () -> Void = {}

  let eventLoop: any EventLoop
  let options: DatabaseServer.Options
  let logger: Logger
  let thread: StoreThread
  let batcher: WriteBatcher
  var phase = Phase.running
  var listeners: [ServerListener] = []
  var idle: Scheduled<Void>?
  private(set) var hub: TreeHub
  private(set) var sessions: [PeerID: Session] = [:]
  /// The peers that live in the server: requests under way and event streams.
  private(set) var internalPeers: [PeerID: any InternalPeer] = [:]
  /// Whether, at the end, all connections that are not WebSockets are closed.
  var hasClosedPlainConnections = false
  /// Whether the last batch before the end could not be stored.
  private(set) var hasGivenUp = false
  private var isStoreFailing = false
  private let clock: @Sendable () -> Int64
  private var peersByName: [String: PeerID] = [:]
  private var lastPeer = 0
  private var encoder = OutputEncoder()
  private var outputs = CircularBuffer<HubOutput>()
  private var isPerforming = false
  private var pushIDs = PushIDGenerator()

  init(
    stored: StoredTree,
    thread: StoreThread,
    options: DatabaseServer.Options,
    logger: Logger,
    clock: @escaping @Sendable () -> Int64
  ) {
    hub = TreeHub(stored: stored)
    // What connections of an earlier run had scheduled for their ends is applied now.
    hub.resume(at: clock())
    self.thread = thread
    self.options = options
    self.logger = logger
    self.clock = clock
    eventLoop = thread.eventLoop
    batcher = WriteBatcher(thread: thread)
    batcher.takeBatch = { [weak self] in self?.hub.takeBatch() }
    batcher.onOutcome = { [weak self] in self?.settle($0) }
    batcher.onIdle = { [weak self] in self?.continueStopping() }
  }

  // MARK: Connections

  /// Decides on a request for a WebSocket.
  func admit(_ request: HTTPRequest) -> HTTPAnswer? {
    if let namespace = request.parameter("ns"), namespace != options.namespace {
      return HTTPAnswer(status: 404, error: "there is no database of this name here")
    }
    guard phase == .running else { return HTTPAnswer(status: 503, error: "the server is stopping") }
    guard sessions.count < options.maximumConnections else {
      return HTTPAnswer(status: 503, error: "the server has too many connections")
    }
    return nil
  }

  /// Greets a new connection.
  func accept(_ connection: ServerConnection) -> ServerHandlers.Callbacks {
    lastPeer += 1
    let peer = PeerID(lastPeer)
    let name = Session.makeName()
    if let last = connection.request.parameter("ls") { retire(last) }
    sessions[peer] = Session(connection: connection, name: name)
    peersByName[name] = peer
    idle?.cancel()
    idle = nil
    hub.open(peer)
    let host = connection.request.header("Host") ?? "localhost"
    let hello = TreeHub.hello(timestamp: clock(), host: host, session: name)
    connection.send(EncodedMessage(ServerMessage.hello(hello).encoded()))
    logger.debug("connected", metadata: ["peer": "\(peer)", "from": "\(connection.peer)"])
    if phase != .running { connection.close(code: 1_001, reason: "the server is stopping") }
    let core = NIOLoopBound(self, eventLoop: eventLoop)
    return ServerHandlers.Callbacks(
      onMessage: { core.value.receive($0, from: peer) },
      onClose: { core.value.closed(peer, $0) }
    )
  }

  /// Ends the connection that a new one takes the place of.
  private func retire(_ name: String) {
    guard let peer = peersByName[name], let session = sessions[peer] else { return }
    forget(peer)
    perform(hub.close(peer, at: clock()))
    session.connection.close(code: 1_000, reason: "a newer connection took its place")
  }

  private func receive(_ bytes: [UInt8], from peer: PeerID) {
    guard sessions[peer] != nil else { return }
    do throws(MessageError) {
      let message = try ClientMessage(decoding: bytes)
      perform(hub.handle(message, from: peer, at: clock()))
    } catch {
      logger.debug("undecodable message", metadata: ["peer": "\(peer)"])
      perform(hub.handle(undecodable: error, from: peer))
      if error.requestID == nil {
        sessions[peer]?.connection.close(code: 1_002, reason: "a message cannot be understood")
      }
    }
    slowDown(peer)
  }

  private func closed(_ peer: PeerID, _ end: ConnectionEnd) {
    logger.debug("disconnected", metadata: ["peer": "\(peer)", "reason": "\(end)"])
    guard sessions[peer] != nil else {
      connectionsChanged()
      return
    }
    forget(peer)
    perform(hub.close(peer, at: clock()))
    connectionsChanged()
  }

  private func forget(_ peer: PeerID) {
    guard let session = sessions.removeValue(forKey: peer) else { return }
    peersByName[session.name] = nil
  }

  // MARK: Internal peers

  /// Adds a peer that lives in the server.
  func openInternal(_ peer: any InternalPeer) -> PeerID {
    lastPeer += 1
    let id = PeerID(lastPeer)
    internalPeers[id] = peer
    idle?.cancel()
    idle = nil
    hub.open(id)
    return id
  }

  /// Hands a message of such a peer to the hub.
  func hand(_ message: ClientMessage, from peer: PeerID) {
    perform(hub.handle(message, from: peer, at: clock()))
  }

  /// Removes such a peer.
  func closeInternal(_ peer: PeerID) {
    guard internalPeers.removeValue(forKey: peer) != nil else { return }
    perform(hub.close(peer, at: clock()))
    connectionsChanged()
  }

  /// A new key for a child that is added.
  func makePushID() -> String {
    var random = SystemRandomNumberGenerator()
    return pushIDs.next(time: clock()) { UInt8.random(in: 0..<64, using: &random) }
  }

  // MARK: Flow

  /// Lets a client wait that has sent much since the last batch was stored.
  private func slowDown(_ peer: PeerID) {
    guard batcher.isBusy, var session = sessions[peer] else { return }
    session.unsettledMessages += 1
    if session.unsettledMessages >= Session.unsettledLimit, !session.isPaused {
      session.isPaused = true
      session.connection.setReading(false)
    }
    sessions[peer] = session
  }

  private func speedUp() {
    for (peer, session) in sessions where session.unsettledMessages > 0 {
      sessions[peer]?.unsettledMessages = 0
      guard session.isPaused else { continue }
      sessions[peer]?.isPaused = false
      session.connection.setReading(true)
    }
  }

  /// Does what the hub wants; what is wanted meanwhile comes after everything that was before.
  private func perform(_ wanted: [HubOutput]) {
    outputs.append(contentsOf: wanted)
    if hub.hasPendingCommits { batcher.wake() }
    guard !isPerforming else { return }
    isPerforming = true
    while let output = outputs.popFirst() { perform(output) }
    isPerforming = false
  }

  private func perform(_ output: HubOutput) {
    switch output {
    case .send(let peer, let bytes):
      if let session = sessions[peer] {
        session.connection.send(encoder.encode(bytes))
      } else if let internalPeer = internalPeers[peer],
        let message = try? ServerMessage(decoding: bytes)
      {
        internalPeer.receive(message)
      }
    case .disconnect(let peer, let reason):
      sessions[peer]?.connection.close(code: 1_013, reason: "\(reason)")
      internalPeers[peer]?.disconnect(reason)
    }
  }

  private func settle(_ result: Result<Void, StoreError>) {
    switch result {
    case .success:
      if isStoreFailing { logger.notice("the store works again") }
      isStoreFailing = false
      perform(hub.batchCommitted())
    case .failure(let error):
      logger.error("writes were refused: \(error)", metadata: ["kind": "\(error.kind)"])
      isStoreFailing = true
      if phase == .stopping, sessions.isEmpty { hasGivenUp = true }
      perform(hub.batchFailed(error, at: clock()))
    }
    speedUp()
    continueStopping()
  }
}
