internal import Logging
internal import NIOCore
internal import RealtimeCore
internal import RealtimeTransport

/// The hub of one database with its connections; confined to the server's event loop.
///
/// State: running → settling (nothing more is read, waiting requests are answered) → leaving
/// (connections are being closed) → closed (all are gone, the last batch is stored).
final class DatabaseCore {
  enum Phase {
    case running
    case settling
    case leaving
    case closed
  }

  let name: String
  let context: ServerContext
  let logger: Logger
  let thread: StoreThread
  let batcher: WriteBatcher
  let closed: EventLoopPromise<Void>
  var phase = Phase.running
  /// The lease under which this server leads the database, where several servers share the storage.
  var term: LeaseTerm?
  /// Called when a write was refused because another server leads, or when its outcome is unknown.
  ///
  /// It is only used where several servers share the storage.
  var onLoss: (StoreError) -> Void = { _ in }
  /// Whether the store is closed as soon as everything is answered, with the clients still
  /// connected.
  private var isHandingOver = false
  /// Whether the store is to be closed once all connections are closed.
  var isClosing = false
  var hub: TreeHub
  var sessions: [PeerID: Session] = [:]
  var peersByName: [String: PeerID] = [:]
  /// The clients that have sent something since the last batch was stored.
  var unsettled: [Session] = []
  /// The internal peers: requests in progress and event streams.
  var internalPeers: [PeerID: any InternalPeer] = [:]
  let users: UserTable
  /// Limits how often the log repeats the same note about a user.
  var notes = HourlyNotes()
  var metrics = DatabaseMetrics()
  var writeTimer = WriteTimer()
  /// Whether the last batch before the end could not be stored.
  var hasGivenUp = false
  /// Why the last batch could not be stored; nil again once one can.
  var storeFailure: StoreError?
  /// The next check for expired credentials.
  var credentialCheck: (deadline: Int64, task: Scheduled<Void>)?
  private var lastPeer = 0
  var encoder = OutputEncoder()
  private var outputs = CircularBuffer<HubOutput>()
  private var isPerforming = false
  private var pushIDs = PushIDGenerator()

  init(name: String, stored: StoredTree, thread: StoreThread, context: ServerContext) {
    self.name = name
    self.context = context
    self.thread = thread
    var logger = context.logger
    logger[metadataKey: "database"] = "\(name)"
    self.logger = logger
    hub = TreeHub(
      stored: stored,
      limits: context.options.limits.hub,
      rules: context.options.initialRules,
      localRules: context.options.localRules,
      verifier: context.identities.laterVerifier(of: name)
    )
    batcher = WriteBatcher(thread: thread)
    closed = context.eventLoop.makePromise()
    users = UserTable(context)
    batcher.takeBatch = { [weak self] in self?.takeBatch() }
    batcher.requestCount = { [context] in context.requestCount }
    batcher.onOutcome = { [weak self] in self?.settle($0) }
    batcher.onIdle = { [weak self] in self?.continueClosing() }
  }

  var eventLoop: any EventLoop { context.eventLoop }
  var options: ServerOptions { context.options }

  /// Applies the disconnect writes that an earlier run left behind.
  func begin() {
    if let problem = hub.storedRulesProblem {
      logger.error("the stored rules are not valid, so nothing is allowed: \(problem)")
    }
    hub.resume(at: context.clock())
    if hub.hasPendingCommits { batcher.wake() }
  }

  func makePeer() -> PeerID {
    lastPeer += 1
    return PeerID(lastPeer)
  }

  /// A new key for a child that is added.
  func makePushID() -> String {
    var random = SystemRandomNumberGenerator()
    return pushIDs.next(time: context.clock()) { UInt8.random(in: 0..<64, using: &random) }
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
    guard !isPerforming else { return outputs.append(contentsOf: wanted) }
    isPerforming = true
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
    while let output = outputs.popFirst() { perform(output) }
    encoder.forget()
    isPerforming = false
  }

  /// Schedules a check for when the next credential expires.
  private func scheduleCredentialCheck(_ deadline: Int64) {
    guard phase != .closed else { return }
    if let planned = credentialCheck?.deadline, planned <= deadline { return }
    credentialCheck?.task.cancel()
    // Never longer than a minute, because the clock may be set forward.
    let delay = min(max(deadline - context.clock(), 0), 60_000)
    let task = eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(delay)) { [weak self] in
      guard let self else { return }
      credentialCheck = nil
      perform(hub.tick(at: context.clock()))
      for (peer, session) in sessions where session.user != nil { identityChanged(peer) }
    }
    credentialCheck = (deadline, task)
  }

  private func perform(_ output: HubOutput) {
    switch output {
    case .send(let peer, let message): send(message, to: peer)
    case .broadcast(let peers, let message): for peer in peers { send(message, to: peer) }
    case .compose(let peer, let composition):
      if let session = sessions[peer] {
        deliver(.composition(composition, isKept: false), to: session)
      }
    case .deliver(let peer, let message): internalPeers[peer]?.receive(message)
    case .disconnect(let peer, let reason):
      if let session = sessions[peer] {
        end(session, code: CloseCode.tryAgainLater, reason: "\(reason)")
      }
      internalPeers[peer]?.disconnect(reason)
    }
  }

  /// Sends each client all messages of a run at once.
  private func perform(_ run: BroadcastRun, of wanted: [HubOutput]) {
    let message = EncodedMessage(joining: run.messages.map(\.bytes))
    for peer in run.peers where !run.apart.contains(peer) {
      guard let session = sessions[peer], session.backlog == nil, !session.isComposing,
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
    } else if let internalPeer = internalPeers[peer],
      let push = try? ServerMessage(decoding: message.bytes)
    {
      internalPeer.receive(push)
    }
  }

  /// Sends a message; one that goes to many connections in a row is encoded only once.
  func transmit(_ bytes: [UInt8], over connection: any MessageConnection) {
    let message = encoder.encode(bytes)
    metrics.sent += 1
    metrics.sentBytes += message.byteCount
    connection.send(message)
  }

  // MARK: Batches

  private func takeBatch() -> CommitBatch? {
    guard let batch = hub.takeBatch() else { return nil }
    writeTimer.batchTaken()
    return batch
  }

  private func settle(_ outcome: StoreThread.Outcome) {
    metrics.commitTime.record(outcome.time.microseconds)
    metrics.batchCommits.record(outcome.commits)
    switch outcome.result {
    case .success:
      if storeFailure != nil { logger.notice("the store works again") }
      storeFailure = nil
      metrics.commits += outcome.commits
      for time in writeTimer.batchesEnded(outcome.batches, at: .now()) {
        metrics.acknowledgeTime.record(time.microseconds)
      }
      perform(hub.batchCommitted(outcome.batches))
    case .failure(let error) where term != nil && error.kind != .full:
      // Clients resend what was not answered, to whichever server leads the database then.
      logger.error("a write failed, and the database is closed: \(error)")
      metrics.failedBatches += 1
      return onLoss(error)
    case .failure(let error) where error.hasStoredNothing:
      writeTimer.batchesFailed()
      logger.error("writes were refused: \(error)", metadata: ["kind": "\(error.kind)"])
      storeFailure = error
      metrics.failedBatches += 1
      if phase == .leaving, isClosing, sessions.isEmpty { hasGivenUp = true }
      perform(hub.batchFailed(error, at: context.clock()))
    case .failure(let error):
      // No answer would be right, because it is unknown what is on the disk.
      return context.onLoss(error)
    }
    settleSessions()
    continueClosing()
  }
}

extension DatabaseCore {
  /// Whether there are no connections and everything is stored.
  var isIdle: Bool {
    phase == .running && sessions.isEmpty && internalPeers.isEmpty && storeFailure == nil
      && !hub.hasPendingCommits && !hub.hasWaitingOutputs && !batcher.isBusy
  }

  /// Disconnects all clients as soon as their requests are answered.
  ///
  /// Messages that arrive from then on are not read, as if they had never arrived; clients resend
  /// them to the next server. Requests that were already accepted are stored and answered first,
  /// because a client that is not told that its write was stored would make it twice.
  func shutDown() {
    guard phase == .running else { return }
    phase = .settling
    for session in sessions.values { pause(session, for: .leaving) }
    for session in Array(sessions.values) where session.isGone { forget(session.peer) }
    for peer in Array(internalPeers.values) { peer.serverStops() }
    continueClosing()
  }

  /// Closes once all connections are closed and the last batch is stored.
  ///
  /// - Returns: A future that completes when the store is closed; it never fails.
  func close() -> EventLoopFuture<Void> {
    isClosing = true
    shutDown()
    continueClosing()
    return closed.futureResult
  }

  /// Continues leaving and closing as far as possible.
  func continueClosing() {
    if phase == .settling, isHandingOver { return continueHandingOver() }
    if phase == .settling, !hub.hasWaitingOutputs { leave() }
    guard phase == .leaving, isClosing, sessions.isEmpty, internalPeers.isEmpty else { return }
    if hub.hasPendingCommits || batcher.isBusy {
      guard hasGivenUp else {
        if hub.hasPendingCommits { batcher.wake() }
        return
      }
    }
    phase = .closed
    closeStore()
  }

  /// Closes all connections without an answer, and stores nothing more.
  ///
  /// - Returns: A future that completes when the store is closed; it never fails.
  func abandon(
    because reason: String = "the server ends because its data could not be written"
  ) -> EventLoopFuture<Void> {
    guard phase != .closed else { return closed.futureResult }
    phase = .closed
    batcher.stop()
    credentialCheck?.task.cancel()
    for session in Array(sessions.values) {
      session.connection.close(code: CloseCode.tryAgainLater, reason: reason)
      forget(session.peer)
    }
    // If the server is ending, their connections are already closed and this answer goes nowhere.
    for peer in Array(internalPeers.values) { peer.disconnect(.storageFailed(reason)) }
    closeStore()
    return closed.futureResult
  }

  /// Stores and answers all accepted requests, and closes the store; the clients stay connected.
  ///
  /// The writes scheduled for their disconnection stay stored, and the next leader carries them
  /// out.
  ///
  /// - Returns: A future that completes when the store is closed; it never fails.
  func handOver() -> EventLoopFuture<Void> {
    guard phase == .running else { return closed.futureResult }
    isHandingOver = true
    phase = .settling
    for session in sessions.values { pause(session, for: .leaving) }
    for session in Array(sessions.values) where session.isGone { forget(session.peer) }
    for peer in Array(internalPeers.values) { peer.serverStops() }
    continueClosing()
    return closed.futureResult
  }

  private func continueHandingOver() {
    guard !hub.hasWaitingOutputs, !hub.hasPendingCommits, !batcher.isBusy else {
      if hub.hasPendingCommits { batcher.wake() }
      return
    }
    phase = .closed
    batcher.stop()
    credentialCheck?.task.cancel()
    closeStore()
  }

  /// Redirects the clients of a database that was handed over to its next leader.
  func redirectClients(to host: String?) {
    for session in Array(sessions.values) {
      session.inbox.removeAll()
      if let host {
        deliver(.kept(ServerMessage.reset(host: host).encoded()), to: session)
      }
      end(session, code: CloseCode.goingAway, reason: "another server leads the database now")
      resume(session, for: .leaving)
    }
    for peer in Array(internalPeers.values) {
      peer.disconnect(.storageFailed("another server leads the database now"))
    }
  }

  private func closeStore() {
    thread.close().assumeIsolated().whenComplete { result in
      if case .failure(let error) = result {
        self.logger.error("the store could not be closed: \(error)")
      }
      self.closed.succeed()
    }
  }

  private func leave() {
    phase = .leaving
    for session in sessions.values {
      session.inbox.removeAll()
      end(session, code: CloseCode.goingAway, reason: "the server is stopping")
      // From here on, only the closing handshake is read.
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
    for (peer, session) in sessions where session.user != nil { identityChanged(peer) }
  }
}

/// The close codes that tell a client why the server ends its WebSocket.
///
/// A refused handshake needs none: the refusal is an HTTP answer, after which the connection closes
/// and nothing more is read.
enum CloseCode {
  /// A newer connection of the same client has taken its place.
  static let normal: UInt16 = 1_000
  /// The server is stopping.
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
