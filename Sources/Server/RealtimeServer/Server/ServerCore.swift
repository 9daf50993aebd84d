internal import Logging
internal import NIOCore
internal import RealtimeCore
internal import RealtimeHub
internal import RealtimeTransport
internal import SecurityRules

/// A server: its listeners, and the admission of clients to its databases.
///
/// State: running → stopping (says goodbye, closes the databases) → stopped. Confined to the
/// server's event loop.
final class ServerCore {
  enum Phase {
    case running
    case stopping
    case stopped
  }

  /// Called once when everything is closed, with the failure that ended the server, if one did.
  var onStopped: (DatabaseServerError?) -> Void = { _ in }
  /// The failure that ends the server.
  var failure: DatabaseServerError?

  let context: ServerContext
  let databases: DatabaseRegistry
  var phase = Phase.running
  var listeners: [ServerListener] = []
  /// What the connections of the port are encrypted with.
  var certificate: ServerCertificate?
  var idle: Scheduled<Void>?
  var metricsTask: Scheduled<Void>?
  /// Since when each page is as it is.
  let pageVersions = PageVersions()
  /// The tickets of redirects that were used here.
  var usedTickets = UsedTickets()
  /// Decides who leads which database, where several servers share the storage.
  let leaders: LeadershipDriver?

  init(stores: any TreeStores, leaders: LeadershipDriver? = nil, context: ServerContext) {
    self.context = context
    self.leaders = leaders
    databases = DatabaseRegistry(stores: stores, leaders: leaders, context: context)
    context.onConnectionsChanged = { [weak self] in self?.connectionsChanged() }
    context.onLoss = { [weak self] in self?.fail($0) }
    context.metrics = { [weak self] in self?.metrics ?? .null }
    context.memory.pendingOutput = { [databases] in
      databases.open.reduce(0) { $0 + $1.hub.waitingOutputBytes }
    }
  }

  var eventLoop: any EventLoop { context.eventLoop }
  var options: ServerOptions { context.options }
  var logger: Logger { context.logger }
  var identities: ServerIdentities { context.identities }

  // MARK: Connections

  /// The database that a request is for; the future fails with a ``RESTError``.
  func database(for request: HTTPRequest) -> EventLoopFuture<DatabaseCore> {
    databases.database(name(in: request), isMade: options.isEmulator).flatMapErrorThrowing {
      if $0 is Redirection { throw $0 }
      throw DatabaseRegistry.refusal($0)
    }
  }

  /// The name of the database that a request is for: `ns`, or the first label of a host such as
  /// `NAME.localhost`, or else the one that needs no name.
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

  /// Why no further connection is admitted, or nil when one is.
  var refusal: RESTError? {
    if phase != .running { return RESTError(503, reason: "the server is stopping") }
    if context.connectionCount >= options.limits.connections, !makeRoom() {
      return RESTError(503, reason: "the server has too many connections")
    }
    return nil
  }

  /// Closes the WebSocket that has been idle for longest; false when there is none.
  func makeRoom() -> Bool {
    let idle = databases.open.compactMap { database in database.idlest.map { (database, $0) } }
    guard let (database, session) = idle.min(by: { $0.1.begin < $1.1.begin }) else { return false }
    database.makeRoom(session)
    return true
  }

  /// Decides on a request for a WebSocket.
  ///
  /// The clients of others try again and again when the handshake is refused, and tell nobody. So an
  /// emulator lets them in and says why they are to stay away, which they show.
  func admit(_ request: HTTPRequest) -> EventLoopFuture<HTTPAnswer?> {
    if let refusal { return eventLoop.makeSucceededFuture(refusal.answer) }
    let isTold = options.isEmulator
    let isLocal = request.peer.isLocal
    return database(for: request).map { _ in nil }.flatMapErrorThrowing { error in
      // A client at a port is let in, to be told where to go.
      if let redirection = error as? Redirection {
        return isLocal ? RESTError(redirection).answer : nil
      }
      return isTold
        ? nil : (error as? RESTError ?? RESTError(500, reason: "the server failed")).answer
    }
  }

  /// Accepts a connection that has been admitted.
  func accept(_ connection: ServerConnection) -> ServerHandlers.Callbacks {
    guard let request = connection.request else {
      return turnAway(connection, because: "it has no request")
    }
    let name = name(in: request)
    if let database = databases.opened(name) { return database.accept(connection) }
    if let host = databases.host(of: name) {
      connection.send(EncodedMessage(ServerMessage.reset(host: host).encoded()))
      return turnAway(connection, because: "another server leads the database")
    }
    // Admission has opened it, unless it is to be told why not; or it has been closed since, by a
    // server that is stopping or has made room, and whoever connects again finds it.
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

  private func turnAway(
    _ connection: ServerConnection,
    because reason: String
  ) -> ServerHandlers.Callbacks {
    connection.close(code: CloseCode.goingAway, reason: reason)
    return ServerHandlers.Callbacks(onMessage: { _ in }, onClose: { _ in })
  }
}

extension ServerCore {
  /// What kind of rules is in force in the default database.
  var rulesState: DatabaseServer.RulesState {
    guard let hub = databases.opened(options.namespace)?.hub else {
      // Another server may lead it, or this one in a moment.
      return if case .source = options.rules, leaders != nil { .document } else { .locked }
    }
    if hub.rulesInForce.isDocument { return .document }
    switch options.rules {
    case .open where hub.storedRulesProblem == nil: return .open
    case .open, .locked, .source: return .locked
    }
  }
}
