internal import Logging
internal import NIOCore
internal import RealtimeTransport

/// Forwarding clients' messages to the server that leads their database, and serving the clients of
/// other servers.
extension ServerCore {
  /// The longest body that is forwarded, in bytes; a longer request is redirected.
  private static let mostForwarded = 4 * 1_024 * 1_024

  /// How long to search for a leader that has just changed: longer than a lease lasts.
  private static let patience = TimeAmount.seconds(10)

  /// Whether a request goes to another server by a link, rather than by a redirect.
  func isForwarded(_ request: HTTPRequest) -> Bool {
    !options.redirectsClients
      && (request.peer.isLocal || request.body.count <= Self.mostForwarded)
  }

  /// Serves a client of a database that another server leads, even when the leader changes.
  func serveResumably(
    _ connection: any MessageConnection,
    _ handshake: HTTPRequest
  ) -> ServerHandlers.Callbacks {
    let name = name(in: handshake)
    let client = ResumableClient(
      connection,
      handshake: handshake,
      at: leaders?.id ?? "",
      on: eventLoop
    ) { [weak self] in
      self?.search(for: name, on: $0) ?? false
    } onDeparture: { [weak self] in
      self?.departures.insert(name)
      self?.searches[name]?.noteDeparture()
    }
    let isServed = client.resume { [self] in serve($0, from: name) }
    if !isServed, !search(for: name, on: client) {
      client.giveUp(because: "the server is stopping")
    }
    return client.callbacks
  }

  /// Has a client served by the next leader of its database, unless this server is stopping.
  private func search(for name: String, on client: ResumableClient) -> Bool {
    guard phase == .running else { return false }
    search(for: name).add(client)
    return true
  }

  private func search(for name: String) -> LeaderSearch {
    if let search = searches[name] { return search }
    let search = LeaderSearch(context) { [self] in
      next(name)
    } onEnd: { [weak self] in
      self?.searches[name] = nil
    }
    searches[name] = search
    return search
  }

  /// Reports to the next leaders of databases which clients remain, if any have left.
  private func tellDepartures(of names: some Sequence<String>) {
    guard phase == .running else { return }
    for name in names where departures.remove(name) != nil { search(for: name).noteDeparture() }
  }

  /// Who serves the clients of a database at this moment.
  private func next(_ name: String) -> EventLoopFuture<LeaderSearch.Server?> {
    let core = NIOLoopBound(self, eventLoop: eventLoop)
    return databases.database(name, isMade: false).map { database in
      LeaderSearch.Server {
        database.accept($0)
      } settle: {
        $0(database.settle(core.value.leaders?.id ?? ""))
      }
    }.flatMapErrorThrowing { error in
      guard let redirection = error as? Redirection else { throw error }
      guard let link = core.value.link(to: redirection), link.isOpen else { return nil }
      return LeaderSearch.Server {
        core.value.serve($0, from: name)
      } settle: {
        link.settle(name, $0)
      }
    }
  }

  /// Serves a client from the copy of its database, or forwards what it says to the leader.
  ///
  /// - Returns: Who hears the client; nil if the leader is unknown.
  private func serve(
    _ client: ResumableClient,
    from name: String
  ) -> ServerHandlers.Callbacks? {
    if let callbacks = replicas[name]?.accept(client) { return callbacks }
    guard let redirection = databases.redirection(of: name), let link = link(to: redirection) else {
      return nil
    }
    let callbacks = link.forward(client, to: name)
    considerFollowing(name, over: link)
    return callbacks
  }

  /// Follows a database as soon as enough clients of it are forwarded; the next ones read here.
  private func considerFollowing(_ name: String, over link: ForwardingLink) {
    let least = options.limits.followClients
    guard let storage, replicas[name] == nil, least > 0, link.clientCount(of: name) >= least,
      !unfollowed.contains(name, at: .now())
    else { return }
    replicas[name] = Replica(
      of: name,
      over: link,
      storage: storage,
      knowing: known[name],
      context: context
    ) { [weak self] ending, holding in
      guard let self else { return }
      replicas[name] = nil
      switch ending {
      case .leaderChanged: keep(holding, of: name)
      // What could not be read once takes as long to fail again.
      case .fault:
        let now = NIODeadline.now()
        unfollowed.insert(name, until: now + Replica.rest, at: now)
      case .unneeded: break
      }
    }
  }

  /// Keeps the data of a copy for a while.
  private func keep(_ holding: StoredTree?, of name: String) {
    guard let holding else { return }
    known[name] = holding
    eventLoop.assumeIsolated().scheduleTask(in: Replica.keeping) { [weak self] in
      if self?.known[name]?.revision == holding.revision { self?.known[name] = nil }
    }
  }

  /// Has a request answered by the server that leads its database.
  ///
  /// If that one answers that it does not lead it, or is not reached, nothing was carried out, and
  /// the leader is searched for again, as long as the client waits. The same happens if that one is
  /// lost and the request only reads.
  func forward(
    _ request: HTTPRequest,
    by redirection: Redirection,
    until end: NIODeadline?
  ) -> EventLoopFuture<HTTPReply> {
    guard let link = link(to: redirection) else {
      return eventLoop.makeFailedFuture(
        RESTError(503, reason: "the server that leads the database cannot be reached")
      )
    }
    let core = NIOLoopBound(self, eventLoop: eventLoop)
    let end = end ?? .now() + Self.patience
    return link.forward(request, about: name(in: request)).flatMapError { error in
      let absence = error as? ForwardingLink.NotLedThere
      guard absence != nil || request.onlyReads, NIODeadline.now() < end else {
        return core.eventLoop.makeFailedFuture(
          absence.map { RESTError(503, reason: $0.reason) } ?? error
        )
      }
      return core.eventLoop.flatScheduleTask(in: .milliseconds(100)) {
        request.isGivenUp
          ? core.eventLoop.makeFailedFuture(RESTError.clientHasLeft)
          : core.value.answer(request, until: end)
      }.futureResult
    }
  }

  /// Makes a stream survive a change of the leader, if another server leads the database.
  func resumable(
    _ open: @escaping @Sendable (HTTPStream) -> @Sendable () -> Void,
    _ request: HTTPRequest
  ) -> @Sendable (HTTPStream) -> @Sendable () -> Void {
    guard leaders != nil, databases.opened(name(in: request)) == nil else { return open }
    let core = NIOLoopBound(self, eventLoop: eventLoop)
    return { client in
      let stream = ResumableStream(to: client) {
        core.value.phase == .running ? core.value.answer(request, isResumed: true) : nil
      }
      let bound = NIOLoopBound(stream, eventLoop: core.eventLoop)
      stream.feed(open)
      return { bound.value.leave() }
    }
  }

  /// Releases the clients of a database that are forwarded to a server that no longer leads it.
  ///
  /// The leader is the server that leads it now; nil for this one.
  func leaveLinks(of name: String, to leader: String?) {
    for link in Array(links.values) where link.server != leader { link.leave(name) }
    // Its link may have ended without a word about this database.
    if let replica = replicas[name], replica.link.server != leader {
      replica.leaderChanged("another server leads it")
    }
    tellDepartures(of: [name])
  }

  /// The link to a server, which is begun if there is none.
  private func link(to redirection: Redirection) -> ForwardingLink? {
    if let link = links[redirection.server] { return link }
    let base = ConnectionTarget(host: "localhost", port: 1, isSecure: options.tls != nil)
    guard phase == .running, let leaders, let time = leaders.storageTime,
      let secret = identities.sharedSecret, let target = base.redirected(to: redirection.host),
      let ticket = LinkTicket(
        server: redirection.server,
        origin: leaders.id,
        end: time + RedirectTicket.lifetime
      ).sealed(with: secret)
    else { return nil }
    let link = ForwardingLink(
      to: target,
      server: redirection.server,
      ticket: ticket,
      trust: options.tls?.authority.map { .file($0) } ?? .system,
      context: context
    ) { [weak self] in
      guard let self else { return }
      links[redirection.server] = nil
      tellDepartures(of: departures)
    }
    links[redirection.server] = link
    return link
  }

  // MARK: Links from other servers

  /// Whether a handshake asks for a link.
  func isLink(_ request: HTTPRequest) -> Bool {
    leaders != nil && request.parameter(LinkTicket.parameter) != nil
  }

  /// Checks whether a link is accepted, and returns the run of the server that it is from.
  @discardableResult func checkLink(
    _ request: HTTPRequest,
    isOpened: Bool
  ) throws(RESTError) -> String {
    guard phase == .running, let leaders, let time = leaders.storageTime,
      let secret = identities.sharedSecret
    else { throw RESTError(503, reason: "the server is not ready") }
    guard let text = request.parameter(LinkTicket.parameter),
      let ticket = LinkTicket(text, sealedWith: secret), ticket.server == leaders.id
    else { throw RESTError(401, reason: "the link is not from one of these servers") }
    let end = ticket.end + RedirectTicket.margin
    guard time < end, ticket.end <= time + RedirectTicket.lifetime + RedirectTicket.margin else {
      throw RESTError(401, reason: "the ticket of the link has expired")
    }
    if isOpened, !useTicket(text, until: end, at: time) {
      throw RESTError(401, reason: "the ticket of the link has already been used")
    }
    return ticket.origin
  }

  func acceptLink(
    _ socket: any MessageConnection,
    by handshake: HTTPRequest
  ) -> ServerHandlers.Callbacks {
    let origin: String
    do throws(RESTError) {
      origin = try checkLink(handshake, isOpened: true)
    } catch {
      return turnAway(socket, because: error.reason)
    }
    let clients = ForwardedClients(socket, from: origin, to: self)
    forwarded.append(clients)
    let bound = NIOLoopBound(clients, eventLoop: eventLoop)
    return ServerHandlers.Callbacks(
      onMessage: { bound.value.receive($0) },
      onClose: { bound.value.ended($0) }
    )
  }

  /// Ends all links, and disconnects the clients that wait for one.
  func closeLinks() {
    for search in Array(searches.values) { search.end(because: "the server is stopping") }
    for link in Array(links.values) { link.close() }
    for clients in forwarded { clients.close() }
  }
}

extension ServerCore: ForwardingHost {
  func ledDatabase(_ name: String) -> EventLoopFuture<DatabaseCore> { databases.led(name) }

  func answerForwarded(_ request: HTTPRequest) -> EventLoopFuture<HTTPReply> {
    // The other server asks again, and may learn of the next leader, or lead, before this one does.
    guard phase == .running, !databases.isLeaving(name(in: request)) else {
      return eventLoop.makeFailedFuture(ForwardingLink.NotLedThere())
    }
    return answer(request, isForwarded: true)
  }

  func ended(_ clients: ForwardedClients) {
    forwarded.removeAll { $0 === clients }
  }
}
