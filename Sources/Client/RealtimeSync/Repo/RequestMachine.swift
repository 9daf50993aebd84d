import RealtimeCore

/// How a request ended: its status, and the reason if it failed.
struct Outcome: Sendable, Equatable, CustomStringConvertible {
  let status: StatusCode
  let reason: String

  init(_ status: StatusCode, reason: String = "") {
    self.status = status
    self.reason = reason
  }

  var description: String { "\(status) \(reason)" }

  /// The rejection of a write below `.info`.
  static let readOnly = Outcome(.permissionDenied, reason: "nothing can be written below /.info")
}

/// A write that the server has not answered; it is sent again on every new connection.
struct OutstandingWrite: Sendable {
  /// Who waits for the answer.
  enum Purpose: Sendable, Equatable {
    /// The caller, or nobody if a previous process made the write; it shows as the pending write of
    /// the same number.
    case caller(RequestToken?)
    /// The transactions that went into it.
    case transactions
  }

  /// The message, server values unresolved, with the key it was first sent with.
  var request: WriteRequest
  let purpose: Purpose
  /// The user who made it, or nil if nobody was signed in; it is never sent as anyone else.
  let owner: String?
  /// Whether it ever left, so that the server may have applied it.
  var wasSent = false

  /// Whether it must wait because someone other than its owner is signed in.
  func isHeld(from user: String?) -> Bool {
    owner.map { $0 != user } ?? false
  }
}

/// A read that has not been answered.
struct PendingGet: Sendable {
  let token: RequestToken
  let spec: QuerySpec
  /// Whether its data are kept, and those kept earlier may take their place.
  let isKept: Bool

  var message: ClientRequest { .get(path: spec.path, query: spec.query) }

  /// How it ends without a connection if nothing is known, in the words of official clients.
  static let offline = GetResult.failure(.unavailable, reason: "Client is offline.")
}

/// A change of what the server does when the connection ends, not answered yet.
struct DisconnectAction: Sendable {
  enum Kind: Sendable {
    case schedule(WriteOperation)
    case cancel
  }

  let token: RequestToken
  let path: Path
  let kind: Kind

  var message: ClientRequest {
    switch kind {
    case .schedule(let operation): .onDisconnect(path: path, operation)
    case .cancel: .cancelOnDisconnect(path: path)
    }
  }
}

/// The requests that wait for an answer, across connections, and the user who makes them.
///
/// An entry is added when the caller asks for something, may be sent on many connections, and is
/// removed by its answer or when it is given up. Each kind keeps its order.
struct RequestMachine: Sendable {
  private let configuration: RepoConfiguration
  private(set) var writes = SortedMap<Int64, OutstandingWrite>()
  private var gets = SortedMap<Int64, PendingGet>()
  private var disconnectActions = SortedMap<Int64, DisconnectAction>()
  /// What the server will write when this connection ends.
  private var scheduled = Overlay.none
  private var credential: ClientRequest.Authentication?
  /// The user to whom new writes belong, or nil while nobody is signed in.
  private(set) var user: String?

  init(configuration: RepoConfiguration) {
    self.configuration = configuration
  }

  /// Sends what waited for a connection, for its user, or for the answer to a credential.
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

  /// Changes the user to whom writes belong; false if it was the same already.
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

  /// Gives the credential up.
  mutating func unauthenticate(
    on connection: inout ConnectionMachine,
    at time: RepoTime
  ) -> [RepoOutput] {
    var outputs: [RepoOutput] = []
    if credential != nil { outputs += connection.send(.unauthenticate, for: .other, at: time) }
    credential = nil
    return outputs + sendWaiting(on: &connection, at: time)
  }

  /// Whether an answer is about the credential of now, rather than an earlier one.
  func isCurrent(_ authentication: ClientRequest.Authentication) -> Bool {
    credential == authentication
  }

  mutating func dropCredential() {
    credential = nil
  }

  // MARK: Writes

  /// Adds the writes of previous processes, before all others.
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

  /// Queues a write behind all others, whose numbers are lower, and sends it if possible.
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

  /// The key of a write for servers that apply a write only once.
  ///
  /// Keys are numbered as writes are, since writes are sent in the order of their numbers. A write
  /// made while nobody was signed in may be sent as different users and keeps one name for all.
  func key(of number: Int64, ownedBy owner: String?) -> WriteKey {
    let client = configuration.clientID
    return WriteKey(client: owner == nil ? WriteKey.bearerName(client) : client, number: number)
  }

  /// Sends a write; if the server supports keys it gets one the first time, and keeps it.
  private mutating func sendWrite(
    _ number: Int64,
    on connection: inout ConnectionMachine,
    at time: RepoTime
  ) -> [RepoOutput] {
    guard connection.isSettled, var write = writes[number], !write.isHeld(from: user) else {
      return []
    }
    let isOnce = connection.offers(.writeOnce)
    // A transaction that may have been applied is not sent again without its key.
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

  /// Removes a write if it never left; returns its path then.
  mutating func withdrawWrite(_ number: Int64) -> Path? {
    guard let write = writes[number], !write.wasSent else { return nil }
    writes.removeValue(forKey: number)
    return write.request.path
  }

  /// The writes of transactions that left and to which a condition applies.
  func sentTransactions(where isIncluded: (OutstandingWrite) -> Bool) -> [Int64] {
    writes.compactMap { number, write in
      write.wasSent && write.purpose == .transactions && isIncluded(write) ? number : nil
    }
  }

  // MARK: Reads

  /// Asks the server, or waits for a connection as long as the configuration says.
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

  /// Starts the deadlines of all reads, since the connection was lost.
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

  /// The server answered an action; what it accepted is remembered until the connection ends.
  mutating func disconnectActionAnswered(_ number: Int64, isAccepted: Bool) -> RequestToken? {
    guard let action = disconnectActions.removeValue(forKey: number) else { return nil }
    guard isAccepted else { return action.token }
    switch action.kind {
    case .cancel: scheduled.clear(action.path)
    case .schedule(.set(let node)): scheduled.set(action.path, to: node)
    case .schedule(.merge(let changes)):
      for change in changes {
        scheduled.set(action.path.appending(change.path), to: change.node)
      }
    }
    return action.token
  }

  /// Gives up the actions that are not under way; returns their callers.
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

  /// Takes what the server writes now that the connection has ended.
  mutating func takeScheduledWrites() -> [Change] {
    defer { scheduled = .none }
    return scheduled.changes
  }
}

/// The requests that were sent on the present connection.
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
  /// The same with priorities after the data they belong to.
  var withPrioritiesLast: WriteOperation {
    guard case .merge(let changes) = self else { return self }
    return .merge(changes.filter { !$0.path.isPriority } + changes.filter { $0.path.isPriority })
  }

  /// The locations that it replaces when it is applied at a path.
  func paths(at path: Path) -> [Path] {
    switch self {
    case .set: [path]
    case .merge(let changes): changes.map { path.appending($0.path) }
    }
  }
}

extension ServerMessage.Response {
  /// The JSON of the answer, or nil when it carries data of the tree.
  var json: JSONValue? {
    if case .json(let json) = payload { json } else { nil }
  }

  /// The reason for a rejection, empty when there is none.
  private var reason: String { json?.string ?? "" }

  /// How the request ended.
  var outcome: Outcome { Outcome(status, reason: reason) }

  /// The data of the tree.
  var node: Node {
    get throws(NodeError) {
      switch payload {
      case .node(let node): node
      case .json(let json): try Node(json: json)
      }
    }
  }
}
