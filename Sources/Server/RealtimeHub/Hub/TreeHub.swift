package import RealtimeCore
package import SecurityRules

/// The server engine of one database: turns the requests of peers into messages to them.
///
/// All requests form one total order. A write is applied in memory and joins the open batch; its
/// pushes, its answer and all later outputs wait until the batch is durable:
///
///     handle ──► open batch ──takeBatch──► in flight ──batchCommitted──► durable, outputs leave
///                                              └──────batchFailed──────► back to the durable tree
///
/// After every call the owner asks for the ``agenda()``; when commits wait, it takes a batch as soon as
/// it likes, stores it on whatever thread it likes, also as one with others that follow it, and reports
/// the outcome by ``batchCommitted(_:)`` or ``batchFailed(_:at:)``. The latter is for a store that is
/// certain to have stored nothing, as when the disk is full. If the outcome is unknown, the owner drops
/// the hub: only a new one, which reads what is on the disk, can answer clients correctly.
///
/// Credentials end by themselves: the owner calls ``tick(at:)`` when the agenda's deadline has come.
///
/// The hub routes requests between parts that own their state: ``durability``, ``writes``, ``listens``,
/// ``disconnects`` and ``access``.
package struct TreeHub: Sendable {
  /// One connection, apart from the state of the parts.
  struct Connection: Sendable {
    /// Whether it is part of the server and takes messages as values.
    let isInternal: Bool
    /// Whether it is being closed, so that its requests are ignored.
    var isLeaving = false
  }

  let limits: HubLimits
  /// Why the stored rules are not in force, when they are no rules.
  package let storedRulesProblem: RulesError?
  /// The time of the latest call that had one.
  var now: Int64?
  var connections: [PeerID: Connection] = [:]

  var durability: Durability
  var access: Access
  var writes: KeyedWrites
  var listens: Listens
  var disconnects: Disconnects
  /// The hash that the owner has computed for the condition of the next write.
  var knownHash: (node: Node, hash: String)?

  /// Continues from stored data; the connections behind stored disconnect writes have ended.
  ///
  /// - Parameters:
  ///   - stored: What the store holds. Its rules are in force, if it has any; if they are none any
  ///     more, nothing is allowed until there are others, and ``storedRulesProblem`` says why.
  ///   - limits: What peers may cost.
  ///   - rules: The rules while the store has none. A server says itself which ones; a hub by itself
  ///     leaves the permissions to its owner.
  ///   - localRules: The rules for users at the server's private socket.
  ///   - verifier: Who tells whom a credential belongs to.
  package init(
    stored: StoredTree,
    limits: HubLimits = HubLimits(),
    rules: RuleSet = .open,
    localRules: RuleSet = .open,
    verifier: any CredentialVerifier = NoSignIn()
  ) {
    self.limits = limits
    let initial = Self.rules(stored.rules, orElse: rules)
    storedRulesProblem = initial.problem
    durability = Durability(root: stored.root, revision: stored.revision)
    access = Access(
      rules: initial.rules,
      localRules: localRules,
      limits: limits,
      verifier: verifier
    )
    writes = KeyedWrites(stored.ledger, limits: limits)
    listens = Listens(limits)
    disconnects = Disconnects(stored.sessions, limits: limits)
  }

  private static func rules(
    _ source: String?,
    orElse rules: RuleSet
  ) -> (rules: RuleSet, problem: RulesError?) {
    guard let source else { return (rules, nil) }
    do throws(RulesError) {
      return (try RuleSet(source: source), nil)
    } catch {
      return (.closed, error)
    }
  }

  // MARK: What there is

  /// The durable data.
  package var snapshot: Node { durability.durableRoot }

  /// The number of the last durable commit; 0 before the first.
  package var revision: Int64 { durability.durableRevision }

  /// The rules in force, which may not be durable yet.
  package var rulesInForce: RuleSet { access.rules }

  /// The rules as far as they are durable.
  package var durableRules: RuleSet { access.durableRules }

  /// The number of open connections.
  package var peerCount: Int { connections.count }

  /// The number of listens of all peers.
  ///
  /// - Complexity: O(peers)
  package var listenCount: Int { listens.count }

  /// The number of listens that a peer has.
  package func listenCount(of peer: PeerID) -> Int { listens.keys(of: peer).count }

  /// The number of writes that a peer has scheduled for its end.
  package func scheduledCount(of peer: PeerID) -> Int { disconnects.count(of: peer) }

  /// How many children have been looked at to bring them into an order, since the start.
  ///
  /// Queries that are answered from an index do not add to it.
  package var orderedChildren: Int { listens.orderedChildren }

  /// How many bytes of messages wait until something is stored.
  package var waitingOutputBytes: Int { durability.waitingOutputBytes }

  /// Whether anyone is to be told something that waits for a batch.
  package var hasWaitingOutputs: Bool { durability.hasWaitingOutputs }

  // MARK: Connections

  /// The greeting of a new connection, with the extensions that a hub understands.
  ///
  /// - Parameters:
  ///   - timestamp: The server's time in milliseconds since 1970.
  ///   - host: The host as the client named it, with the port if it named one.
  ///   - session: A name of the connection that no other has.
  /// - Returns: The first message to send.
  package static func hello(timestamp: Int64, host: String, session: String) -> ServerHello {
    ServerHello(timestamp: timestamp, host: host, session: session, extensions: [.writeOnce])
  }

  /// Lets the disconnect writes of an earlier hub be applied.
  ///
  /// The owner calls this once at the start; without it the first call of a peer does the same.
  ///
  /// - Parameter timestamp: The server's time in milliseconds since 1970.
  package mutating func resume(at timestamp: Int64) {
    now = timestamp
  }

  /// Begins a connection; a peer that is open already stays as it is.
  ///
  /// - Parameters:
  ///   - peer: The connection.
  ///   - identity: Who it is without a credential.
  ///   - isInternal: Whether it lives in the server: what it is told comes as values where that saves
  ///     encoding, and the answer to a write carries the data that are there then.
  package mutating func open(
    _ peer: PeerID,
    as identity: Identity = .anonymous,
    isInternal: Bool = false
  ) {
    guard connections[peer] == nil else { return }
    connections[peer] = Connection(isInternal: isInternal)
    access.open(peer, as: identity)
    writes.open(peer, as: identity)
  }

  /// Ends a connection: its listens are forgotten and its scheduled writes applied as one commit.
  ///
  /// - Parameters:
  ///   - peer: The connection; unknown ones are ignored.
  ///   - timestamp: The server's time in milliseconds since 1970.
  /// - Returns: What the others are to be told.
  package mutating func close(_ peer: PeerID, at timestamp: Int64) -> [HubOutput] {
    now = timestamp
    guard connections.removeValue(forKey: peer) != nil else { return [] }
    listens.endAll(of: peer)
    access.close(peer)
    writes.close(peer)
    addSteps(disconnects.end(peer))
    if admissionError == nil { fireOverdueDisconnects(at: timestamp) }
    return flush()
  }

  /// Whether a peer is open and its requests count.
  func isListenedTo(_ peer: PeerID) -> Bool { connections[peer]?.isLeaving == false }

  /// Whether a peer lives in the server.
  func isInternal(_ peer: PeerID) -> Bool { connections[peer]?.isInternal == true }

  // MARK: Requests

  /// Answers one message of a peer.
  ///
  /// - Parameters:
  ///   - message: What the peer says.
  ///   - peer: An open connection; others are ignored.
  ///   - timestamp: The server's time in milliseconds since 1970.
  /// - Returns: What may leave at once; the rest leaves when its batch is durable.
  package mutating func handle(
    _ message: ClientMessage,
    from peer: PeerID,
    at timestamp: Int64
  ) -> [HubOutput] {
    now = timestamp
    endCredentials(at: timestamp)
    guard let connection = connections[peer], !connection.isLeaving else { return flush() }
    switch message {
    case .ping: append(.pong, to: peer, orElse: .keep)
    case .control: break
    case .request(let id, let request):
      let origin = RequestOrigin(peer: peer, request: id, isInternal: connection.isInternal)
      handle(request, of: origin, at: timestamp)
      knownHash = nil
    }
    return flush()
  }

  /// Answers a message that could not be understood.
  ///
  /// - Parameters:
  ///   - error: What is wrong with it.
  ///   - peer: An open connection; others are ignored.
  /// - Returns: A refusal of the request, or a remark for the log when its number is not known.
  package mutating func handle(undecodable error: MessageError, from peer: PeerID) -> [HubOutput] {
    guard isListenedTo(peer) else { return [] }
    if let id = error.requestID {
      let origin = RequestOrigin(peer: peer, request: id, isInternal: isInternal(peer))
      refuse(origin, with: RequestError(.invalidData, reason: error.reason))
    } else {
      append(.error(error.reason), to: peer, orElse: .keep)
    }
    return flush()
  }

  private mutating func handle(
    _ request: ClientRequest,
    of origin: RequestOrigin,
    at timestamp: Int64
  ) {
    switch request {
    case .stats, .appCheck: answer(origin, with: ServerMessage.Response(.ok), orElse: .keep)
    case .authenticate(let authentication):
      authenticate(authentication, of: origin, at: timestamp)
    case .unauthenticate: unauthenticate(origin)
    case .listen(let listen): handle(listen, of: origin)
    case .unlisten(let path, let query, _):
      listens.end(ListenKey(path, query: query), of: origin.peer)
      answer(origin, with: ServerMessage.Response(.ok), orElse: .keep)
    case .get(let path, let query): get(path, query: query, of: origin)
    case .write(let write): handle(write, of: origin, at: timestamp)
    case .onDisconnect(let path, let operation):
      schedule(operation, at: path, of: origin, at: timestamp)
    case .cancelOnDisconnect(let path): cancelScheduled(at: path, of: origin)
    case .unknown(let action):
      refuse(origin, with: RequestError(.failure, reason: "unknown action \"\(action)\""))
    }
  }

  // MARK: Outputs

  /// Queues a message behind everything that has been applied.
  mutating func append(
    _ message: ServerMessage,
    to peer: PeerID,
    orElse fallback: Outbox.Fallback
  ) {
    durability.append(output(message, to: peer), to: peer, orElse: fallback)
  }

  /// Queues the answer to a request.
  mutating func answer(
    _ origin: RequestOrigin,
    with response: ServerMessage.Response,
    orElse fallback: Outbox.Fallback
  ) {
    let message = ServerMessage.response(id: origin.request, response)
    let output: HubOutput =
      origin.isInternal
      ? .deliver(origin.peer, message) : .send(origin.peer, message.encoded())
    durability.append(output, to: origin.peer, orElse: fallback)
  }

  /// Queues the answer to a request that is not carried out.
  mutating func refuse(_ origin: RequestOrigin, with error: RequestError) {
    answer(origin, with: error.response, orElse: .keep)
  }

  /// Queues a push to everyone who listens.
  mutating func append(_ push: ListenRegistry.Push) {
    if push.peers.count == 1 {
      let peer = push.peers[0]
      return durability.append(.send(peer, push.bytes), to: peer, orElse: .drop)
    }
    durability.append(.broadcast(push.peers, push.bytes), to: nil, orElse: .drop)
  }

  /// A message in the form that a peer takes.
  func output(_ message: ServerMessage, to peer: PeerID) -> HubOutput {
    isInternal(peer) ? .deliver(peer, message) : .send(peer, message.encoded())
  }

  /// Takes the outputs that depend on durable data only.
  mutating func flush() -> [HubOutput] {
    let released = durability.release()
    if released.isEmpty { return [] }
    var outputs: [HubOutput] = []
    outputs.reserveCapacity(released.count)
    for entry in released {
      if let peer = entry.peer, !connections.keys.contains(peer) { continue }
      outputs.append(entry.output)
    }
    return outputs
  }
}
