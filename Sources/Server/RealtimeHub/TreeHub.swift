package import RealtimeCore
package import SecurityRules

/// The server engine of one database: turns what peers say into what they are to be told.
///
/// All requests form one total order. A write is applied in memory and joins the open batch; its
/// pushes, its answer and all later outputs wait until the batch is durable:
///
///     handle ──► open batch ──takeBatch──► in flight ──batchCommitted──► durable, outputs leave
///                                              └──────batchFailed──────► back to the durable tree
///
/// After every call the owner asks for the ``agenda()``; when commits wait, it takes a batch as soon as
/// it likes, stores it on whatever thread it likes, also as one with others that follow it, and reports
/// the outcome by one of ``batchCommitted(_:)`` and ``batchFailed(_:at:)``. The latter is for a store
/// that is certain to have stored nothing, as when the disk is full. If the outcome is not known, the
/// owner gives the hub up: only a new one, which reads what the disk has, can tell clients the truth.
///
/// Credentials end by themselves: the owner calls ``tick(at:)`` when the agenda's deadline has come.
package struct TreeHub: Sendable {
  let limits: HubLimits
  let verifier: any CredentialVerifier

  /// The tree with everything that has been applied.
  var root: Node
  /// The number of the last commit that has been applied.
  var appliedRevision: Int64
  /// The tree as far as it is durable.
  var durableRoot: Node
  /// The number of the last durable commit.
  var durableRevision: Int64

  /// The rules that requests are checked by.
  var rules: RuleSet
  /// The rules as far as they are durable.
  package internal(set) var durableRules: RuleSet
  /// The source of rules that no batch has taken.
  var unsavedRules: String?
  /// Why the stored rules are not in force, when they are no rules.
  package let storedRulesProblem: RulesError?

  /// Counts commits, changes of what is scheduled and of rules: all that must become durable.
  var appliedStep: Int64 = 0
  /// The last step that is durable.
  var durableStep: Int64 = 0
  /// The time of the last call that told it.
  var now: Int64?

  /// Applied commits that no batch has taken.
  var openCommits: [Commit] = []
  /// The batches that are being stored, or wait for those before them.
  var inFlight: [BatchInFlight] = []
  /// How many commits they have.
  var commitsInFlight = 0

  /// The hash of large data, which the owner has computed for the condition of a write.
  var knownHash: (node: Node, hash: String)?
  var ledger: WriteLedger
  var outbox = Outbox()
  var registry = ListenRegistry()
  var conditionalListens = ConditionalListens()
  var orders: OrderShelf
  /// When the credentials of peers end.
  var deadlines = SortedMap<CredentialDeadline, Void>()
  var peers: [PeerID: Peer] = [:]

  /// What the store holds of what peers have scheduled.
  var sessions: SessionLedger
  /// What ended peers have scheduled and could not be applied yet.
  var overdueDisconnects: [ScheduledWrites]
  /// What ended peers have scheduled and is applied, with the step that must become durable.
  var firedDisconnects: [(step: Int64, writes: ScheduledWrites)] = []

  /// Continues from what a store holds; the connections that had scheduled something have ended.
  ///
  /// - Parameters:
  ///   - stored: What the store holds. Its rules are in force, if it has any; if they are none any
  ///     more, nothing is allowed until there are others, and ``storedRulesProblem`` says why.
  ///   - limits: What peers may cost.
  ///   - rules: The rules while the store has none. A server says itself which ones; a hub by itself
  ///     leaves the permissions to its owner.
  ///   - verifier: Who tells whom a credential belongs to.
  package init(
    stored: StoredTree,
    limits: HubLimits = HubLimits(),
    rules: RuleSet = .open,
    verifier: any CredentialVerifier = NoSignIn()
  ) {
    self.limits = limits
    self.verifier = verifier
    (self.rules, storedRulesProblem) = Self.rules(stored.rules, orElse: rules)
    durableRules = self.rules
    orders = OrderShelf(limits)
    root = stored.root
    durableRoot = stored.root
    appliedRevision = stored.revision
    durableRevision = stored.revision
    ledger = WriteLedger(stored.ledger, limits: limits)
    sessions = SessionLedger(stored.sessions)
    overdueDisconnects = sessions.stored
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

  /// The durable data.
  package var snapshot: Node { durableRoot }

  /// The number of the last durable commit; 0 before the first.
  package var revision: Int64 { durableRevision }

  /// The number of open connections.
  package var peerCount: Int { peers.count }

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

  /// Applies what the connections of an earlier hub had scheduled for their ends.
  ///
  /// The owner calls this once at the start; without it the first call of a peer does the same.
  ///
  /// - Parameter timestamp: The server's time in milliseconds since 1970.
  package mutating func resume(at timestamp: Int64) {
    now = timestamp
  }

  /// Ends a connection: its listens are forgotten and its scheduled writes applied as one commit.
  ///
  /// - Parameters:
  ///   - peer: The connection; unknown ones are ignored.
  ///   - timestamp: The server's time in milliseconds since 1970.
  /// - Returns: What the others are to be told.
  package mutating func close(_ peer: PeerID, at timestamp: Int64) -> [HubOutput] {
    now = timestamp
    guard let state = peers[peer] else { return [] }
    for key in state.listens { endListen(key, of: peer) }
    setDeadline(nil, of: peer)
    peers[peer] = nil
    overdueDisconnects += state.scheduled.filter { !$0.table.isEmpty }
    boundOverdueDisconnects()
    if admissionRefusal == nil { fireOverdueDisconnects(at: timestamp) }
    return flush()
  }

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
    guard let state = peers[peer], !state.isLeaving else { return flush() }
    switch message {
    case .ping: append(.pong, to: peer, .keep)
    case .control: break
    case .request(let id, let request):
      handle(request, RequestOrigin(peer: peer, request: id), at: timestamp)
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
    guard let state = peers[peer], !state.isLeaving else { return [] }
    if let id = error.requestID {
      let refusal = Refusal(.invalidData, error.reason)
      answer(RequestOrigin(peer: peer, request: id), refusal.response, .keep)
    } else {
      append(.error(error.reason), to: peer, .keep)
    }
    return flush()
  }

  private mutating func handle(
    _ request: ClientRequest,
    _ origin: RequestOrigin,
    at timestamp: Int64
  ) {
    switch request {
    case .stats: answer(origin, .ok)
    case .authenticate(let authentication): authenticate(authentication, origin, at: timestamp)
    case .unauthenticate: unauthenticate(origin)
    case .appCheck: answer(origin, .ok)
    case .listen(let listen): handle(listen, origin)
    case .unlisten(let path, let query, _): unlisten(ListenKey(path, query), origin)
    case .get(let path, let query): get(path, query, origin)
    case .write(let write): handle(write, origin, at: timestamp)
    case .onDisconnect(let path, let operation):
      schedule(operation, at: path, origin, at: timestamp)
    case .cancelOnDisconnect(let path): cancelScheduled(at: path, origin)
    case .unknown(let action):
      answer(origin, Refusal(.failure, "unknown action \"\(action)\"").response, .keep)
    }
  }
}
