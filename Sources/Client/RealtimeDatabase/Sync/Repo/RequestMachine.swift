import RealtimeCore

/// A write that the server has not answered; it is resent on every new connection.
struct OutstandingWrite: Sendable {
  /// What waits for the answer.
  enum Purpose: Sendable, Equatable {
    /// The caller, or nothing if a previous process made the write; the write is shown as the
    /// pending write with the same number.
    case caller(RequestToken?)
    /// The transactions whose outputs the write contains.
    case transactions
  }

  /// The message, with server values unresolved and the key that it was first sent with.
  var request: WriteRequest
  let purpose: Purpose
  /// The user who made it, or nil if no user was signed in; it is never sent as another user.
  let owner: String?
  /// Whether it was ever sent, so that the server may have applied it.
  var wasSent = false

  /// Whether it must wait because its owner is not the signed-in user.
  func isHeld(from user: String?) -> Bool {
    owner.map { $0 != user } ?? false
  }
}

/// A read that the server has not answered.
struct PendingGet: Sendable {
  let token: RequestToken
  let spec: QuerySpec
  /// Whether its data is kept, and whether older data may take its place.
  let isKept: Bool

  var message: ClientRequest { .get(path: spec.path, query: spec.query) }

  /// The result if there is no connection and nothing is known, in the official clients' words.
  static let offline = GetResult.failure(Outcome(.unavailable, reason: "Client is offline."))
}

/// A change to the operations for the end of the connection that the server has not answered.
struct DisconnectAction: Sendable {
  let token: RequestToken
  let path: Path
  /// What to schedule; nil cancels what is scheduled at and below the path.
  let operation: WriteOperation?

  var message: ClientRequest {
    operation.map { .onDisconnect(path: path, $0) } ?? .cancelOnDisconnect(path: path)
  }
}

/// The unanswered requests, across connections, and the user who makes them.
///
/// An entry is added when the caller makes a request, may be sent on several connections, and is
/// removed when it is answered or discarded. Each kind keeps its order.
struct RequestMachine: Sendable {
  private let configuration: RepoConfiguration
  private(set) var writes = SortedMap<Int64, OutstandingWrite>()
  private var gets = SortedMap<Int64, PendingGet>()
  private var disconnectActions = SortedMap<Int64, DisconnectAction>()
  /// The writes that the server will perform when this connection ends.
  private var scheduled = Overlay.none
  private var credential: ClientRequest.Authentication?
  /// The user who owns new writes, or nil while no user is signed in.
  private(set) var user: String?

  init(configuration: RepoConfiguration) {
    self.configuration = configuration
  }

  /// Sends the requests that waited for a connection, their user or the answer to a credential.
  mutating func sendWaiting(
    on connection: inout ConnectionMachine,
    at time: RepoTime
  ) -> [RepoOutput] {
    guard connection.isSettled else { return [] }
    let sent = UnderWay(connection.requests.values)
    var outputs: [RepoOutput] = []
    for (number, _) in writes where !sent.writes.contains(number) {
      outputs += sendWrite(number, on: &connection, at: time)
    }
    for (number, action) in disconnectActions where !sent.disconnectActions.contains(number) {
      outputs += connection.send(action.message, for: .onDisconnect(number: number), at: time)
    }
    for (_, get) in gets where !sent.gets.contains(get.token) {
      if configuration.getDeadline != nil { outputs.append(.cancelTimer(.getDeadline(get.token))) }
      outputs += connection.send(get.message, for: .get(get.token), at: time)
    }
    return outputs
  }

  // MARK: The user

  /// Changes the user who owns new writes; returns false if it is the same user.
  mutating func setUser(_ user: String?) -> Bool {
    defer { self.user = user }
    return self.user != user
  }

  /// Presents a credential now and on every later connection.
  mutating func authenticate(
    _ authentication: ClientRequest.Authentication,
    on connection: inout ConnectionMachine,
    at time: RepoTime
  ) -> [RepoOutput] {
    credential = authentication
    return sendCredential(on: &connection, at: time)
  }

  /// Presents the credential, if there is one.
  func sendCredential(
    on connection: inout ConnectionMachine,
    at time: RepoTime
  ) -> [RepoOutput] {
    guard let credential else { return [] }
    return connection.send(.authenticate(credential), for: .authenticate(credential), at: time)
  }

  mutating func unauthenticate(
    on connection: inout ConnectionMachine,
    at time: RepoTime
  ) -> [RepoOutput] {
    var outputs: [RepoOutput] = []
    if credential != nil { outputs += connection.send(.unauthenticate, for: .other, at: time) }
    credential = nil
    return outputs + sendWaiting(on: &connection, at: time)
  }

  /// Whether an answer is about the current credential and not an earlier one.
  func isCurrent(_ authentication: ClientRequest.Authentication) -> Bool {
    credential == authentication
  }

  mutating func dropCredential() {
    credential = nil
  }

  // MARK: Writes

  /// Restores the writes of previous processes, which precede all others.
  mutating func restore(_ stored: [StoredWrite]) {
    for write in stored {
      let request = WriteRequest(path: write.path, operation: write.operation, key: write.key)
      let outstanding = OutstandingWrite(
        request: request,
        purpose: .caller(nil),
        owner: write.owner
      )
      writes.updateValue(outstanding, forKey: write.number)
    }
  }

  /// Queues a write after all others, whose numbers are lower, and sends it if possible.
  mutating func enqueue(
    _ request: WriteRequest,
    number: Int64,
    for purpose: OutstandingWrite.Purpose,
    on connection: inout ConnectionMachine,
    at time: RepoTime
  ) -> [RepoOutput] {
    let write = OutstandingWrite(request: request, purpose: purpose, owner: user)
    writes.updateValue(write, forKey: number)
    return sendWrite(number, on: &connection, at: time)
  }

  /// The key of a write, for servers that apply each write only once.
  ///
  /// Keys have the numbers of their writes, because writes are sent in the order of their numbers.
  /// A write made while signed out may be sent as different users, and keeps one client name for
  /// all.
  func key(of number: Int64, ownedBy owner: String?) -> WriteKey {
    let client = configuration.clientID
    return WriteKey(client: owner == nil ? WriteKey.bearerName(client) : client, number: number)
  }

  /// Sends a write; if the server supports keys, the write gets its key when it is first sent.
  private mutating func sendWrite(
    _ number: Int64,
    on connection: inout ConnectionMachine,
    at time: RepoTime
  ) -> [RepoOutput] {
    guard connection.isSettled, var write = writes[number], !write.isHeld(from: user) else {
      return []
    }
    let isOnce = connection.offers(.writeOnce)
    // A transaction that may have been applied must not be resent without its key.
    if write.wasSent, write.request.hash != nil, !isOnce { return [] }
    if isOnce, write.request.key == nil {
      write.request.key = key(of: number, ownedBy: write.owner)
    }
    write.wasSent = true
    writes.updateValue(write, forKey: number)
    if !isOnce { write.request.key = nil }
    return connection.send(.write(write.request), for: .write(number: number), at: time)
  }

  mutating func removeWrite(_ number: Int64) -> OutstandingWrite? {
    writes.removeValue(forKey: number)
  }

  /// Removes a write if it was never sent; returns its path in that case.
  mutating func withdrawWrite(_ number: Int64) -> Path? {
    guard let write = writes[number], !write.wasSent else { return nil }
    writes.removeValue(forKey: number)
    return write.request.path
  }

  /// The transaction writes that were sent and meet a condition.
  func sentTransactions(where isIncluded: (OutstandingWrite) -> Bool) -> [Int64] {
    writes.compactMap { number, write in
      write.wasSent && write.purpose == .transactions && isIncluded(write) ? number : nil
    }
  }

  // MARK: Reads

  /// Asks the server, or waits for a connection as long as the configuration allows.
  mutating func add(
    _ get: PendingGet,
    number: Int64,
    on connection: inout ConnectionMachine,
    at time: RepoTime
  ) -> [RepoOutput] {
    gets.updateValue(get, forKey: number)
    if connection.isSettled {
      return connection.send(get.message, for: .get(get.token), at: time)
    }
    return connection.isConnected ? [] : deadline(of: get)
  }

  /// Starts the deadlines of all reads, because the connection was lost.
  func getDeadlines() -> [RepoOutput] { gets.flatMap { deadline(of: $0.value) } }

  private func deadline(of get: PendingGet) -> [RepoOutput] {
    configuration.getDeadline.map { [.schedule(.getDeadline(get.token), after: $0)] } ?? []
  }

  mutating func removeGet(_ token: RequestToken) -> PendingGet? {
    guard let (number, get) = gets.first(where: { $0.value.token == token }) else { return nil }
    gets.removeValue(forKey: number)
    return get
  }

  // MARK: The end of the connection

  mutating func add(
    _ action: DisconnectAction,
    number: Int64,
    on connection: inout ConnectionMachine,
    at time: RepoTime
  ) -> [RepoOutput] {
    disconnectActions.updateValue(action, forKey: number)
    guard connection.isSettled else { return [] }
    return connection.send(action.message, for: .onDisconnect(number: number), at: time)
  }

  /// The server answered an action; accepted ones are remembered until the connection ends.
  mutating func disconnectActionAnswered(_ number: Int64, isAccepted: Bool) -> RequestToken? {
    guard let action = disconnectActions.removeValue(forKey: number) else { return nil }
    guard isAccepted else { return action.token }
    if action.operation == nil { scheduled.clear(action.path) }
    for change in action.operation?.changes(at: action.path) ?? [] {
      scheduled.set(change.path, to: change.node)
    }
    return action.token
  }

  /// Discards the actions that are not under way on this connection; returns their tokens.
  mutating func dropDisconnectActions(
    besides sent: some Sequence<RequestPurpose>
  ) -> [RequestToken] {
    let sent = UnderWay(sent).disconnectActions
    var tokens: [RequestToken] = []
    for (number, action) in disconnectActions where !sent.contains(number) {
      disconnectActions.removeValue(forKey: number)
      tokens.append(action.token)
    }
    return tokens
  }

  /// Removes and returns the writes that the server performs, because the connection has ended.
  mutating func takeScheduledWrites() -> [Change] {
    defer { scheduled = .none }
    return scheduled.changes
  }
}

/// The requests that were sent on the current connection.
private struct UnderWay {
  private(set) var writes: Set<Int64> = []
  private(set) var disconnectActions: Set<Int64> = []
  private(set) var gets: Set<RequestToken> = []

  init(_ purposes: some Sequence<RequestPurpose>) {
    for purpose in purposes {
      switch purpose {
      case .write(let number): writes.insert(number)
      case .onDisconnect(let number): disconnectActions.insert(number)
      case .get(let token): gets.insert(token)
      case .listen, .authenticate, .other: continue
      }
    }
  }
}

extension WriteOperation {
  /// The same operation, with priorities after the data that they belong to.
  var withPrioritiesLast: WriteOperation {
    guard case .merge(let changes) = self else { return self }
    return .merge(changes.filter { !$0.path.isPriority } + changes.filter { $0.path.isPriority })
  }

  /// All of the data that the operation replaces at a path, by absolute path.
  func changes(at path: Path) -> [Change] {
    switch self {
    case .set(let node): [Change(path, to: node)]
    case .merge(let changes): changes.map { Change(path.appending($0.path), to: $0.node) }
    }
  }
}

extension ServerMessage.Response {
  /// The JSON of the answer, or nil if it contains tree data.
  var json: JSONValue? {
    if case .json(let json) = payload { json } else { nil }
  }

  /// The reason for a rejection; empty if there is none.
  private var reason: String { json?.string ?? "" }

  var outcome: Outcome { Outcome(status, reason: reason) }

  var node: Node {
    get throws(NodeError) {
      switch payload {
      case .node(let node): node
      case .json(let json): try Node(json: json)
      }
    }
  }
}
