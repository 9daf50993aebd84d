internal import Logging
internal import NIOCore
internal import RealtimeCore
internal import RealtimeTransport

/// A server: its listeners, and the admission of clients to its databases.
///
/// State: running → stopping (disconnects clients, closes the databases) → stopped. Confined to the
/// server's event loop.
final class ServerCore {
  enum Phase {
    case running
    case stopping
    case stopped
  }

  /// Called once everything is closed, with the failure that ended the server, if any.
  var onStopped: (DatabaseServerError?) -> Void = { _ in }
  var failure: DatabaseServerError?
  let context: ServerContext
  let databases: DatabaseRegistry
  var phase = Phase.running
  var listeners: [ServerListener] = []
  /// The certificate for connections to the port; nil if they are not encrypted.
  var certificate: ServerCertificate?
  var idle: Scheduled<Void>?
  var metricsTask: Scheduled<Void>?
  /// The next check for silent connections.
  var keepAliveTask: Scheduled<Void>?
  /// When each page last changed.
  let pageVersions = PageVersions()
  /// The tickets of redirected requests and of links that have been used at this server.
  private var usedTickets = ExpiringNames<Int64>()
  /// The links to other servers, by their run, over which clients here reach their databases.
  var links: [String: ForwardingLink] = [:]
  /// The links from other servers, whose clients reach their databases here.
  var forwarded: [ForwardedClients] = []
  /// The copies of databases that other servers lead.
  var replicas: [String: Replica] = [:]
  /// The data of copies whose leader was lost a moment ago.
  var known: [String: StoredTree] = [:]
  /// The databases of clients that left after scheduling disconnect writes: if a leader is lost, it
  /// may not have learned that they left.
  var departures: Set<String> = []
  /// The searches for the leaders of databases, on behalf of clients that have lost theirs.
  var searches: [String: LeaderSearch] = [:]
  /// The databases that could not be followed, which is not tried again for a while.
  var unfollowed = ExpiringNames<NIODeadline>()
  /// The sessions of clients that poll.
  var polling: [PollRequest.Ticket: PollingConnection] = [:]
  /// The same by network; nil stands for this machine.
  var pollers: [ClientNetwork?: [PollRequest.Ticket: PollingConnection]] = [:]
  /// Decides which server leads which database, where several share the storage.
  let leaders: LeadershipDriver?

  /// The storage that this server shares with others; nil if it has its own.
  let storage: (any StoredDatabases)?

  init(stores: any TreeStores, leaders: LeadershipDriver? = nil, context: ServerContext) {
    self.context = context
    self.leaders = leaders
    storage = leaders == nil ? nil : stores as? any StoredDatabases
    databases = DatabaseRegistry(stores: stores, leaders: leaders, context: context)
    databases.onLeader = { [weak self] in self?.leaveLinks(of: $0, to: $1) }
    databases.takeKnown = { [weak self] in self?.known.removeValue(forKey: $0) }
    context.onConnectionsChanged = { [weak self] in self?.connectionsChanged() }
    context.onLoss = { [weak self] in self?.fail($0) }
    context.metrics = { [weak self] in self?.metrics ?? .null }
    context.memory.pendingOutput = { [weak self] in
      self?.served.reduce(0) { $0 + $1.hub.waitingOutputBytes } ?? 0
    }
  }

  var eventLoop: any EventLoop { context.eventLoop }
  var options: ServerOptions { context.options }
  var logger: Logger { context.logger }
  var identities: ServerIdentities { context.identities }

  /// The databases that clients are served from: those that are led here, and copies.
  var served: [DatabaseCore] { replicas.isEmpty ? databases.open : databases.open + copies }

  /// The copies that are complete, ordered by name.
  var copies: [DatabaseCore] { replicas.values.compactMap(\.core).sorted { $0.name < $1.name } }

  // MARK: Connections

  /// The database that a request is for.
  ///
  /// The future fails with a ``RESTError``, or a ``Redirection`` if another server leads it. If the
  /// client leaves while no leader is known, the request is dropped: the client may have sent it to
  /// another server since, and changed the same data again.
  func database(for request: HTTPRequest) -> EventLoopFuture<DatabaseCore> {
    var isLate = false
    func checkThatClientWaits() throws {
      if isLate, request.isGivenUp { throw RESTError.clientHasLeft }
    }
    let database = databases.database(name(in: request), isMade: options.isEmulator)
      .assumeIsolated()
      .flatMapErrorThrowing { error in
        try checkThatClientWaits()
        throw error is Redirection ? error : DatabaseRegistry.refusal(error)
      }.flatMapThrowing { database in
        try checkThatClientWaits()
        return database
      }
    isLate = true
    return database.nonisolated()
  }

  /// The name of the database that a request is for.
  ///
  /// It is taken from `ns`, or from the first label of a host such as `NAME.localhost`; otherwise
  /// it is the default database.
  func name(in request: HTTPRequest) -> String {
    if let name = request.parameter("ns") { return name }
    let labels = (request.header("Host") ?? "").split(
      separator: ".",
      omittingEmptySubsequences: false
    )
    guard labels.count == 2, labels[1].lowercased().hasPrefix("localhost") else {
      return options.namespace
    }
    return labels[0].lowercased()
  }

  /// Marks a ticket as used; false if it already was.
  func useTicket(_ text: String, until end: Int64, at time: Int64) -> Bool {
    // The beginning of a ticket is random, so it identifies the ticket.
    usedTickets.insert(String(text.prefix(24)), until: end, at: time)
  }

  /// Ensures that a client may have a further connection, or throws why it may not.
  ///
  /// Some connections are reserved for the private socket, so that whoever runs the server can see
  /// who uses up the others.
  func requireRoom(for peer: Peer) throws(RESTError) {
    if phase != .running { throw RESTError(503, reason: "the server is stopping") }
    let limit = options.limits.connections + (peer.isLocal ? ServerLimits.reservedConnections : 0)
    if context.connectionCount >= limit, !makeRoom() {
      context.noteOnce("refused: all \(options.limits.connections) connections are in use")
      throw RESTError(503, reason: "the server has too many connections")
    }
  }

  /// Closes the idle WebSocket that others need least; returns false when there is none.
  ///
  /// Those that have been allowed nothing give way first, the oldest before the others, and then
  /// those with an anonymous account, the one first that has been silent the longest.
  func makeRoom() -> Bool {
    let open = served
    let idle = open.compactMap { database in database.idlest.map { (database, $0) } }
      .min { $0.1.begin < $1.1.begin }
    let guest = open.compactMap { database in database.idlestGuest.map { (database, $0) } }
      .min { $0.1.lastMessage < $1.1.lastMessage }
    guard let (database, session) = idle ?? guest else {
      return links.values.contains { $0.makeRoom() }
    }
    database.makeRoom(session)
    return true
  }

  /// Decides whether a request for a WebSocket, or for a long-polling session, is admitted.
  ///
  /// Firebase clients retry endlessly when the handshake is refused, and report nothing. So an
  /// emulator lets them in and then tells them why they must stay away, which they do show.
  func admit(_ request: HTTPRequest) -> EventLoopFuture<HTTPAnswer?> {
    // A session that moves to a WebSocket is not another connection.
    if session(named: request) != nil { return eventLoop.makeSucceededFuture(nil) }
    do throws(RESTError) {
      if isLink(request) {
        try checkLink(request, isOpened: false)
        return eventLoop.makeSucceededFuture(nil)
      }
      try requireRoom(for: request.peer)
    } catch {
      return eventLoop.makeSucceededFuture(error.answer)
    }
    let isTold = options.isEmulator
    let staysAway = request.peer.isLocal && options.redirectsClients
    return database(for: request).map { _ in nil }.flatMapErrorThrowing { error in
      // A client that came over the network is let in, so that it can be redirected.
      if let redirection = error as? Redirection {
        return staysAway ? RESTError(redirection).answer : nil
      }
      return isTold
        ? nil : (error as? RESTError ?? RESTError(500, reason: "the server failed")).answer
    }
  }

  func accept(_ connection: any MessageConnection) -> ServerHandlers.Callbacks {
    guard let request = connection.request else {
      return turnAway(connection, because: "it has no request")
    }
    let name = name(in: request)
    if let database = databases.opened(name) { return database.accept(connection) }
    if let redirection = databases.redirection(of: name) {
      guard options.redirectsClients else { return serveResumably(connection, request) }
      let reset = ServerMessage.reset(host: redirection.host)
      connection.send(EncodedMessage(reset.encoded()))
      return turnAway(connection, because: "another server leads the database")
    }
    // Admission has opened the database, unless the client is only let in to be told why not. Or
    // the database has been closed since, to make room or because the server is stopping; a client
    // that reconnects will find it.
    if options.isEmulator, phase == .running, let refusal = databases.refusal(of: name) {
      logger.notice(
        "refused: \(refusal.reason)",
        metadata: ["database": "\(name.debugDescription)"]
      )
      let shutdown = ServerMessage.shutdown(reason: refusal.reason)
      connection.send(EncodedMessage(shutdown.encoded()))
      return turnAway(connection, because: refusal.reason)
    }
    return turnAway(connection, because: "the database is closed")
  }

  /// Closes a connection that cannot be accepted.
  func turnAway(
    _ connection: any MessageConnection,
    because reason: String
  ) -> ServerHandlers.Callbacks {
    connection.close(code: CloseCode.goingAway, reason: reason)
    return ServerHandlers.Callbacks(onMessage: { _ in }, onClose: { _ in })
  }
}

extension ServerCore {
  /// The kind of rules that the default database has in force.
  var rulesState: DatabaseServer.RulesState {
    guard let hub = databases.opened(options.namespace)?.hub else {
      // Another server may lead it, or this one may be about to.
      return if case .source = context.rules, leaders != nil { .document } else { .locked }
    }
    if hub.rulesInForce.isDocument { return .document }
    switch options.rules {
    case .open where hub.storedRulesProblem == nil: return .open
    case .open, .locked, .source: return .locked
    }
  }
}
