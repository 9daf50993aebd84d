import RealtimeCore

enum RequestPurpose: Sendable, Equatable {
  case listen(serial: Int64, ListenTarget, known: Node)
  case write(number: Int64)
  case onDisconnect(number: Int64)
  case get(RequestToken)
  case authenticate(ClientRequest.Authentication)
  case other
}

/// Decides when to connect, numbers a connection's requests, and notices a dead connection.
///
///     interrupted ⇄ waiting → connecting → connected
///          ↑___________________|____________|
///
/// A loss always leads to `interrupted`. The owner then handles what the loss means for everything
/// else and calls ``reconnect(at:)``, which reconnects unless there is a reason not to.
///
/// While a server leaves requests unanswered, a spare attempt runs beside the connection or
/// attempt; see ``SpareConnection``.
struct ConnectionMachine: Sendable {
  private enum Phase: Sendable {
    /// There are reasons not to connect; if there are none, ``reconnect(at:)`` is called next.
    case interrupted(Set<InterruptReason>)
    /// The next attempt starts at this time of the monotonic clock.
    case waiting(until: Int64)
    /// An attempt is under way; it waits for the server's greeting.
    case connecting(ConnectionAttempt)
    case connected(ServerSession)
  }

  /// The end of a connection or attempt, and the immediate outputs.
  struct Loss: Sendable {
    /// Whether the server had greeted; otherwise only an attempt ended, or nothing did.
    var wasConnected = false
    var outputs: [RepoOutput] = []
  }

  /// How many times the patience with a server doubles at most.
  private static let longestPatience = 3

  private let configuration: RepoConfiguration
  private var phase = Phase.interrupted([.waitingForOpen])
  private var backoff = Backoff()
  private var spare: SpareConnection?
  /// The host that a server named, or nil for the database's own.
  private var host: String?
  /// How many times in a row a host that a server named did not greet.
  private var unreached = 0
  /// How long the first attempt at such a host may take, in milliseconds.
  ///
  /// The limit doubles with each further attempt. A hung machine still accepts connections, and
  /// only the database's own host knows a replacement.
  private static let namedHostPatience: Int64 = 3_000
  private var lastAttempt: Int64 = 0
  private var lastRequest: Int64 = 0
  private var hasBeenConnected = false
  /// How many connections in a row were given up while requests were unanswered.
  private var silences = 0

  init(configuration: RepoConfiguration) {
    self.configuration = configuration
  }

  // MARK: Reading

  /// The phase, as seen by the engine's caller.
  var publicPhase: ConnectionPhase {
    switch phase {
    case .interrupted: .interrupted
    case .waiting(let time): .waiting(until: time)
    case .connecting(let attempt): .connecting(attempt.id)
    case .connected(let session): .connected(session.id)
    }
  }

  /// When the server fell silent; nil while the silence is not yet noticeable.
  var silentSince: Int64? {
    switch phase {
    case .connected(let session): session.life.silentSince
    case .connecting(let attempt): attempt.isSilent ? attempt.since : nil
    case .interrupted, .waiting: nil
    }
  }

  var interrupts: Set<InterruptReason> {
    if case .interrupted(let reasons) = phase { reasons } else { [] }
  }

  /// The connection or attempt, or nil.
  var current: ConnectionID? {
    switch phase {
    case .connected(let session): session.id
    case .connecting(let attempt): attempt.id
    case .interrupted, .waiting: nil
    }
  }

  /// Whether this attempt to connect is under way and its socket is needed.
  func isTrying(_ id: ConnectionID) -> Bool {
    if case .connecting(let attempt) = phase, attempt.id == id { true } else { isSpare(id) }
  }

  /// Whether this is the spare attempt beside a silent server.
  func isSpare(_ id: ConnectionID) -> Bool { spare?.attempt?.id == id }

  private var session: ServerSession? {
    if case .connected(let session) = phase { session } else { nil }
  }

  var isConnected: Bool {
    if case .connected = phase { true } else { false }
  }

  /// Whether a credential was sent and the server has not answered it.
  var isAuthenticating: Bool { session?.isAuthenticating ?? false }

  /// Whether requests can be sent whose outcome depends on the user.
  ///
  /// They wait for the answer to a credential, because a server that rejects the credential would
  /// reject them as well.
  var isSettled: Bool { session?.isAuthenticating == false }

  /// The unanswered requests, by number.
  var requests: [Int64: RequestPurpose] { session?.requests ?? [:] }

  func offers(_ feature: ServerHello.Extension) -> Bool {
    session?.extensions.contains(feature) ?? false
  }

  /// The serial number of a target's listen that is answered next, or nil.
  func nextAnswered(_ target: ListenTarget) -> Int64? { session?.nextAnswered(target) }

  // MARK: Connecting

  mutating func goOnline(_ reason: InterruptReason, at time: RepoTime) -> [RepoOutput] {
    switch phase {
    case .interrupted(var reasons):
      reasons.remove(reason)
      if reason == .user {
        // An explicit request to go online also counts as the first use, and does not wait.
        reasons.remove(.waitingForOpen)
        backoff.reset()
      }
      phase = .interrupted(reasons)
      return reconnect(at: time)
    case .waiting:
      guard reason == .user else { return [] }
      backoff.reset()
      return [.cancelTimer(.reconnect)] + connect(at: time)
    case .connecting, .connected: return []
    }
  }

  mutating func goOffline(_ reason: InterruptReason, at time: RepoTime) -> Loss {
    switch phase {
    case .interrupted(let reasons):
      phase = .interrupted(reasons.union([reason]))
      return Loss()
    case .waiting:
      phase = .interrupted([reason])
      return Loss(outputs: [.cancelTimer(.reconnect)])
    case .connecting, .connected: return disconnect(interruptedBy: [reason], at: time)
    }
  }

  /// Closes the connection or attempt from this end; the server may have named the next host.
  mutating func close(
    redirectedTo host: String? = nil,
    because cause: DisconnectCause = .intended,
    at time: RepoTime
  ) -> Loss {
    var loss = disconnect(interruptedBy: [], because: cause, at: time)
    guard !loss.outputs.isEmpty else { return loss }
    if let host {
      self.host = host
      backoff.hostChanged()
      loss.outputs += dropSpare()
    } else if cause == .noAnswer {
      // The database's own host may know which host has replaced this one.
      self.host = nil
    }
    return loss
  }

  /// The transport reports that a connection closed; returns nil if it was not the current one.
  mutating func transportClosed(_ id: ConnectionID, at time: RepoTime) -> Loss? {
    guard current == id else { return nil }
    // The host that a server named may be gone.
    if case .connecting = phase { giveUpHost() }
    return end(interruptedBy: [], at: time)
  }

  /// The attempt took too long; returns nil if there is no attempt any more.
  mutating func connectTimedOut(at time: RepoTime) -> Loss? {
    guard case .connecting = phase else { return nil }
    giveUpHost()
    return close(because: .noAnswer, at: time)
  }

  /// Returns to the database's own host at once, if the host was one that a server named.
  private mutating func giveUpHost() {
    guard host != nil else { return }
    unreached += 1
    backoff.hostChanged()
  }

  mutating func reconnectTimerFired(at time: RepoTime) -> [RepoOutput] {
    guard case .waiting = phase else { return [] }
    return connect(at: time)
  }

  /// Starts or schedules the next attempt after a loss, unless there is a reason not to connect.
  mutating func reconnect(at time: RepoTime) -> [RepoOutput] {
    guard case .interrupted(let reasons) = phase, reasons.isEmpty else { return [] }
    if let attempt = spare?.attempt { return adopt(attempt, at: time) }
    let pause = backoff.next(configuration, random: time.random)
    guard pause > 0 else { return connect(at: time) }
    phase = .waiting(until: time.monotonic + pause)
    return [.schedule(.reconnect, after: pause)]
  }

  private mutating func connect(at time: RepoTime) -> [RepoOutput] {
    lastAttempt += 1
    let id = ConnectionID(lastAttempt)
    phase = .connecting(ConnectionAttempt(id: id, host: host, since: time.monotonic))
    return [
      .connect(id, host: host), .schedule(.connectTimeout, after: greetingPatience),
      .schedule(.keepalive, after: configuration.noticeableSilence),
    ]
  }

  /// The time limit of an attempt at the host, in milliseconds.
  private var greetingPatience: Int64 {
    host == nil
      ? configuration.connectTimeout
      : min(configuration.connectTimeout, Self.namedHostPatience << min(unreached, 8))
  }

  private mutating func disconnect(
    interruptedBy reasons: Set<InterruptReason>,
    because cause: DisconnectCause = .intended,
    at time: RepoTime
  ) -> Loss {
    guard let id = current else { return Loss() }
    var loss = end(interruptedBy: reasons, at: time)
    loss.outputs.insert(.disconnect(id, cause), at: 0)
    return loss
  }

  private mutating func end(
    interruptedBy reasons: Set<InterruptReason>,
    at time: RepoTime
  ) -> Loss {
    defer { phase = .interrupted(reasons) }
    guard case .connected(let session) = phase else {
      host = nil
      return Loss(outputs: [.cancelTimer(.connectTimeout), .cancelTimer(.keepalive)])
    }
    if time.monotonic - session.since > configuration.stableConnectionTime { backoff.settle() }
    return Loss(wasConnected: true, outputs: [.cancelTimer(.keepalive)])
  }

  // MARK: The connection

  /// The server greeted; returns nil if no greeting was expected.
  ///
  /// - Returns: The outputs, and whether this is the engine's first connection.
  mutating func greeted(
    _ hello: ServerHello,
    at time: RepoTime
  ) -> (outputs: [RepoOutput], isFirst: Bool)? {
    guard case .connecting(let attempt) = phase else { return nil }
    // A server that was too slow gets more time; otherwise no connection to it would ever last.
    let life = LifeSigns(
      configuration,
      patience: configuration.patience << Int64(min(silences, Self.longestPatience)),
      at: time.monotonic
    )
    var session = ServerSession(
      id: attempt.id,
      since: time.monotonic,
      extensions: hello.extensions,
      life: life
    )
    let look = session.nextLook(at: time.monotonic)
    phase = .connected(session)
    if configuration.followsServerHost, !hello.host.isEmpty { host = hello.host }
    unreached = 0
    let isFirst = !hasBeenConnected
    hasBeenConnected = true
    var outputs: [RepoOutput] = []
    if hello.version != "5" {
      outputs.append(.log("the server speaks protocol version \(hello.version), not 5"))
    }
    outputs.append(.cancelTimer(.connectTimeout))
    if let look { outputs.append(look) }
    return (outputs, isFirst)
  }

  /// Numbers a request and remembers its purpose; does nothing without a connection.
  mutating func send(
    _ request: ClientRequest,
    for purpose: RequestPurpose,
    at time: RepoTime
  ) -> [RepoOutput] {
    guard isConnected else { return [] }
    lastRequest += 1
    let number = lastRequest
    return modifySession { session in
      session.sent(number, for: purpose, at: time.monotonic)
      var outputs = [RepoOutput.send(session.id, .request(id: number, request))]
      if let look = session.nextLook(at: time.monotonic) { outputs.append(look) }
      return outputs
    } ?? []
  }

  /// A whole message arrived; returns false if it is not from the current connection or attempt.
  mutating func received(from id: ConnectionID, at time: RepoTime) -> Bool {
    guard current == id else { return false }
    modifySession { $0.life.received(at: time.monotonic) }
    return true
  }

  /// The client has listens, or has none any more.
  mutating func listens(_ isListening: Bool) { modifySession { $0.life.isListening = isListening } }

  /// Part of a long message was received or sent.
  mutating func progressed(_ id: ConnectionID, at time: RepoTime) {
    guard current == id else { return }
    modifySession { $0.life.progressed(at: time.monotonic) }
  }

  /// Asks for a sign of life, unless one has just arrived or is expected anyway.
  mutating func probe(at time: RepoTime) -> [RepoOutput] {
    modifySession { session in
      guard session.life.probed(at: time.monotonic) else { return [] }
      return [.send(session.id, .ping), session.nextLook(at: time.monotonic)].compactMap(\.self)
    } ?? []
  }

  /// The server answered a request.
  ///
  /// - Returns: The purpose of the request, or nil if none waits for this answer.
  mutating func answered(_ number: Int64, at time: RepoTime) -> RequestPurpose? {
    let purpose = modifySession { $0.answered(number, at: time.monotonic) } ?? nil
    if session?.requests.isEmpty == true { silences = 0 }
    return purpose
  }

  mutating func ponged(at time: RepoTime) -> [RepoOutput] {
    let look = modifySession { session in
      session.life.ponged(at: time.monotonic)
      return session.nextLook(at: time.monotonic)
    }
    if session?.requests.isEmpty == true { silences = 0 }
    return [look ?? nil].compactMap(\.self)
  }

  /// Holds revoked listens back until a credential is answered, if one was sent.
  ///
  /// - Returns: Whether they are held back.
  mutating func deferRevocation(of targets: [ListenTarget]) -> Bool {
    guard isAuthenticating else { return false }
    modifySession { $0.unsettledTargets += targets }
    return true
  }

  /// Removes and returns the revoked listens that waited for the answer to a credential.
  mutating func takeUnsettledTargets() -> [ListenTarget] {
    modifySession { session in
      defer { session.unsettledTargets = [] }
      return session.unsettledTargets
    } ?? []
  }

  /// Checks whether the server is alive; returns nil if it has been silent for too long.
  mutating func keepaliveTimerFired(at time: RepoTime) -> [RepoOutput]? {
    if case .connecting(var attempt) = phase {
      attempt.isSilent = time.monotonic - attempt.since >= configuration.noticeableSilence
      phase = .connecting(attempt)
    }
    guard let outputs = modifySession({ $0.look(at: time.monotonic) }) ?? [] else {
      if !requests.isEmpty { silences += 1 }
      return nil
    }
    return outputs + beginSpare(at: time)
  }

  /// Changes the session in place; taking it out of the phase avoids a copy.
  @discardableResult
  private mutating func modifySession<Result>(
    _ body: (inout ServerSession) -> Result
  ) -> Result? {
    guard case .connected(var session) = phase else { return nil }
    phase = .interrupted([])
    defer { phase = .connected(session) }
    return body(&session)
  }
}

/// The spare attempt beside a silent server.
extension ConnectionMachine {
  /// Starts looking for another server if this one is silent.
  private mutating func beginSpare(at time: RepoTime) -> [RepoOutput] {
    guard configuration.opensSpares, spare == nil, let silentSince else { return [] }
    spare = SpareConnection()
    // If servers greeted and then fell silent, the wait doubles each time, like the patience.
    let due = configuration.noticeableSilence << Int64(min(silences, Self.longestPatience))
    let rest = silentSince + due - time.monotonic
    return rest > 0 ? [.schedule(.spare, after: rest)] : trySpare(host: nil, at: time)
  }

  private mutating func trySpare(host: String?, at time: RepoTime) -> [RepoOutput] {
    lastAttempt += 1
    return spare?.tries(ConnectionID(lastAttempt), host: host, at: time.monotonic) ?? []
  }

  /// The pause before the next attempt is over, or the attempt has taken too long.
  mutating func spareTimerFired(at time: RepoTime) -> [RepoOutput] {
    spare?.wentUnanswered()
    return trySpare(host: nil, at: time)
  }

  /// A server redirected the spare attempt to another host.
  mutating func spareRedirected(to host: String, at time: RepoTime) -> [RepoOutput] {
    let isFollowed = configuration.followsServerHost && !host.isEmpty && spare?.mayLeap == true
    return isFollowed ? trySpare(host: host, at: time) : spareFailed(at: time)
  }

  /// The spare attempt was refused, or its socket closed.
  mutating func spareFailed(at time: RepoTime) -> [RepoOutput] { spare?.rests(at: time) ?? [] }

  /// Drops the spare attempt once the server has answered, or when there is nothing to connect.
  mutating func dropNeedlessSpare() -> [RepoOutput] {
    spare == nil || silentSince != nil ? [] : dropSpare()
  }

  private mutating func dropSpare() -> [RepoOutput] {
    guard var spare else { return [] }
    self.spare = nil
    return spare.leave() + [.cancelTimer(.spare)]
  }

  /// The spare attempt was greeted before the silent server answered, and becomes the connection.
  ///
  /// - Returns: The end of the silent connection. The caller passes the greeting on next.
  mutating func promoteSpare(at time: RepoTime) -> Loss {
    guard let attempt = spare?.attempt else { return Loss() }
    spare = nil
    if !requests.isEmpty { silences += 1 }
    var loss = disconnect(interruptedBy: [], because: .noAnswer, at: time)
    loss.outputs.append(.cancelTimer(.spare))
    phase = .connecting(attempt)
    return loss
  }

  /// Continues with the spare attempt after the silent connection or attempt has ended.
  private mutating func adopt(_ attempt: ConnectionAttempt, at time: RepoTime) -> [RepoOutput] {
    spare = nil
    host = attempt.host
    phase = .connecting(attempt)
    let gone = time.monotonic - attempt.since
    return [
      .cancelTimer(.spare), .schedule(.connectTimeout, after: max(1, greetingPatience - gone)),
      .schedule(.keepalive, after: max(1, configuration.noticeableSilence - gone)),
    ]
  }
}

/// A greeted connection: its unanswered requests and its signs of life.
private struct ServerSession: Sendable {
  let id: ConnectionID
  /// When the server greeted, on the monotonic clock.
  let since: Int64
  let extensions: Set<ServerHello.Extension>
  var life: LifeSigns
  private(set) var requests: [Int64: RequestPurpose] = [:]
  private var pendingAuthentications = 0
  /// The listens that the server revoked while a credential was under way.
  ///
  /// The server may have revoked them because the previous credential expired, so they are sent
  /// again once the new one is accepted.
  var unsettledTargets: [ListenTarget] = []

  init(id: ConnectionID, since: Int64, extensions: Set<ServerHello.Extension>, life: LifeSigns) {
    self.id = id
    self.since = since
    self.extensions = extensions
    self.life = life
  }

  var isAuthenticating: Bool { pendingAuthentications > 0 }

  mutating func sent(_ number: Int64, for purpose: RequestPurpose, at time: Int64) {
    requests[number] = purpose
    if case .authenticate = purpose { pendingAuthentications += 1 }
    life.sent(at: time)
  }

  mutating func answered(_ number: Int64, at time: Int64) -> RequestPurpose? {
    let purpose = requests.removeValue(forKey: number)
    if case .authenticate = purpose { pendingAuthentications -= 1 }
    life.answered(at: time)
    return purpose
  }

  func nextAnswered(_ target: ListenTarget) -> Int64? {
    var next: (request: Int64, serial: Int64)?
    for (number, request) in requests {
      guard case .listen(let serial, target, _) = request else { continue }
      if next.map({ number < $0.request }) ?? true { next = (number, serial) }
    }
    return next?.serial
  }

  /// Sets the timer for the next liveness check, unless it is due early enough already.
  mutating func nextLook(at time: Int64) -> RepoOutput? {
    life.pause(at: time, isOwed: !requests.isEmpty).map { .schedule(.keepalive, after: $0) }
  }

  mutating func look(at time: Int64) -> [RepoOutput]? {
    var outputs: [RepoOutput] = []
    switch life.look(at: time, isOwed: !requests.isEmpty) {
    case .alive: break
    case .ask: outputs.append(.send(id, .ping))
    case .tell: outputs.append(.sendKeepalive(id))
    case .gone: return nil
    }
    if let look = nextLook(at: time) { outputs.append(look) }
    return outputs
  }
}

/// The pauses between connection attempts.
private struct Backoff: Sendable {
  /// The last pause before jitter; nil makes the next attempt immediate.
  private var delay: Double?
  /// How many attempts since the last stable connection were immediate after a change of host.
  private var leaps = 0
  /// When a server dies and the others notice one after another, they redirect a client a few
  /// times; servers that redirect in a circle must not do so forever.
  private static let mostLeaps = 4
  /// The shortest pause, in milliseconds, however short the longest one is.
  private static let shortestPause: Int64 = 10

  mutating func reset() {
    delay = nil
  }

  /// The connection proved stable, so earlier failures no longer count.
  mutating func settle() {
    reset()
    leaps = 0
  }

  /// Makes the attempt at another host immediate, a few times at most until a connection is stable.
  mutating func hostChanged() {
    guard leaps < Self.mostLeaps else { return }
    leaps += 1
    reset()
  }

  /// The pause before the next attempt, in milliseconds.
  mutating func next(_ configuration: RepoConfiguration, random: Double) -> Int64 {
    let longest = Double(configuration.maximumReconnectDelay)
    guard let current = delay else {
      delay = 0
      return 0
    }
    let shortest = min(Double(configuration.minimumReconnectDelay), longest)
    let next = min(max(shortest, current * configuration.reconnectFactor), longest)
    delay = next
    let jitter = configuration.reconnectJitter
    return max(Self.shortestPause, Int64((1 - jitter) * next + jitter * next * random))
  }
}
