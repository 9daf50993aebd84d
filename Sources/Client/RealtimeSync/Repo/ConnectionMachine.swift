import RealtimeCore

/// What the answer to a request will be for.
enum RequestPurpose: Sendable, Equatable {
  case listen(serial: Int64, ListenTarget)
  case write(number: Int64)
  case onDisconnect(number: Int64)
  case get(RequestToken)
  case authenticate(ClientRequest.Authentication)
  case other
}

/// Decides when to connect, numbers the requests of a connection, and notices when it is dead.
///
///     interrupted ⇄ waiting → connecting → connected
///          ↑___________________|____________|
///
/// A loss always leads to `interrupted`. The owner then deals with what the loss means for
/// everything else and calls ``reconnect(at:)``, which moves on unless there is a reason not to.
///
/// While a server that was asked for something is silent there is a spare beside the connection or the
/// attempt; see ``SpareConnection``.
struct ConnectionMachine: Sendable {
  private enum Phase: Sendable {
    /// There are reasons not to connect, or none and ``reconnect(at:)`` is about to be called.
    case interrupted(Set<InterruptReason>)
    /// The next attempt starts at this time of the monotonic clock.
    case waiting(until: Int64)
    /// An attempt is under way; the server's greeting is awaited.
    case connecting(Attempt)
    /// The server has greeted.
    case connected(ServerSession)
  }

  /// An attempt to connect.
  private struct Attempt: Sendable {
    let id: ConnectionID
    let since: Int64
    /// Whether it takes noticeably long.
    var isSilent = false
  }

  /// What ended, and what is to be done about it at once.
  struct Loss: Sendable {
    /// Whether the server had greeted; otherwise only an attempt ended, or nothing at all.
    var wasConnected = false
    var outputs: [RepoOutput] = []
  }

  /// The result of a look at how long the server has been silent.
  enum Liveness: Sendable {
    case alive([RepoOutput])
    case silent
  }

  /// How often the patience with a server doubles at most.
  private static let longestPatience = 3

  private let configuration: RepoConfiguration
  private var phase = Phase.interrupted([.waitingForOpen])
  private var backoff = Backoff()
  private var spare: SpareConnection?
  /// The host that a server named, or nil for the database's own.
  private var host: String?
  /// How often in a row a host that a server named did not greet.
  private var unreached = 0
  /// How long the first attempt at such a host may take, in milliseconds.
  ///
  /// Each further one has twice as long. A machine that hangs takes connections, and only the database's
  /// own host knows another.
  private static let namedHostPatience: Int64 = 3_000
  private var lastAttempt: Int64 = 0
  private var lastRequest: Int64 = 0
  private var hasBeenConnected = false
  /// How many connections in a row were given up although they had been asked for something.
  private var silences = 0

  init(configuration: RepoConfiguration) {
    self.configuration = configuration
  }

  // MARK: Reading

  /// The phase, as the outside sees it.
  var publicPhase: ConnectionPhase {
    switch phase {
    case .interrupted: .interrupted
    case .waiting(let time): .waiting(until: time)
    case .connecting(let attempt): .connecting(attempt.id)
    case .connected(let session): .connected(session.id)
    }
  }

  /// Since when the server has left everything unanswered; nil while that is not worth a word.
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

  /// The connection or the attempt at one, or nil.
  var current: ConnectionID? {
    switch phase {
    case .connected(let session): session.id
    case .connecting(let attempt): attempt.id
    case .interrupted, .waiting: nil
    }
  }

  /// Whether an attempt to connect is under way and its socket is wanted.
  func isTrying(_ id: ConnectionID) -> Bool {
    if case .connecting(let attempt) = phase, attempt.id == id { true } else { isSpare(id) }
  }

  /// Whether this is the attempt beside a silent server.
  func isSpare(_ id: ConnectionID) -> Bool { spare?.attempt?.id == id }

  private var session: ServerSession? {
    if case .connected(let session) = phase { session } else { nil }
  }

  var isConnected: Bool {
    if case .connected = phase { true } else { false }
  }

  /// Whether a credential was sent and has not been answered.
  var isAuthenticating: Bool { session?.isAuthenticating ?? false }

  /// Whether requests can be sent whose outcome depends on who the user is.
  ///
  /// They wait for the answer to a credential: a server that rejects it would reject them as well.
  var isSettled: Bool {
    if case .connected(let session) = phase { !session.isAuthenticating } else { false }
  }

  /// The requests without an answer, by number.
  var requests: [Int64: RequestPurpose] { session?.requests ?? [:] }

  func offers(_ feature: ServerHello.Extension) -> Bool {
    session?.extensions.contains(feature) ?? false
  }

  /// The serial of the listen whose answer comes next for a target, or nil.
  func nextAnswered(_ target: ListenTarget) -> Int64? { session?.nextAnswered(target) }

  // MARK: Connecting

  mutating func goOnline(_ reason: InterruptReason, at time: RepoTime) -> [RepoOutput] {
    switch phase {
    case .interrupted(var reasons):
      reasons.remove(reason)
      if reason == .user {
        // Going online explicitly also counts as the first use, and is not made to wait.
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

  /// Closes the connection or the attempt from this end.
  ///
  /// - Parameters:
  ///   - host: The host that the server wants the next connection to go to, if it named one.
  ///   - cause: Why it is closed.
  ///   - time: The time.
  /// - Returns: What ended.
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
      // The database's own host may know who has taken the place of this one.
      self.host = nil
    }
    return loss
  }

  /// The transport reports that it closed; nil if it was not the current one.
  mutating func transportClosed(_ id: ConnectionID, at time: RepoTime) -> Loss? {
    guard current == id else { return nil }
    // The server may be gone to which the database's own host has sent the client.
    if case .connecting = phase { giveUpHost() }
    return end(interruptedBy: [], at: time)
  }

  /// The attempt took too long; nil if there is none any more.
  mutating func connectTimedOut(at time: RepoTime) -> Loss? {
    guard case .connecting = phase else { return nil }
    giveUpHost()
    return close(because: .noAnswer, at: time)
  }

  /// Goes back to the database's own host at once, if it was another that let nobody in.
  private mutating func giveUpHost() {
    guard host != nil else { return }
    unreached += 1
    backoff.hostChanged()
  }

  mutating func reconnectTimerFired(at time: RepoTime) -> [RepoOutput] {
    guard case .waiting = phase else { return [] }
    return connect(at: time)
  }

  /// Starts or schedules the next attempt after a loss, unless there is a reason not to.
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
    phase = .connecting(Attempt(id: id, since: time.monotonic))
    return [
      .connect(id, host: host), .schedule(.connectTimeout, after: greetingPatience),
      .schedule(.keepalive, after: configuration.noticeableSilence),
    ]
  }

  /// How long an attempt at the host may take.
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

  /// The server greets; nil if no greeting is awaited.
  ///
  /// - Returns: What is to be done, and whether this is the engine's first connection.
  mutating func greeted(
    _ hello: ServerHello,
    at time: RepoTime
  ) -> (outputs: [RepoOutput], isFirst: Bool)? {
    guard case .connecting(let attempt) = phase else { return nil }
    // A server that took too long to answer is given more time, or it would be asked again for ever.
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
      outputs.append(.log("the server speaks version \(hello.version) of the protocol"))
    }
    outputs.append(.cancelTimer(.connectTimeout))
    if let look { outputs.append(look) }
    return (outputs, isFirst)
  }

  /// Numbers a request and remembers what its answer is for; does nothing without a connection.
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

  /// A whole message arrived; false if it is not from the current connection or attempt.
  mutating func received(from id: ConnectionID, at time: RepoTime) -> Bool {
    guard current == id else { return false }
    modifySession { $0.life.received(at: time.monotonic) }
    return true
  }

  /// Part of a long message arrived, or went out.
  mutating func progressed(_ id: ConnectionID, at time: RepoTime) {
    guard current == id else { return }
    modifySession { $0.life.progressed(at: time.monotonic) }
  }

  /// Asks for a sign of life, unless one has just come or is awaited anyway.
  mutating func probe(at time: RepoTime) -> [RepoOutput] {
    modifySession { session in
      guard session.life.probed(at: time.monotonic) else { return [] }
      return [.send(session.id, .ping), session.nextLook(at: time.monotonic)].compactMap(\.self)
    } ?? []
  }

  /// The server answered a request (or, with nil, a ping).
  ///
  /// - Returns: What the answer is for, or nil if nothing waits for it.
  mutating func answered(_ number: Int64?, at time: RepoTime) -> RequestPurpose? {
    let purpose = modifySession { $0.answered(number, at: time.monotonic) } ?? nil
    if session?.requests.isEmpty == true { silences = 0 }
    return purpose
  }

  /// Keeps revoked listens until the answer to a credential, if one is awaited.
  ///
  /// - Returns: Whether they are kept.
  mutating func deferRevocation(of targets: [ListenTarget]) -> Bool {
    guard isAuthenticating else { return false }
    modifySession { $0.unsettledTargets += targets }
    return true
  }

  /// Takes the revoked listens that waited for the answer to a credential.
  mutating func takeUnsettledTargets() -> [ListenTarget] {
    modifySession { session in
      defer { session.unsettledTargets = [] }
      return session.unsettledTargets
    } ?? []
  }

  mutating func keepaliveTimerFired(at time: RepoTime) -> Liveness {
    if case .connecting(var attempt) = phase {
      attempt.isSilent = time.monotonic - attempt.since >= configuration.noticeableSilence
      phase = .connecting(attempt)
    }
    switch modifySession({ $0.liveness(at: time.monotonic) }) ?? .alive([]) {
    case .alive(let outputs): return .alive(outputs + beginSpare(at: time))
    case .silent:
      if !requests.isEmpty { silences += 1 }
      return .silent
    }
  }

  /// Changes the session in place: it is taken out of the phase so that nothing is copied.
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

/// The spare beside a silent server.
extension ConnectionMachine {
  /// Begins to look for another server if this one is silent.
  private mutating func beginSpare(at time: RepoTime) -> [RepoOutput] {
    guard configuration.opensSpares, spare == nil, let silentSince else { return [] }
    spare = SpareConnection()
    // Who was greeted and then left without an answer waits longer each time, as with its patience.
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

  /// A server sends the spare on to another host.
  mutating func spareRedirected(to host: String, at time: RepoTime) -> [RepoOutput] {
    let isFollowed = configuration.followsServerHost && !host.isEmpty && spare?.mayLeap == true
    return isFollowed ? trySpare(host: host, at: time) : spareFailed(at: time)
  }

  /// The spare was refused, or its socket has closed.
  mutating func spareFailed(at time: RepoTime) -> [RepoOutput] { spare?.rests(at: time) ?? [] }

  /// Gives the spare up once the server has spoken, or nothing is to be connected.
  mutating func dropNeedlessSpare() -> [RepoOutput] {
    spare == nil || silentSince != nil ? [] : dropSpare()
  }

  private mutating func dropSpare() -> [RepoOutput] {
    guard var spare else { return [] }
    self.spare = nil
    return spare.leave() + [.cancelTimer(.spare)]
  }

  /// The spare is greeted before the silent server has spoken: it is the connection from now on.
  ///
  /// - Returns: The end of the silent one. The greeting comes next.
  mutating func promoteSpare(at time: RepoTime) -> Loss {
    guard let attempt = spare?.attempt else { return Loss() }
    spare = nil
    if !requests.isEmpty { silences += 1 }
    var loss = disconnect(interruptedBy: [], because: .noAnswer, at: time)
    loss.outputs.append(.cancelTimer(.spare))
    phase = .connecting(Attempt(id: attempt.id, since: attempt.since))
    return loss
  }

  /// Goes on with the spare after the end of what was silent.
  private mutating func adopt(_ attempt: SpareConnection.Attempt, at time: RepoTime) -> [RepoOutput]
  {
    spare = nil
    host = attempt.host
    phase = .connecting(Attempt(id: attempt.id, since: attempt.since))
    let gone = time.monotonic - attempt.since
    return [
      .cancelTimer(.spare), .schedule(.connectTimeout, after: max(1, greetingPatience - gone)),
      .schedule(.keepalive, after: max(1, configuration.noticeableSilence - gone)),
    ]
  }
}

/// A greeted connection: the requests under way, and the signs of life.
private struct ServerSession: Sendable {
  let id: ConnectionID
  /// When the server greeted.
  let since: Int64
  let extensions: Set<ServerHello.Extension>
  var life: LifeSigns
  private(set) var requests: [Int64: RequestPurpose] = [:]
  private var pendingAuthentications = 0
  /// The listens that the server revoked while a credential was under way.
  ///
  /// It may have done so because the previous credential expired, so they are sent again once the
  /// new one is accepted.
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

  mutating func answered(_ number: Int64?, at time: Int64) -> RequestPurpose? {
    let purpose = number.flatMap { requests.removeValue(forKey: $0) }
    if case .authenticate = purpose { pendingAuthentications -= 1 }
    if number == nil { life.ponged(at: time) } else { life.answered(at: time) }
    return purpose
  }

  func nextAnswered(_ target: ListenTarget) -> Int64? {
    var next: (request: Int64, serial: Int64)?
    for (number, request) in requests {
      guard case .listen(let serial, target) = request else { continue }
      if next.map({ number < $0.request }) ?? true { next = (number, serial) }
    }
    return next?.serial
  }

  /// Sets the timer for the next look at the signs of life, if it is not early enough.
  mutating func nextLook(at time: Int64) -> RepoOutput? {
    life.pause(at: time, isOwed: !requests.isEmpty).map { .schedule(.keepalive, after: $0) }
  }

  mutating func liveness(at time: Int64) -> ConnectionMachine.Liveness {
    var outputs: [RepoOutput] = []
    switch life.look(at: time, isOwed: !requests.isEmpty) {
    case .alive: break
    case .ask: outputs.append(.send(id, .ping))
    case .tell: outputs.append(.sendKeepalive(id))
    case .gone: return .silent
    }
    if let look = nextLook(at: time) { outputs.append(look) }
    return .alive(outputs)
  }
}

/// The pauses between attempts to connect.
private struct Backoff: Sendable {
  /// The last pause before jitter; nil makes the next attempt immediate.
  private var delay: Double?
  /// How often an attempt was immediate since the host had changed, since a connection last proved
  /// stable.
  private var leaps = 0
  /// Servers of which one has died, and which learn of it one after the other, send a client on a few
  /// times; servers that send it in circles would keep it running.
  private static let mostLeaps = 4

  mutating func reset() {
    delay = nil
  }

  /// The connection proved stable, so the history of failures no longer counts.
  mutating func settle() {
    reset()
    leaps = 0
  }

  /// Makes the attempt at another host immediate, but only a few times until a connection is stable.
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
    return Int64((1 - jitter) * next + jitter * next * random)
  }
}
