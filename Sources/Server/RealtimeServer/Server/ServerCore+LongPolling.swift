internal import NIOCore
internal import RealtimeCore
internal import RealtimeTransport

/// Long polling, which the official JavaScript client falls back to in browsers.
extension ServerCore {
  /// Answers a request of a long-polling client.
  func poll(_ request: HTTPRequest) -> EventLoopFuture<HTTPReply> {
    guard let asked = PollRequest(request.parameters) else {
      return reply(HTTPAnswer(status: 400, error: "this is not a request for long polling"))
    }
    let isLeaving = if case .leave = asked { true } else { false }
    guard request.method == "GET" || isLeaving && request.method == "POST" else {
      var answer = HTTPAnswer(status: 405, error: "only GET is possible here")
      answer.headerLines = [HTTPAnswer.HeaderLine("Allow", isLeaving ? "GET, POST" : "GET")]
      return reply(answer)
    }
    switch asked {
    case .start(let callback): return begin(request, callback: callback)
    case .poll(let ticket, let serial, let pieces):
      guard let connection = polling[ticket] else { return reply(.script(PollRequest.unknown)) }
      return connection.poll(serial: serial, pieces: pieces).map { .answer(.script($0)) }
    case .frame(let ticket):
      guard polling[ticket] != nil else { return reply(.script(PollRequest.unknown)) }
      return reply(.farewellFrame(for: request.referringOrigin))
    case .leave(let ticket):
      guard let connection = polling[ticket] else { return reply(.script(PollRequest.unknown)) }
      connection.leave()
      return reply(.script([]))
    }
  }

  private func begin(_ request: HTTPRequest, callback: String) -> EventLoopFuture<HTTPReply> {
    guard makeRoom(for: request.peer) else {
      return reply(HTTPAnswer(status: 503, error: "the address has too many sessions"))
    }
    let core = NIOLoopBound(self, eventLoop: eventLoop)
    return admit(request).map { refusal in
      if let refusal { return .answer(refusal) }
      return .answer(.script(core.value.accept(request, callback: callback)))
    }
  }

  /// Ends the oldest session that nobody polls, if a client's network has its share of sessions.
  ///
  /// A session needs no connection of its own, so a client could otherwise have any number.
  ///
  /// - Returns: Whether there is room for another.
  private func makeRoom(for peer: Peer) -> Bool {
    let sessions = pollers[ClientNetwork(of: peer)] ?? [:]
    guard sessions.count >= max(1, options.limits.connections / 4) else { return true }
    let idle = sessions.values.filter { !$0.isAwaited }.min { $0.lastRequest < $1.lastRequest }
    idle?.giveWay()
    return idle != nil
  }

  /// Accepts a session that has been admitted, and returns the script that answers its request.
  private func accept(_ request: HTTPRequest, callback: String) -> [UInt8] {
    let ticket = PollRequest.Ticket(id: Session.makeName(), password: Session.makeName())
    let network = ClientNetwork(of: request.peer)
    let connection = PollingConnection(
      request,
      ticket: ticket,
      limits: options.limits.transport,
      memory: context.memory,
      eventLoop: eventLoop
    ) { [weak self] in
      self?.polling[ticket] = nil
      self?.pollers[network]?[ticket] = nil
      if self?.pollers[network]?.isEmpty == true { self?.pollers[network] = nil }
    }
    polling[ticket] = connection
    pollers[network, default: [:]][ticket] = connection
    return connection.begin(accept(connection), callback: callback)
  }

  // MARK: WebSockets for these sessions

  /// The long-polling session that a request for a WebSocket names, if it is there.
  func session(named request: HTTPRequest) -> PollingConnection? {
    guard let name = request.parameter("s") else { return nil }
    // Whoever serves it: this server's database or copy, or another server.
    return polling.values.first { $0.sessionName == name }
  }

  /// Accepts a WebSocket that has been admitted, which may be meant for a long-polling session.
  func acceptSocket(_ socket: ServerConnection) -> ServerHandlers.Callbacks {
    guard let request = socket.request else { return accept(socket) }
    if isLink(request) { return acceptLink(socket, by: request) }
    guard request.parameter("s") != nil else { return accept(socket) }
    if let callbacks = session(named: request)?.offer(socket) { return callbacks }
    let host = options.advertisedHost ?? request.namedHost ?? "localhost"
    socket.send(EncodedMessage(ServerMessage.reset(host: host).encoded()))
    return turnAway(socket, because: "its session is unknown")
  }
}

extension HTTPAnswer {
  /// A script for the frame of a long-polling client.
  static func script(_ script: [UInt8]) -> HTTPAnswer {
    HTTPAnswer(
      status: 200,
      contentType: "application/javascript; charset=utf-8",
      headerLines: [
        HeaderLine("Cache-Control", "no-store"),
        HeaderLine("X-Content-Type-Options", "nosniff"),
        // Pages that isolate themselves may embed it.
        HeaderLine("Cross-Origin-Resource-Policy", "cross-origin"),
      ],
      body: script
    )
  }

  /// The page of a frame that tells the server when it is unloaded.
  ///
  /// It runs nothing else. Only the page of the origin, by default the server's own, can embed it.
  static func farewellFrame(for origin: String?) -> HTTPAnswer {
    let nonce = Session.makeName()
    let page = """
      <!DOCTYPE html><title>Hearth</title><script nonce="\(nonce)">\
      addEventListener("pagehide",function(){navigator.sendBeacon("/.lp"+\
      location.search.replace("dframe=t","disconn=t"))})</script>

      """
    let policy =
      "default-src 'none'; script-src 'nonce-\(nonce)'; connect-src 'self'; "
      + "base-uri 'none'; form-action 'none'; frame-ancestors \(origin ?? "'self'")"
    return HTTPAnswer(
      status: 200,
      contentType: "text/html; charset=utf-8",
      headerLines: [
        HeaderLine("Cache-Control", "no-store"),
        HeaderLine("Content-Security-Policy", policy),
        HeaderLine("Cross-Origin-Resource-Policy", "cross-origin"),
        HeaderLine("Cross-Origin-Embedder-Policy", "require-corp"),
        // Without a referrer, the origin of what it sends would be null.
        HeaderLine("Referrer-Policy", "same-origin"),
        HeaderLine("X-Content-Type-Options", "nosniff"),
      ],
      body: Array(page.utf8)
    )
  }
}
