package import RealtimeCore

/// The server engine of one database.
///
/// It turns requests from peers into messages to peers.
///
/// All requests form one total order. A write is applied in memory and joins the open batch; its
/// pushes, its response and all later outputs wait until the batch is durable. Only reads that no
/// waiting commit concerns are answered at once:
///
///     handle ──► open batch ──takeBatch──► in flight ──batchCommitted──► durable, outputs leave
///                                              └──────batchFailed──────► back to the durable tree
///
/// After every call the owner reads the ``agenda()``. When commits are pending, the owner takes a
/// batch whenever it likes and stores it on any thread, alone or joined with the batches that
/// follow it. It reports the outcome with ``batchCommitted(_:)`` or ``batchFailed(_:at:)``. The
/// latter is only for a store that is certain to have stored nothing, for example because the disk
/// is full. If the outcome is unknown, the owner discards the hub: only a new hub, which reads what
/// is on the disk, can answer clients correctly.
///
/// Credentials expire between requests: the owner calls ``tick(at:)`` at the agenda's deadline.
///
/// Timestamps are the server's time in milliseconds since 1970. Calls return the outputs that can
/// leave at once.
///
/// The hub routes requests between parts that own their state: ``durability``, ``writes``, ``listens``,
/// ``disconnects`` and ``access``.
package struct TreeHub: Sendable {
  /// One connection, apart from the state that the parts keep.
  struct Connection: Sendable {
    /// Whether it is part of the server and takes messages as values.
    let isInternal: Bool
    /// The network that it comes from; nil for this machine.
    let network: String?
    /// Its session, if that may outlive the leader.
    let session: RemoteSession?
    /// Whether it is being closed, so that its requests are ignored.
    var isLeaving = false
  }

  let limits: ServerLimits
  /// Why the stored rules are not in force; nil unless they no longer compile.
  package let storedRulesProblem: RulesError?
  /// The timestamp of the latest call that passed one.
  var now: Int64?
  /// Searched several times for each request, where a few comparisons take less than a hash.
  var connections = SortedMap<PeerID, Connection>()

  var durability: Durability
  var access: Access
  var writes: KeyedWrites
  var listens: Listens
  var disconnects: Disconnects
  /// Answers that leave at the end of the call, since they show only what is durable.
  var promptOutputs: [HubOutput] = []
  /// A hash that the owner has computed for the condition of the next write.
  var knownHash: (node: Node, hash: String)?

  /// Continues from stored data.
  ///
  /// The connections that scheduled the stored disconnect writes are gone. The stored rules take
  /// effect, if there are any. If they no longer compile, everything is denied until other rules
  /// are set, and ``storedRulesProblem`` says why. A server chooses its own `rules` for a store
  /// that has none; the default leaves permissions to the owner of the hub. `localRules` are for
  /// users at the server's private socket.
  package init(
    stored: StoredTree,
    limits: ServerLimits = ServerLimits(),
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

  // MARK: State

  package var snapshot: Node { mutating get { durability.durableRoot } }

  /// The number of the last durable commit; 0 before the first.
  package var revision: Int64 { durability.durableRevision }

  /// The rules in force, which may not be durable yet.
  package var rulesInForce: RuleSet { access.rules }

  var durableRules: RuleSet { access.durableRules }

  /// The number of listens across all peers.
  ///
  /// - Complexity: O(peers)
  package var listenCount: Int { listens.accounts.count }

  package func listenCount(of peer: PeerID) -> Int { listens.accounts.count(of: peer) }

  /// The number of writes that a peer has scheduled for its disconnect.
  func scheduledCount(of peer: PeerID) -> Int { disconnects.count(of: peer) }

  /// The size in bytes of the messages that wait for a batch to become durable.
  var waitingOutputBytes: Int { durability.outbox.byteCount }

  /// Whether any output waits for a batch.
  var hasWaitingOutputs: Bool { !durability.outbox.isEmpty }

  // MARK: Connections

  /// The greeting of a new connection, which names the extensions that a hub supports.
  ///
  /// The host is as the client named it, with the port if it named one; the session is a unique
  /// name for the connection.
  package static func hello(timestamp: Int64, host: String, session: String) -> ServerHello {
    ServerHello(timestamp: timestamp, host: host, session: session, extensions: [.writeOnce])
  }

  /// Allows the disconnect writes left over from an earlier hub to be applied.
  ///
  /// The owner calls this once at the start. Otherwise the first call with a timestamp has the same
  /// effect.
  package mutating func resume(at timestamp: Int64) {
    now = timestamp
  }

  /// Opens a connection, unless the peer is already open.
  ///
  /// - Parameters:
  ///   - peer: The connection.
  ///   - identity: The identity of the peer while it presents no credential.
  ///   - isInternal: Whether the peer lives in the server. It receives values instead of bytes
  ///     where that saves encoding, and the response to its write carries the resulting data.
  ///   - network: The network that the client comes from, which guests share a budget by; nil for
  ///     this machine.
  ///   - session: Its session, if that may outlive the leader.
  package mutating func open(
    _ peer: PeerID,
    as identity: Identity = .anonymous,
    isInternal: Bool = false,
    from network: String? = nil,
    in session: RemoteSession? = nil
  ) {
    guard connections[peer] == nil else { return }
    connections[peer] = Connection(isInternal: isInternal, network: network, session: session)
    access.open(peer, as: identity)
    writes.open(peer, as: identity)
  }

  /// Closes a connection: drops its listens and applies its scheduled writes as one commit.
  ///
  /// If its session may go on, its scheduled writes wait. Unknown peers are ignored.
  package mutating func close(
    _ peer: PeerID,
    at timestamp: Int64,
    mayReturn: Bool = false
  ) -> [HubOutput] {
    now = timestamp
    guard let connection = connections.removeValue(forKey: peer) else { return [] }
    listens.endAll(of: peer)
    access.close(peer)
    writes.close(peer)
    if mayReturn, let session = connection.session {
      disconnects.suspend(peer, as: session)
    } else {
      addSteps(disconnects.end(peer))
    }
    if admissionError == nil { fireOverdueDisconnects(at: timestamp) }
    return flush()
  }

  /// Whether a peer is open and the hub still handles its requests.
  func isListenedTo(_ peer: PeerID) -> Bool { connections[peer]?.isLeaving == false }

  /// Whether a peer lives in the server.
  func isInternal(_ peer: PeerID) -> Bool { connections[peer]?.isInternal == true }

  // MARK: Requests

  /// Handles one message from a peer, or ignores it if the peer is not open.
  ///
  /// - Returns: The outputs that can leave at once; the rest leave once their batch is durable.
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

  /// Answers a message that could not be decoded, or ignores it if the peer is not open.
  ///
  /// - Returns: A refusal of the request, or an error for the client's log when the number of the
  ///   request is unknown.
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

  /// Queues a message that leaves once everything applied so far is durable.
  mutating func append(
    _ message: ServerMessage,
    to peer: PeerID,
    orElse fallback: Outbox.Fallback
  ) {
    durability.append(output(message, to: peer), to: peer, orElse: fallback)
  }

  /// Queues the response to a request.
  mutating func answer(
    _ origin: RequestOrigin,
    with response: ServerMessage.Response,
    orElse fallback: Outbox.Fallback
  ) {
    let message = ServerMessage.response(id: origin.request, response)
    let output: HubOutput =
      origin.isInternal
      ? .deliver(origin.peer, message) : .send(origin.peer, HubMessage(message))
    durability.append(output, to: origin.peer, orElse: fallback)
  }

  /// Queues the answer to a read; it leaves at once if it is prompt.
  mutating func answer(
    _ origin: RequestOrigin,
    with output: HubOutput,
    isPrompt: Bool,
    orElse fallback: Outbox.Fallback
  ) {
    if isPrompt { return promptOutputs.append(output) }
    durability.append(output, to: origin.peer, orElse: fallback)
  }

  /// Queues the response to a request that is carried out, unless that cannot be stored.
  mutating func acknowledge(_ origin: RequestOrigin) {
    let fallback = Outbox.Fallback.refuse(request: origin.request, key: nil)
    answer(origin, with: ServerMessage.Response(.ok), orElse: fallback)
  }

  /// Queues the response to a request that is not carried out.
  mutating func refuse(_ origin: RequestOrigin, with error: RequestError) {
    answer(origin, with: error.response, orElse: .keep)
  }

  /// Queues a push to all of its peers.
  mutating func append(_ push: ListenRegistry.Push) {
    let message = HubMessage(bytes: push.bytes, kind: .change)
    if push.peers.count == 1 {
      let peer = push.peers[0]
      return durability.append(.send(peer, message), to: peer, orElse: .drop)
    }
    durability.append(.broadcast(push.peers, message), to: nil, orElse: .drop)
  }

  /// A message in the form that the peer takes: a value if the peer is internal, otherwise bytes.
  func output(_ message: ServerMessage, to peer: PeerID) -> HubOutput {
    isInternal(peer) ? .deliver(peer, message) : .send(peer, HubMessage(message))
  }

  /// Takes the outputs that depend only on durable data; those to closed peers are dropped.
  mutating func flush() -> [HubOutput] {
    var outputs = promptOutputs
    promptOutputs = []
    guard durability.hasDurableOutputs else { return outputs }
    let released = durability.release()
    outputs.reserveCapacity(outputs.count + released.count)
    // Most of the time, one peer gets several outputs in a row.
    var (last, isOpen) = (PeerID?.none, true)
    for entry in released {
      if entry.peer != last {
        last = entry.peer
        isOpen = entry.peer.map { connections[$0] != nil } ?? true
      }
      if isOpen { outputs.append(entry.output) }
    }
    return outputs
  }
}
