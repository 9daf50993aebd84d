internal import Logging
internal import NIOCore
internal import RealtimeCore
internal import RealtimeTransport

/// The hub of one database with its connections; confined to the server's event loop.
///
/// State: running → settling (nothing more is read, waiting requests are answered) → leaving
/// (connections are being closed) → closed (all are gone, the last batch is stored). A database that
/// is handed over goes from settling to closed, with its clients still connected.
final class DatabaseCore {
  enum Phase: Equatable {
    case running
    case handingOver
    case settling(Ending)
    case leaving(Ending)
    case closed
  }

  /// What becomes of the store once all connections are closed.
  enum Ending {
    /// It stays open until it is to be closed as well.
    case waits
    /// It is closed after the last batch.
    case closes
    /// It is closed although the last batch could not be stored.
    case givesUp
  }

  /// Checks that are due at a certain time.
  struct Checks {
    /// The next check for expired credentials.
    var credentials: (deadline: Int64, task: Scheduled<Void>)?
    /// The next check for sessions without a connection that have ended.
    var suspended: Scheduled<Void>?

    func cancel() {
      credentials?.task.cancel()
      suspended?.cancel()
    }
  }

  /// What performing the outputs of the hub takes.
  private struct Delivery {
    var encoder = OutputEncoder()
    /// Outputs that arose while others were performed.
    var outputs = CircularBuffer<HubOutput>()
    var isUnderWay = false
  }

  let name: String
  let context: ServerContext
  let batcher: WriteBatcher
  /// The lease under which this server leads the database, where several servers share the storage.
  let term: LeaseTerm?
  private(set) var phase = Phase.running
  var hub: TreeHub
  var peers: PeerTable
  var metrics = DatabaseMetrics()
  var checks = Checks()
  private var delivery = Delivery()
  /// Called when it is unknown whether a write was stored; by default, the whole server ends.
  var onLoss: (StoreError) -> Void

  init(
    name: String,
    stored: StoredTree,
    thread: StoreThread,
    term: LeaseTerm?,
    context: ServerContext
  ) {
    self.name = name
    self.context = context
    self.term = term
    onLoss = { [context] in context.onLoss($0) }
    peers = PeerTable(users: UserTable(context))
    hub = TreeHub(
      stored: stored,
      limits: context.options.limits,
      rules: context.options.rules == .open ? .open : .closed,
      localRules: context.options.localRules,
      verifier: context.identities.laterVerifier(of: name)
    )
    batcher = WriteBatcher(
      thread: thread,
      progress: WriteProgress(lineage: stored.lineage),
      logger: context.logger(of: name)
    )
    batcher.takeBatch = { [weak self] in self?.takeBatch() }
    batcher.requestCount = { [context] in context.requestCount }
    batcher.onOutcome = { [weak self] in self?.settle($0) }
    batcher.onIdle = { [weak self] in self?.continueClosing() }
  }

  var eventLoop: any EventLoop { context.eventLoop }
  var options: ServerOptions { context.options }
  var logger: Logger { context.logger(of: name) }
  var sessions: [PeerID: Session] { peers.sessions }

  /// Applies the disconnect writes that an earlier run left behind.
  func begin() {
    if let problem = hub.storedRulesProblem {
      logger.error("the stored rules are not valid, so nothing is allowed: \(problem)")
    }
    hub.resume(at: context.clock())
    watchSuspended()
    if hub.hasPendingCommits { batcher.wake() }
  }

  /// Installs rules, unless they are in force already.
  func setRules(_ rules: RuleSet) {
    guard hub.rulesInForce.source != rules.source else { return }
    perform(hub.setRules(rules, at: context.clock()))
    rulesChanged()
  }

  /// Adjusts the message limits of all connections to the new rules.
  func rulesChanged() {
    for session in sessions.values { allowMessages(of: session) }
  }

  // MARK: Outputs

  /// Performs outputs of the hub; outputs that arise in the process come after them.
  func perform(_ wanted: [HubOutput]) {
    let agenda = hub.agenda()
    if agenda.hasPendingCommits { batcher.wake() }
    if let deadline = agenda.nextDeadline { scheduleCredentialCheck(deadline) }
    if let path = agenda.exhaustedPath { noteExhausted(path) }
    guard !delivery.isUnderWay else { return delivery.outputs.append(contentsOf: wanted) }
    delivery.isUnderWay = true
    var index = wanted.startIndex
    while index < wanted.endIndex {
      if let run = BroadcastRun(in: wanted, at: index) {
        perform(run, of: wanted)
        index = run.range.upperBound
      } else {
        perform(wanted[index])
        index += 1
      }
    }
    while let output = delivery.outputs.popFirst() { perform(output) }
    delivery.encoder.forget()
    delivery.isUnderWay = false
  }

  /// Schedules a check for when the next credential expires.
  private func scheduleCredentialCheck(_ deadline: Int64) {
    guard phase != .closed else { return }
    if let planned = checks.credentials?.deadline, planned <= deadline { return }
    checks.credentials?.task.cancel()
    // Never longer than a minute, because the clock may be set forward.
    let delay = min(max(deadline - context.clock(), 0), 60_000)
    let task = eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(delay)) { [weak self] in
      guard let self else { return }
      checks.credentials = nil
      perform(hub.tick(at: context.clock()))
      for peer in peers.users.peers { identityChanged(peer) }
    }
    checks.credentials = (deadline, task)
  }

  private func perform(_ output: HubOutput) {
    switch output {
    case .send(let peer, let message): send(message, to: peer)
    case .broadcast(let peers, let message): for peer in peers { send(message, to: peer) }
    case .compose(let peer, let composition):
      if let session = sessions[peer] {
        deliver(.composition(composition, isKept: false), to: session)
      }
    case .deliver(let peer, let message): peers.inside[peer]?.receive(message)
    case .disconnect(let peer, let reason):
      if let session = sessions[peer] {
        end(session, code: CloseCode.tryAgainLater, reason: "\(reason)")
      }
      peers.inside[peer]?.disconnect(reason)
    }
  }

  /// Sends each client all messages of a run at once.
  private func perform(_ run: BroadcastRun, of wanted: [HubOutput]) {
    let message = EncodedMessage(joining: run.messages.map(\.bytes))
    for peer in run.peers where !run.apart.contains(peer) {
      guard let session = sessions[peer], session.output.backlog == nil,
        !session.output.isComposing,
        session.connection.sendUnlessCongested(message)
      else {
        for message in run.messages { send(message, to: peer) }
        continue
      }
      metrics.sent += run.messages.count
      metrics.sentBytes += message.byteCount
    }
    for output in wanted[run.range] {
      if case .broadcast(_, let message) = output {
        for peer in run.apart { send(message, to: peer) }
      } else {
        perform(output)
      }
    }
  }

  private func send(_ message: HubMessage, to peer: PeerID) {
    if let session = sessions[peer] {
      deliver(.message(message), to: session)
    } else if let internalPeer = peers.inside[peer],
      let push = try? ServerMessage(decoding: message.bytes)
    {
      internalPeer.receive(push)
    }
  }

  /// Sends a message; one that goes to many connections in a row is encoded only once.
  func transmit(_ bytes: [UInt8], over connection: any MessageConnection) {
    let message = delivery.encoder.encode(bytes)
    metrics.sent += 1
    metrics.sentBytes += message.byteCount
    connection.send(message)
  }

  /// Remembers the encoding of a message that is sent next.
  func learn(_ bytes: [UInt8], as message: EncodedMessage) {
    delivery.encoder.learn(bytes, as: message)
  }

  // MARK: Batches

  private func takeBatch() -> CommitBatch? {
    let batch = hub.takeBatch()
    if let batch { batcher.progress.taken(batch) }
    return batch
  }

  private func settle(_ outcome: StoreThread.Outcome) {
    metrics.commitTime.record(outcome.time.microseconds)
    metrics.batchCommits.record(outcome.commits)
    switch outcome.result {
    case .success:
      if batcher.progress.failure != nil { logger.notice("the store works again") }
      metrics.commits += outcome.commits
      for time in batcher.progress.stored(outcome.batches, at: .now()) {
        metrics.acknowledgeTime.record(time.microseconds)
      }
      perform(hub.batchCommitted(outcome.batches))
    case .failure(let error) where term != nil && error.kind != .full:
      // Clients resend what was not answered, to whichever server leads the database then.
      logger.error("a write failed, and the database is closed: \(error)")
      metrics.failedBatches += 1
      term?.onLoss(error)
      return
    case .failure(let error) where error.hasStoredNothing:
      // It is tried again several times a second.
      if batcher.progress.failure?.description != error.description {
        logger.error("writes were refused: \(error)", metadata: ["kind": "\(error.kind)"])
      }
      batcher.progress.failed(because: error)
      metrics.failedBatches += 1
      if phase == .leaving(.closes), sessions.isEmpty { phase = .leaving(.givesUp) }
      perform(hub.batchFailed(error, at: context.clock()))
    case .failure(let error):
      // No answer would be right, because it is unknown what is on the disk.
      return onLoss(error)
    }
    settleSessions()
    continueClosing()
  }
}

extension DatabaseCore {
  /// Whether there are no connections and everything is stored.
  var isIdle: Bool {
    phase == .running && sessions.isEmpty && peers.inside.isEmpty && batcher.progress.failure == nil
      && !hub.hasPendingCommits && !hub.hasWaitingOutputs && !batcher.isBusy
  }

  /// Whether what is durable here is what counts: no other server can lead the database.
  var isAnswering: Bool { phase == .running && term?.counts ?? true }

  /// Disconnects all clients as soon as their requests are answered.
  ///
  /// Messages that arrive from then on are not read, as if they had never arrived; clients resend
  /// them to the next server. Requests that were already accepted are stored and answered first,
  /// because a client that does not learn that its write was stored would make it twice.
  func shutDown() {
    if phase == .running { beginSettling(.settling(.waits)) }
  }

  private func beginSettling(_ next: Phase) {
    phase = next
    for session in sessions.values { pause(session, for: .leaving) }
    for session in Array(sessions.values) where session.isGone { forget(session.peer) }
    for peer in Array(peers.inside.values) { peer.serverStops() }
    continueClosing()
  }

  /// Closes once all connections are closed and the last batch is stored; the future never fails.
  func close() -> EventLoopFuture<Void> {
    switch phase {
    case .running: beginSettling(.settling(.closes))
    case .settling(.waits): phase = .settling(.closes)
    case .leaving(.waits): phase = .leaving(.closes)
    case .handingOver, .settling, .leaving, .closed: break
    }
    continueClosing()
    return batcher.closed
  }

  /// Continues leaving and closing as far as possible.
  func continueClosing() {
    if case .settling(let ending) = phase, !hub.hasWaitingOutputs { leave(ending) }
    switch phase {
    case .running, .settling, .leaving(.waits), .closed: return
    case .handingOver:
      guard isStored(), !hub.hasWaitingOutputs else { return }
      stop()
    case .leaving(.closes):
      guard sessions.isEmpty, peers.inside.isEmpty, isStored() else { return }
    case .leaving(.givesUp):
      guard sessions.isEmpty, peers.inside.isEmpty else { return }
    }
    phase = .closed
    closeStore()
  }

  /// Whether everything is stored; otherwise it will be.
  private func isStored() -> Bool {
    if hub.hasPendingCommits { batcher.wake() }
    return !hub.hasPendingCommits && !batcher.isBusy
  }

  private func stop() {
    batcher.stop()
    checks.cancel()
  }

  /// Closes all connections without an answer, and stores nothing more.
  ///
  /// - Returns: A future that completes when the store is closed; it never fails.
  func abandon(
    because reason: String = "the server ends because its data could not be written",
    code: UInt16 = CloseCode.tryAgainLater
  ) -> EventLoopFuture<Void> {
    guard phase != .closed else { return batcher.closed }
    phase = .closed
    stop()
    for session in Array(sessions.values) {
      session.connection.close(code: code, reason: reason)
      forget(session.peer)
    }
    // If the server is ending, their connections are already closed and this answer goes nowhere.
    for peer in Array(peers.inside.values) { peer.disconnect(.storageFailed(reason)) }
    closeStore()
    return batcher.closed
  }

  /// Stores and answers all accepted requests, and closes the store; the clients stay connected.
  ///
  /// The writes scheduled for their disconnection stay stored, and the next leader carries them
  /// out. The future never fails.
  func handOver() -> EventLoopFuture<Void> {
    if phase == .running { beginSettling(.handingOver) }
    return batcher.closed
  }

  /// Redirects the clients of a database that was handed over to its next leader.
  func redirectClients(to host: String?) {
    let reason = "another server leads the database now"
    dismissClients(to: host, because: reason)
    for peer in Array(peers.inside.values) { peer.disconnect(.storageFailed(reason)) }
  }

  private func closeStore() {
    let followers = batcher.progress.followers
    batcher.progress.followers = []
    for follower in followers { follower.leaderEnded() }
    batcher.close()
  }

  private func leave(_ ending: Ending) {
    phase = .leaving(ending)
    dismissClients(because: "the server is stopping")
  }

  /// Closes all connections in order; from here on, only the closing handshake is read.
  private func dismissClients(to host: String? = nil, because reason: String) {
    for session in Array(sessions.values) {
      session.inbox.removeAll()
      if let host { deliver(.kept(ServerMessage.reset(host: host).encoded()), to: session) }
      end(session, code: CloseCode.goingAway, reason: reason)
      resume(session, for: .leaving)
    }
  }
}

extension DatabaseCore {
  /// Ends the sessions that a user started with tokens that are no longer valid.
  ///
  /// If the user is shut out, scheduled writes are withdrawn as well.
  func endSessions(_ note: TokenAuthority.Revocation) {
    guard phase != .closed else { return }
    func isEnded(_ auth: JSONValue) -> Bool {
      auth["uid"]?.string == note.uid && auth["token"]?["iat"]?.integer ?? .min < note.validSince
    }
    perform(hub.endCredentials(at: context.clock(), where: isEnded))
    if note.isShutOut { perform(hub.withdrawScheduled(at: context.clock(), where: isEnded)) }
    for peer in peers.users.peers { identityChanged(peer) }
  }
}

/// The peers of a hub: the connections of clients, and peers inside the server.
struct PeerTable {
  private(set) var sessions: [PeerID: Session] = [:]
  /// The signed-in users that the peers count towards.
  let users: UserTable
  /// The peers inside the server: requests in progress and event streams.
  private(set) var inside: [PeerID: any InternalPeer] = [:]
  private var ids: [String: PeerID] = [:]
  private var last = 0
  /// Sessions whose clients have begun others, and until when their servers may resume them.
  private var replaced = ExpiringNames<NIODeadline>()

  init(users: UserTable) { self.users = users }

  mutating func makeID() -> PeerID {
    last += 1
    return PeerID(last)
  }

  /// The connection to whose client a session name was sent.
  subscript(name: String) -> Session? { ids[name].flatMap { sessions[$0] } }

  mutating func add(_ session: Session) {
    sessions[session.peer] = session
    ids[session.name] = session.peer
  }

  mutating func add(_ peer: any InternalPeer) -> PeerID {
    let id = makeID()
    inside[id] = peer
    return id
  }

  mutating func removeSession(_ peer: PeerID) -> Session? {
    guard let session = sessions.removeValue(forKey: peer) else { return nil }
    ids[session.name] = nil
    return session
  }

  /// Records that the client of a session has begun another one.
  ///
  /// - Complexity: O(1), amortized.
  mutating func replace(_ name: String) {
    // What no server has made is not kept: anybody may send it, at any length.
    guard name.utf8.count == Session.nameLength else { return }
    let now = NIODeadline.now()
    replaced.insert(name, until: now + DatabaseCore.suspension, at: now)
  }

  func isReplaced(_ name: String) -> Bool { replaced.contains(name, at: .now()) }

  /// Removes a peer inside the server, and returns whether there was one.
  mutating func removeInside(_ peer: PeerID) -> Bool { inside.removeValue(forKey: peer) != nil }
}

/// The close codes that tell a client why the server ends its WebSocket.
///
/// A refused handshake needs none: the refusal is an HTTP answer, after which the connection closes
/// and nothing more is read.
enum CloseCode {
  /// A newer connection of the same client has taken its place.
  static let normal: UInt16 = 1_000
  /// The server is stopping, or another one leads the database: the client may continue there.
  static let goingAway: UInt16 = 1_001
  /// A message or frame cannot be understood.
  static let protocolError: UInt16 = 1_002
  /// The client did not sign in where it must, took too long for a message, or its user has too many
  /// connections.
  static let policyViolation: UInt16 = 1_008
  /// The store has failed, and data that the client has seen may be lost; or an idle connection had
  /// to make room.
  static let tryAgainLater: UInt16 = 1_013
}
