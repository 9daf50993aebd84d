internal import Logging
internal import NIOCore
internal import RealtimeCore
internal import RealtimeTransport

extension ServerCore {
  /// Answers a request that does not ask for a WebSocket.
  ///
  /// Neither the path nor the parameters are logged, because they contain data and credentials.
  ///
  /// A request that another server forwards must not go back to it: only then can the future fail,
  /// with a ``Redirection``. A resumed reply continues that of a leader that was lost. Another
  /// leader is searched for until the end; nil if none has been asked yet.
  func answer(
    _ request: HTTPRequest,
    isForwarded: Bool = false,
    isResumed: Bool = false,
    until end: NIODeadline? = nil
  ) -> EventLoopFuture<HTTPReply> {
    if request.path == PollRequest.path {
      return inTurn(of: request) { self.poll(request) }
    }
    let sender = sender(of: request)
    let answered = inTurn(of: request) { () throws(RESTError) in
      try self.reply(to: request, from: sender)
    }
    let forwarded = answered.assumeIsolated().flatMapError { error -> EventLoopFuture<HTTPReply> in
      guard let redirection = error as? Redirection, !isForwarded, self.isForwarded(request) else {
        return self.eventLoop.makeFailedFuture(error)
      }
      return self.forward(request, by: redirection, until: end)
    }
    let resumable = forwarded.map { reply -> HTTPReply in
      guard !isForwarded, !isResumed, case .stream(let answer, let open) = reply else {
        return reply
      }
      return .stream(answer, open: self.resumable(open, request))
    }
    let reply = resumable.flatMapErrorThrowing { error in
      // The next leader can read for it as well.
      if isForwarded, request.onlyReads, self.phase != .running { throw error }
      if let redirection = error as? Redirection {
        if isForwarded { throw redirection }
        return .answer(self.redirect(request, by: redirection, from: sender))
      }
      let refusal = error as? RESTError ?? RESTError(500, reason: "the server failed")
      let isOfAccounts = IdentityRoute(path: request.path) != nil
      return .answer(isOfAccounts ? .identity(refusal) : refusal.answer)
    }
    .nonisolated()
    let logger = logger
    reply.whenSuccess { reply in
      let status =
        switch reply {
        case .answer(let answer): answer.status
        case .stream(let answer, _): answer.status
        }
      logger.debug("answered", metadata: ["method": "\(request.method)", "status": "\(status)"])
    }
    return reply
  }

  /// Begins to answer a request when it is its turn.
  ///
  /// A client that sends many requests waits for those that send few, whatever the requests are.
  private func inTurn(
    of request: HTTPRequest,
    _ work: @escaping () throws(RESTError) -> EventLoopFuture<HTTPReply>
  ) -> EventLoopFuture<HTTPReply> {
    let promise = eventLoop.makePromise(of: HTTPReply.self)
    let account = context.account(of: request.connection)
    context.scheduler.request(
      by: RequestTurn(account) {
        // A reader that has left needs no answer; what others have sent is still carried out.
        guard !(request.isGivenUp && request.onlyReads) else {
          return promise.fail(RESTError.clientHasLeft)
        }
        do throws(RESTError) {
          promise.completeWith(try work())
        } catch {
          promise.fail(error)
        }
      }
    )
    return promise.futureResult
  }

  /// Decides which share of memory a long body is charged to, by the credential of its request.
  ///
  /// Callers that may not write anything are refused before the body is read.
  func admitBody(of request: HTTPRequest) -> BodyAdmission {
    if request.path == PollRequest.path {
      return .refused(HTTPAnswer(status: 413, error: "the body is too long"))
    }
    if IdentityRoute(path: request.path) != nil {
      // Only the header's presence is checked here; it is verified once the body has arrived.
      let isPlausible = request.header("Authorization") != nil || options.isEmulator
      return isPlausible ? .ofStranger : .refused(.identity(IdentityAnswer(.bodyTooLong)))
    }
    let database = databases.opened(name(in: request))
    do throws(RESTError) {
      let credential = try sender(of: request, isCarriedOut: false).get()
      if credential.verified != nil { return .ofKnown }
      if let authentication = credential.authentication {
        if credential.base != .administrator {
          _ = try verify(authentication, for: name(in: request))
        }
        return .ofKnown
      }
      if credential.base == .administrator { return .ofKnown }
      // The rules of a database that is not open yet are unknown.
      let isOpen = database?.hub.rulesInForce.mayLetNobodyWrite ?? true
      guard isOpen, !RulesRequest.isMeant(by: request) else { throw RESTError.permissionDenied }
      return .ofStranger
    } catch {
      return .refused(error.answer)
    }
  }

  func reply(_ answer: HTTPAnswer) -> EventLoopFuture<HTTPReply> {
    eventLoop.makeSucceededFuture(.answer(answer))
  }

  private func reply(
    to request: HTTPRequest,
    from sender: Result<RESTCredential, RESTError>
  ) throws(RESTError) -> EventLoopFuture<HTTPReply> {
    let tool = ToolRequest(path: request.path)
    let asksForMetrics = [Self.metricsPath, Self.metricsTextPath].contains(request.path)
    // A browser that asks before another request would keep any other answer from its page.
    if request.method == "OPTIONS",
      request.path == "*" || asksForMetrics || tool != nil || RulesRequest.isMeant(by: request)
        || request.header("Access-Control-Request-Method") != nil
    {
      return reply(.allowedMethods)
    }
    if asksForMetrics { return try metricsReply(to: request) }
    if let health = health(at: request.path) { return reply(health) }
    if RulesRequest.isMeant(by: request) {
      let rules = try RulesRequest(request, from: sender)
      try requireRoom(for: request.peer)
      return database(for: request).flatMap { RulesExchange.run(rules, on: $0) }
    }
    if let route = IdentityRoute(path: request.path) {
      return try identityReply(to: request, route: route)
    }
    if let tool { return try toolReply(to: request, asking: tool) }
    if let pages = options.pages(at: request.path) {
      return try pageReply(to: request, from: pages)
    }
    let depthLimit = options.limits.jsonDepth
    guard let rest = try RESTRequest(request, from: sender, depthLimit: depthLimit) else {
      return reply(.notREST)
    }
    try requireRoom(for: request.peer)
    let bound = NIOLoopBound(rest, eventLoop: eventLoop)
    return reader(for: request).flatMap { database in
      Self.answer(bound.value, from: database)
    }
  }

  /// The database that answers a request: a copy, if there is one and the request only reads.
  private func reader(for request: HTTPRequest) -> EventLoopFuture<DatabaseCore> {
    guard request.onlyReads, let replica = replicas[name(in: request)],
      replica.core != nil
    else { return database(for: request) }
    return replica.current()
  }

  /// Answers with a page of the default database, ignoring any credential in the request.
  private func pageReply(
    to request: HTTPRequest,
    from pages: any PageSource
  ) throws(RESTError) -> EventLoopFuture<HTTPReply> {
    guard request.method == "GET" || request.method == "HEAD" else {
      return reply(.pageIsReadOnly)
    }
    try requireRoom(for: request.peer)
    let versions = NIOLoopBound(pageVersions, eventLoop: eventLoop)
    return databases.database(options.namespace, isMade: options.isEmulator)
      .flatMapErrorThrowing { throw DatabaseRegistry.refusal($0) }
      .flatMap { PageExchange.run(request, from: pages, on: $0, versions: versions.value) }
  }

  private static func answer(
    _ request: RESTRequest,
    from database: DatabaseCore
  ) -> EventLoopFuture<HTTPReply> {
    if request.method == .options {
      return database.eventLoop.makeSucceededFuture(.answer(.allowedMethods))
    }
    guard request.wantsStream else { return RESTExchange.run(request, on: database) }
    if request.options.isShallow {
      return database.eventLoop.makeFailedFuture(
        RESTError(400, reason: "shallow cannot be combined with an event stream")
      )
    }
    return EventStream.open(request, on: database)
  }
}

extension HTTPRequest {
  /// Whether it changes nothing, so that it may be answered again.
  var onlyReads: Bool { ["GET", "HEAD", "OPTIONS"].contains(method) }

  /// Whether the client has closed its connection without waiting for the answer.
  var isGivenUp: Bool {
    // One that polls needs no connection between two requests.
    reader?.isGone == true && path != PollRequest.path
  }
}

private final class RequestTurn: Schedulable {
  let account: SchedulerAccount
  var isWaiting = false
  private var work: (() -> Void)?

  init(_ account: SchedulerAccount, _ work: @escaping () -> Void) {
    self.account = account
    self.work = work
  }

  var isReady: Bool { work != nil }

  func takeTurn() {
    work.take()?()
  }
}

extension ServerCore {
  private func identityReply(
    to request: HTTPRequest,
    route: IdentityRoute
  ) throws(RESTError) -> EventLoopFuture<HTTPReply> {
    try requireRoom(for: request.peer)
    if request.method == "OPTIONS" {
      var answer = HTTPAnswer.empty(200)
      answer.headerLines.append(HTTPAnswer.HeaderLine("Allow", "POST, OPTIONS"))
      return reply(answer)
    }
    // The emulator has one set of accounts, whatever project a test makes up.
    let name = options.isEmulator ? options.namespace : route.project ?? self.name(in: request)
    let identities = NIOLoopBound(identities, eventLoop: eventLoop)
    let asked = Self.identityRequest(request, route: route, database: name)
    // Any server can manage the accounts, whichever server leads the data.
    let found =
      leaders == nil
      ? databases.database(name, isMade: options.isEmulator).map { _ in }
      : databases.isPresent(name)
    return found.flatMap { identities.value.answer(asked) }
      .flatMapErrorThrowing { throw DatabaseRegistry.refusal($0) }
  }

  private static func identityRequest(
    _ request: HTTPRequest,
    route: IdentityRoute,
    database: String
  ) -> IdentityRequest {
    var asked = IdentityRequest(request.method, at: route, database: database)
    asked.parameters = request.parameters
    asked.contentType = request.header("Content-Type")
    asked.body = request.body
    asked.host = request.namedHost
    asked.client = ClientNetwork(of: request.peer)?.description ?? request.peer.hostName
    if let reader = request.reader { asked.isAbandoned = { reader.isGone } }
    asked.isAdministrator = DatabaseCore.identity(of: request.peer) == .administrator
    let words = (request.header("Authorization") ?? "").split(separator: " ")
    if words.count == 2, words[0].lowercased() == "bearer" { asked.bearer = String(words[1]) }
    return asked
  }
}

extension Peer {
  /// The address of a client, or its user if it is a process of this machine.
  var hostName: String {
    switch self {
    case .local(let credentials): "user \(credentials.user)"
    case .network(let address):
      // The port is left out, because it differs for every connection.
      String(address[..<(address.lastIndex(of: ":") ?? address.endIndex)])
    }
  }
}

extension HTTPAnswer {
  /// A response to an identity request; it must not be stored by caches.
  static func identity(_ answer: IdentityAnswer) -> HTTPAnswer {
    var reply = HTTPAnswer.json(answer.status, body: Array(answer.json.text.utf8))
    reply.headerLines = [HeaderLine("Cache-Control", "no-store")]
    if let method = answer.requiredMethod {
      reply.headerLines.append(HeaderLine("Allow", "\(method), OPTIONS"))
    }
    return reply
  }
}

extension HTTPAnswer {
  /// The refusal of an identity request, in the form that its clients read.
  fileprivate static func identity(_ refusal: RESTError) -> HTTPAnswer {
    let code =
      switch refusal.status {
      case 404: "PROJECT_NOT_FOUND"
      case 500: "INTERNAL_ERROR"
      default: "UNAVAILABLE"
      }
    let error = IdentityError(code, detail: refusal.reason, status: refusal.status)
    return .identity(IdentityAnswer(error))
  }
}

extension ServerCore {
  /// The path at which administrators read the metrics.
  static let metricsPath = "/.info/metrics.json"
  /// The path at which administrators read them in Prometheus' text format.
  static let metricsTextPath = "/metrics"

  /// The answer to a probe: whether the process works, or whether it can serve clients.
  private func health(at path: String) -> HTTPAnswer? {
    let reason: String?
    switch path {
    case "/livez": reason = nil
    // Why this server can neither lead a database nor find its leader.
    case "/readyz": reason = phase == .running ? leaders?.trouble : "the server is stopping"
    case _: return nil
    }
    let json = JSONValue.object(
      ("status", .string(reason == nil ? "ok" : "unavailable")),
      ("reason", reason.map { .string($0) } ?? .null)
    )
    return .json(reason == nil ? 200 : 503, body: Array(json.text.utf8))
  }

  var metrics: JSONValue {
    let uptime = NIODeadline.now() - context.start
    return .object(
      ("uptimeSeconds", .integer(uptime.nanoseconds / 1_000_000_000)),
      ("residentMebibytes", .integer(Int64(ResidentMemory.mebibytes()))),
      ("promisedBytes", .integer(Int64(context.memory.promisedInput))),
      ("waitingBytes", .integer(Int64(context.memory.outputBytes))),
      ("connections", .integer(Int64(context.connectionCount))),
      ("databases", .object(databases.open.map { JSONMember($0.name, $0.metricsJSON) })),
      ("copies", .object(copies.map { JSONMember($0.name, $0.metricsJSON) })),
      ("cluster", leaders?.metrics.json)
    )
  }

  /// Logs the metrics at regular intervals.
  func scheduleMetrics() {
    guard let interval = options.metricsInterval else { return }
    metricsTask = eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(interval)) { [weak self] in
      guard let self else { return }
      logger.notice("metrics", metadata: ["metrics": .stringConvertible(LoggedJSON(json: metrics))])
      scheduleMetrics()
    }
  }

  /// Answers with the metrics, for administrators only.
  private func metricsReply(
    to request: HTTPRequest
  ) throws(RESTError) -> EventLoopFuture<HTTPReply> {
    try requireAdministrator(request)
    guard request.method == "GET" || request.method == "HEAD" else {
      throw RESTError(405, reason: "the metrics are read-only", allowed: [.get, .head, .options])
    }
    let answer =
      request.path == Self.metricsPath
      ? HTTPAnswer.json(200, body: Array(metrics.text.utf8))
      : HTTPAnswer(
        status: 200,
        contentType: PrometheusText.contentType,
        body: Array(metricsText.utf8)
      )
    return reply(answer)
  }

  /// Answers what tools ask about a database or the server, for administrators only.
  private func toolReply(
    to request: HTTPRequest,
    asking tool: ToolRequest
  ) throws(RESTError) -> EventLoopFuture<HTTPReply> {
    try requireAdministrator(request)
    let names = Set(databases.open.map(\.name) + [options.namespace]).sorted()
    return reply(try tool.answer(to: request, databases: names))
  }

  /// Refuses a request unless it comes over an administrator's socket or with an administrator's
  /// credential.
  private func requireAdministrator(_ request: HTTPRequest) throws(RESTError) {
    let credential = try RESTCredential(request)
    var identity = credential.base
    if let authentication = credential.authentication {
      identity = try verify(authentication, for: options.namespace).identity
    }
    guard identity == .administrator, credential.authentication?.override == nil else {
      throw RESTError.permissionDenied
    }
  }

  func verify(
    _ authentication: ClientRequest.Authentication,
    for database: String
  ) throws(RESTError) -> VerifiedCredential {
    do throws(RequestError) {
      return try identities.verifier(of: database).verify(authentication, at: context.clock())
    } catch {
      throw RESTError(error)
    }
  }
}
