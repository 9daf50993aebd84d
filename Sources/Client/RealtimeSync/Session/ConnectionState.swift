import RealtimeCore

/// What the engine knows of its connection: the phase, the requests under way, and the pauses.
struct ConnectionState: Sendable {
  /// What an answer will be for.
  enum Request: Sendable, Equatable {
    case listen(serial: Int64, ListenTarget)
    case write(number: Int64)
    case onDisconnect(number: Int64)
    case get(RequestToken)
    case authenticate(ClientRequest.Authentication)
    case other
  }

  var phase = ConnectionPhase.interrupted
  var interrupts: Set<InterruptReason> = [.waitingForOpen]
  /// The host that a server named, or nil for the one of the database.
  var host: String?
  /// The extensions that the server of this connection offers.
  var extensions: Set<ServerHello.Extension> = []
  /// Whether the statistics were sent, which happens on the first connection only.
  var hasSentStatistics = false
  var requests: [Int64: Request] = [:]
  /// The listens that the server revoked while a credential was under way.
  ///
  /// It may have done so because the last one is not valid any more, so they are asked for again
  /// when the new one is accepted.
  var unsettledTargets: [ListenTarget] = []
  var openedAt: Int64 = 0
  var lastSent: Int64 = 0
  var lastReceived: Int64 = 0
  /// When something was sent that must be answered, or the last answer came while more are awaited.
  ///
  /// What the server sends by itself is no answer: it also comes over a connection on which nothing
  /// gets out any more.
  var unansweredSince: Int64?
  /// Whether a server has named another host since a connection last stood for long.
  private var isRedirected = false
  private var lastRequest: Int64 = 0
  private var lastAttempt: Int64 = 0
  /// The pause before the next attempt but for chance; nil is none.
  private var delay: Double?

  /// The connection that stands, or nil.
  var connected: ConnectionID? {
    if case .connected(let id) = phase { id } else { nil }
  }

  /// The connection or the attempt at one, or nil.
  var current: ConnectionID? {
    switch phase {
    case .connected(let id), .connecting(let id): id
    case .interrupted, .waiting: nil
    }
  }

  /// Whether a credential was sent and is not answered.
  var isAuthenticating: Bool {
    requests.values.contains { if case .authenticate = $0 { true } else { false } }
  }

  mutating func makeAttempt() -> ConnectionID {
    lastAttempt += 1
    return ConnectionID(lastAttempt)
  }

  mutating func makeRequest(_ request: Request) -> Int64 {
    lastRequest += 1
    requests[lastRequest] = request
    return lastRequest
  }

  /// Notes that the server has answered something, perhaps not everything.
  mutating func noteAnswer(at time: Int64) {
    unansweredSince = requests.isEmpty ? nil : time
  }

  /// The number of the listen whose answer is the next one for a target, or nil.
  func nextAnswered(_ target: ListenTarget) -> Int64? {
    var next: (request: Int64, serial: Int64)?
    for (number, request) in requests {
      guard case .listen(let serial, target) = request else { continue }
      if next.map({ number < $0.request }) ?? true { next = (number, serial) }
    }
    return next?.serial
  }

  /// Makes the next attempt go to another host, and come without a pause.
  ///
  /// Only the first time until a connection lasts: servers that pass a client on to each other would
  /// keep it running in circles.
  mutating func redirect(to host: String) {
    self.host = host
    if !isRedirected { resetPause() }
    isRedirected = true
  }

  /// Forgets how hard it was to connect, since the connection has lasted.
  mutating func settle() {
    resetPause()
    isRedirected = false
  }

  /// Makes the next attempt come without a pause.
  mutating func resetPause() {
    delay = nil
  }

  /// The pause before the next attempt, which makes the one after it longer.
  mutating func makePause(_ configuration: RepoConfiguration, random: Double) -> Int64 {
    let minimum = Double(
      min(configuration.minimumReconnectDelay, configuration.maximumReconnectDelay)
    )
    guard let current = delay else {
      delay = 0
      return 0
    }
    let grown = max(minimum, current * configuration.reconnectFactor)
    let next = min(grown, Double(configuration.maximumReconnectDelay))
    delay = next
    let jitter = configuration.reconnectJitter
    return Int64((1 - jitter) * next + jitter * next * random)
  }
}
