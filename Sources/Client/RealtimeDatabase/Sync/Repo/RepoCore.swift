package import RealtimeCore

/// The client engine of a database: takes inputs and returns the work to do as outputs.
///
/// Pure: it has no clock, socket or lock, and only calls out to the update functions of
/// transactions. Its owner feeds it one input after another and performs the outputs in order.
///
/// It only routes between four machines, each of which keeps its state private: the connection, the
/// requests that wait for answers, the data with its listens and store, and the transactions.
package struct RepoCore: Sendable {
  package internal(set) var configuration: RepoConfiguration

  private(set) var connection: ConnectionMachine
  private(set) var requests: RequestMachine
  private(set) var data = ObservedData()
  private var transactions: TransactionMachine
  /// The time of the input being handled.
  private var now = RepoTime(wall: 0, monotonic: 0, random: 0)
  private var outputs: [RepoOutput] = []

  /// Makes an engine that is not connected; its first use connects it.
  package init(configuration: RepoConfiguration) {
    self.configuration = configuration
    connection = ConnectionMachine(configuration: configuration)
    requests = RequestMachine(configuration: configuration)
    transactions = TransactionMachine(configuration: configuration)
  }

  /// Restores what previous processes stored; must be called before anything else.
  ///
  /// Their writes become pending again and are sent, under their old keys, before all later ones.
  /// From then on, the engine outputs changes for the store; it calls `read` only while it handles
  /// an input.
  package mutating func restore(
    _ state: OfflineState,
    read: @escaping @Sendable (_ query: Int64) -> Node?
  ) {
    data.restore(state, read: read)
    requests.restore(state.writes)
  }

  // MARK: Reading

  /// Whether the server has greeted and the connection is open.
  package var isConnected: Bool { connection.isConnected }

  /// Whether the server has sent or confirmed everything observed on this connection.
  package var isCurrent: Bool { isConnected && data.listens.areCurrent }

  package var phase: ConnectionPhase { connection.publicPhase }

  /// When the server fell silent, on the monotonic clock: it has since answered no request and sent
  /// no greeting; nil while the silence is not yet noticeable.
  package var silentSince: Int64? { connection.silentSince }

  package var interruptReasons: Set<InterruptReason> { connection.interrupts }

  /// The number of writes, including those of transactions, that wait for an acknowledgement.
  package var pendingWriteCount: Int { data.sync.writes.count }

  /// The same without the writes below these children of the root.
  func pendingWriteCount(outside children: Set<ChildKey>) -> Int {
    data.sync.writes.count(outside: children)
  }

  /// The callers' writes and transactions that a message just sent carries.
  func writers(of message: ClientMessage) -> [RequestToken] {
    guard case .request(let request, .write(let write)) = message,
      case .write(let number)? = connection.requests[request]
    else { return [] }
    switch requests.writes[number]?.purpose {
    case .caller(let token): return token.map { [$0] } ?? []
    case .transactions: return transactions.tokens(ofPut: number, below: write.path)
    case nil: return []
    }
  }

  var serverTimeOffset: Int64 { data.serverTimeOffset }

  package func cachedValue(at path: Path, query: Query) -> Node? {
    data.cachedValue(of: QuerySpec(path: path, query: query))
  }

  /// What an observer of a query would see of all locally known data, however old.
  ///
  /// The call has no observable effect.
  mutating func knownValue(
    at path: Path,
    query: Query
  ) -> (node: Node, metadata: DataMetadata)? {
    data.knownValue(of: QuerySpec(path: path, query: query), at: now)
  }

  // MARK: Inputs

  /// Handles an input and returns the resulting outputs, to be performed in order.
  package mutating func handle(_ input: RepoInput, at time: RepoTime) -> [RepoOutput] {
    now = time
    outputs = []
    switch input {
    case .observe, .stopObserving, .keepSynced, .get, .write, .transaction, .onDisconnect,
      .cancelOnDisconnect, .purgeOutstandingWrites:
      request(input)
    case .actAs(let user): act(as: user)
    case .authenticate(let authentication):
      outputs += requests.authenticate(authentication, on: &connection, at: now)
      outputs += connection.goOnline(.tokenRefresh, at: now)
    case .unauthenticate:
      outputs += requests.unauthenticate(on: &connection, at: now)
      outputs += connection.goOnline(.tokenRefresh, at: now)
    case .goOnline(let reason): outputs += connection.goOnline(reason, at: now)
    case .goOffline(let reason): lost(connection.goOffline(reason, at: now))
    case .probe: outputs += connection.probe(at: now)
    case .transportOpened: break
    case .message(let id, let message): receive(message, on: id)
    case .transportProgress(let id): connection.progressed(id, at: now)
    case .transportClosed(let id, let reason):
      if connection.isSpare(id) {
        outputs += connection.spareFailed(at: now)
      } else if let loss = connection.transportClosed(id, at: now) {
        log("the connection ended: \(reason)")
        lost(loss)
      }
    case .storeSize(let size): data.pruneStore(ofSize: size, configuration: configuration)
    case .timerFired(let timer): timerFired(timer)
    }
    outputs += connection.dropNeedlessSpare()
    let changes = data.takeStoreChanges()
    if !changes.isEmpty { outputs.append(.persist(changes)) }
    let result = outputs
    outputs = []
    return result
  }

  /// Carries out a caller's request, and connects if the request needs the server.
  private mutating func request(_ input: RepoInput) {
    switch input {
    case .observe(let listener, let path, let query, let events):
      let spec = QuerySpec(path: path, query: query)
      apply(data.stopObserving(listener, at: now))
      apply(data.observe(listener, spec: spec, kinds: events, at: now))
    case .stopObserving(let listener): return apply(data.stopObserving(listener, at: now))
    case .keepSynced(let path, let query, let isOn):
      let spec = QuerySpec(path: path, query: query)
      apply(data.setKeptSynced(spec, to: isOn, at: now))
      if !isOn { return }
    case .get(let token, let path, let query, let isKept):
      get(PendingGet(token: token, spec: QuerySpec(path: path, query: query), isKept: isKept))
    case .write(let token, let path, let operation): write(token, at: path, operation: operation)
    case .transaction(let token, let path, let appliesLocally, let update):
      let request = TransactionRequest(
        token: token,
        path: path,
        appliesLocally: appliesLocally,
        update: update
      )
      transactions.begin(request, in: &data, time: now)
      performTransactions()
    case .onDisconnect(let token, let path, let operation):
      let scheduled = operation.withPrioritiesLast
      queue(DisconnectAction(token: token, path: path, operation: scheduled))
    case .cancelOnDisconnect(let token, let path):
      queue(DisconnectAction(token: token, path: path, operation: nil))
    case .purgeOutstandingWrites: return purgeOutstandingWrites()
    case .actAs, .authenticate, .unauthenticate, .goOnline, .goOffline, .probe, .transportOpened,
      .message, .transportProgress, .transportClosed, .storeSize, .timerFired:
      return
    }
    outputs += connection.goOnline(.waitingForOpen, at: now)
  }

  private mutating func timerFired(_ timer: RepoTimer) {
    switch timer {
    case .reconnect: outputs += connection.reconnectTimerFired(at: now)
    case .connectTimeout:
      guard let loss = connection.connectTimedOut(at: now) else { return }
      log("the server did not send its hello in time")
      lost(loss)
    case .keepalive:
      if let outputs = connection.keepaliveTimerFired(at: now) {
        self.outputs += outputs
      } else {
        log("the server has been silent for too long")
        lost(connection.close(because: .noAnswer, at: now))
      }
    case .spare: outputs += connection.spareTimerFired(at: now)
    case .getDeadline(let token): failGet(token)
    case .transactionRetry(let path):
      transactions.sendReady(around: path, in: &data, time: now)
      performTransactions()
    }
  }

  // MARK: The connection

  private mutating func receive(_ message: ServerMessage, on id: ConnectionID) {
    if connection.isSpare(id) { return receiveOnSpare(message) }
    guard connection.received(from: id, at: now) else { return }
    switch message {
    case .hello(let hello): greeted(hello)
    case .reset(let host):
      let other = configuration.followsServerHost && !host.isEmpty ? host : nil
      lost(connection.close(redirectedTo: other, at: now))
    case .shutdown(let reason):
      log("the server asks clients not to reconnect: \(reason)")
      lost(connection.goOffline(.serverKill, at: now))
    case .error(let text): log("the server reports an error: \(text)")
    case .pong: outputs += connection.ponged(at: now)
    case .response(let number, let response):
      if let purpose = connection.answered(number, at: now) { answered(purpose, with: response) }
    case .push(let push):
      guard isConnected else { break }
      receive(push)
    }
  }

  /// Restores the previous state on a new connection, in the order that the protocol requires.
  private mutating func greeted(_ hello: ServerHello) {
    guard let greeting = connection.greeted(hello, at: now) else { return }
    outputs += greeting.outputs
    outputs += data.setServerTime(hello.timestamp, at: now).outputs
    if greeting.isFirst {
      let statistics = JSONValue.object((configuration.statisticsName, .integer(1)))
      outputs += connection.send(.stats(statistics), for: .other, at: now)
    }
    outputs += requests.sendCredential(on: &connection, at: now)
    perform(data.allListenCommands)
    let isOnce = connection.offers(.writeOnce)
    let user = requests.user
    failSentTransactions { $0.isHeld(from: user) || !isOnce && $0.request.key != nil }
    outputs += requests.sendWaiting(on: &connection, at: now)
    outputs += data.setConnected(true).outputs
  }

  /// Handles a message of the spare attempt beside a silent server.
  private mutating func receiveOnSpare(_ message: ServerMessage) {
    switch message {
    case .hello(let hello):
      log("another connection replaces the silent one")
      ended(connection.promoteSpare(at: now))
      greeted(hello)
    case .reset(let host): outputs += connection.spareRedirected(to: host, at: now)
    case .shutdown: outputs += connection.spareFailed(at: now)
    default: break
    }
  }

  /// Handles the end of a connection or attempt, and starts the next one.
  private mutating func lost(_ loss: ConnectionMachine.Loss) {
    ended(loss)
    outputs += connection.reconnect(at: now)
  }

  private mutating func ended(_ loss: ConnectionMachine.Loss) {
    outputs += loss.outputs
    data.connectionLost()
    if loss.wasConnected {
      failSentTransactions { $0.request.key == nil }
      for (number, write) in requests.writes where configuration.isEphemeral(write.request.path) {
        writeEnded(number, with: .connectionLost)
      }
      outputs += data.setConnected(false).outputs
      for change in requests.takeScheduledWrites() {
        outputs += data.applyDisconnectWrite(change, at: now).outputs
        overrideTransactions(at: change.path)
      }
      outputs += requests.getDeadlines()
    }
  }

  private mutating func answered(
    _ purpose: RequestPurpose,
    with response: ServerMessage.Response
  ) {
    switch purpose {
    case .listen(let serial, _, let known):
      listenAnswered(serial, known: known, with: response)
    case .write(let number): writeEnded(number, with: response.outcome)
    case .onDisconnect(let number):
      let isAccepted = response.status == .ok
      if let token = requests.disconnectActionAnswered(number, isAccepted: isAccepted) {
        complete(token, with: response.outcome)
      }
    case .get(let token): getAnswered(token, with: response)
    case .authenticate(let authentication):
      authenticationAnswered(authentication, with: response)
    case .other: return
    }
  }

  private mutating func receive(_ push: ServerPush) {
    switch push {
    case .data(let path, let node, let tag):
      apply(data.applyServerOverwrite(at: path, with: node, tag: tag), changedAt: path)
    case .merge(let path, let changes, let tag):
      apply(data.applyServerMerge(at: path, changes: changes, tag: tag), changedAt: path)
    case .rangeMerge(let path, let ranges, let tag):
      let change = data.applyServerRanges(ranges, at: path, tag: tag) {
        connection.nextAnswered($0) == $1
      }
      apply(change, changedAt: path)
    case .listenRevoked(let path, let queries):
      let targets = data.listens.targets(at: path, queries: queries)
      if connection.deferRevocation(of: targets) { return }
      for target in targets {
        apply(data.cancel(target, with: Outcome(.permissionDenied), at: now))
      }
    case .authenticationRevoked(let status, let reason):
      rejectCredential(with: Outcome(status, reason: reason))
    case .appCheckRevoked(let status, let reason): log("app check revoked: \(status) \(reason)")
    case .securityDebug(let text): log(text)
    case .unknown(let action): log("the server sent an unknown action \"\(action)\"")
    }
  }

  // MARK: The user

  /// Changes the user who owns new writes.
  ///
  /// Unacknowledged writes of the previous user are kept and still shown, but are never sent as
  /// another user. Transactions and onDisconnect operations cannot wait; they are cancelled.
  private mutating func act(as user: String?) {
    let hadUser = requests.user != nil
    guard requests.setUser(user), hadUser else { return }
    let reason = "another user signed in before it was acknowledged"
    let canceled = Outcome(.writeCanceled, reason: reason)
    cancelTransactions(with: canceled)
    for token in requests.dropDisconnectActions(besides: connection.requests.values) {
      complete(token, with: canceled)
    }
  }

  private mutating func authenticationAnswered(
    _ authentication: ClientRequest.Authentication,
    with response: ServerMessage.Response
  ) {
    if requests.isCurrent(authentication) {
      guard response.status == .ok else { return rejectCredential(with: response.outcome) }
      outputs.append(.credentialAccepted)
    }
    guard !connection.isAuthenticating else { return }
    for target in connection.takeUnsettledTargets() {
      if let command = data.listenCommand(for: target) { perform([command]) }
    }
    outputs += requests.sendWaiting(on: &connection, at: now)
  }

  /// Drops the credential and the connection, until the caller authenticates or unauthenticates.
  private mutating func rejectCredential(with outcome: Outcome) {
    requests.dropCredential()
    outputs.append(.credentialRejected(outcome))
    lost(connection.goOffline(.tokenRefresh, at: now))
  }

  // MARK: Listens

  private mutating func apply(_ change: RegistrationChange) {
    perform(change.commands)
    outputs += change.outputs
  }

  private mutating func perform(_ commands: [ListenCommand]) {
    guard isConnected else { return }
    connection.listens(!data.listens.targets.isEmpty)
    for command in commands {
      outputs += connection.send(command.message, for: command.purpose, at: now)
    }
  }

  /// Handles the answer to a listen, unless the listen has ended in the meantime.
  private mutating func listenAnswered(
    _ serial: Int64,
    known: Node,
    with response: ServerMessage.Response
  ) {
    guard let target = data.listens.targets[serial] else { return }
    guard response.status == .ok else {
      return apply(data.cancel(target, with: response.outcome, at: now))
    }
    if let warnings = response.json?["w"]?.elements, !warnings.isEmpty {
      let text = warnings.compactMap(\.string).joined(separator: ", ")
      log("the server warns about the listen at \(target.path): \(text)")
    }
    apply(data.listenCompleted(target, known: known), changedAt: target.path)
  }

  // MARK: Reads

  private mutating func get(_ get: PendingGet) {
    if let (node, metadata) = data.confirmedValue(of: get.spec) {
      return outputs.append(.getCompleted(get.token, .value(node, metadata)))
    }
    // There will be no connection before the caller goes online again.
    if connection.interrupts.contains(.user) {
      return outputs.append(.getCompleted(get.token, known(get) ?? PendingGet.offline))
    }
    outputs += requests.add(get, number: data.makeNumber(), on: &connection, at: now)
  }

  private mutating func getAnswered(_ token: RequestToken, with response: ServerMessage.Response) {
    guard let get = requests.removeGet(token) else { return }
    guard response.status == .ok else {
      // Data that the rules forbid must not be shown from a store either, now or later.
      let isDenied = response.status == .permissionDenied
      if isDenied { data.refuseGet(get.spec) }
      let result = isDenied ? nil : known(get)
      return outputs.append(.getCompleted(token, result ?? .failure(response.outcome)))
    }
    let node: Node
    do throws(NodeError) {
      node = try response.node
    } catch {
      let outcome = Outcome(.invalidData, reason: error.description)
      return outputs.append(.getCompleted(token, .failure(outcome)))
    }
    if get.isKept {
      apply(data.applyGet(node, spec: get.spec, at: now), changedAt: get.spec.path)
    }
    outputs.append(.getCompleted(token, .value(node, DataMetadata())))
  }

  /// The result of a read from locally known data, or nil if the read must come from the server.
  private mutating func known(_ get: PendingGet) -> GetResult? {
    guard get.isKept, let known = data.knownValue(of: get.spec, at: now) else { return nil }
    return .value(known.node, known.metadata)
  }

  private mutating func failGet(_ token: RequestToken) {
    guard !isConnected, let get = requests.removeGet(token) else { return }
    outputs.append(.getCompleted(token, known(get) ?? PendingGet.offline))
  }

  // MARK: Writes

  private mutating func write(_ token: RequestToken, at path: Path, operation: WriteOperation) {
    guard !path.isInfo else { return complete(token, with: .readOnly) }
    let raw = operation.withPrioritiesLast
    if case .merge(let changes) = raw, changes.isEmpty {
      return complete(token, with: Outcome(.ok))
    }
    let isEphemeral = configuration.isEphemeral(path)
    if isEphemeral, !isConnected { return complete(token, with: .connectionLost) }
    let number = data.makeNumber()
    let request = WriteRequest(path: path, operation: raw)
    let change = data.applyUserWrite(
      request,
      number: number,
      owner: requests.user,
      key: requests.key(of: number, ownedBy: requests.user),
      isStored: !isEphemeral,
      at: now
    )
    outputs += change.outputs
    outputs += requests.enqueue(
      request,
      number: number,
      for: .caller(token),
      on: &connection,
      at: now
    )
    for replaced in raw.changes(at: path) { overrideTransactions(at: replaced.path) }
  }

  /// A write was answered or is discarded.
  private mutating func writeEnded(_ number: Int64, with outcome: Outcome) {
    guard let write = requests.removeWrite(number) else { return }
    let path = write.request.path
    guard case .caller(let token) = write.purpose else {
      transactions.putEnded(number, at: path, with: outcome, in: &data, time: now)
      return performTransactions()
    }
    let change = data.ackUserWrite(number, isAccepted: outcome.status == .ok, at: now)
    outputs += change.outputs
    if let token {
      complete(token, with: outcome)
    } else if outcome.status != .ok {
      log("a write at \(path) by an earlier run failed: \(outcome)")
    }
    if change.hasEvents { rerunTransactions(at: path) }
  }

  private mutating func complete(_ token: RequestToken, with outcome: Outcome) {
    outputs.append(.writeCompleted(token, outcome))
  }

  private mutating func purgeOutstandingWrites() {
    let reason = "the write was purged before it was acknowledged"
    let canceled = Outcome(.writeCanceled, reason: reason)
    outputs += data.revertAllWrites().outputs
    cancelTransactions(with: canceled)
    for (number, _) in requests.writes { writeEnded(number, with: canceled) }
    for token in requests.dropDisconnectActions(besides: EmptyCollection()) {
      let reason = "purged before it was acknowledged"
      complete(token, with: Outcome(.writeCanceled, reason: reason))
    }
  }

  private mutating func queue(_ action: DisconnectAction) {
    guard !action.path.isInfo else { return complete(action.token, with: .readOnly) }
    outputs += requests.add(action, number: data.makeNumber(), on: &connection, at: now)
  }

  // MARK: Transactions

  private mutating func performTransactions() {
    for step in transactions.takeSteps() {
      switch step {
      case .output(let output): outputs.append(output)
      case .tell(let commands): perform(commands)
      case .put(let request, let number):
        outputs += requests.enqueue(
          request,
          number: number,
          for: .transactions,
          on: &connection,
          at: now
        )
      }
    }
  }

  /// Raises the events of a change, and reruns the transactions there if it had events.
  private mutating func apply(_ change: DataChange, changedAt path: Path) {
    // Usually nothing precedes them, so up to a hundred events need not be copied.
    if outputs.isEmpty { outputs = change.outputs } else { outputs += change.outputs }
    if change.hasEvents { rerunTransactions(at: path) }
  }

  private mutating func rerunTransactions(at path: Path) {
    transactions.rerun(at: path, in: &data, time: now)
    performTransactions()
  }

  /// Ends the transactions that a write overrides, and reruns those that depended on them.
  private mutating func overrideTransactions(at path: Path) {
    guard !transactions.queue.isEmpty else { return }
    let top = transactions.queue.topmost(on: path) ?? path
    let reason = "a later write replaced the transaction's data"
    let outcome = Outcome(.overriddenBySet, reason: reason)
    transactions.abort(overlapping: path, with: outcome, in: &data, time: now)
    rerunTransactions(at: top)
  }

  /// Ends all transactions; those whose write was never sent end at once.
  private mutating func cancelTransactions(with outcome: Outcome) {
    for number in transactions.puts {
      if let path = requests.withdrawWrite(number) {
        transactions.putWithdrawn(number, below: path)
      }
    }
    transactions.abort(overlapping: .root, with: outcome, in: &data, time: now)
    performTransactions()
  }

  /// Ends the transactions whose write may have been applied and cannot be resent.
  private mutating func failSentTransactions(where isLost: (OutstandingWrite) -> Bool) {
    for number in requests.sentTransactions(where: isLost) {
      writeEnded(number, with: .connectionLost)
    }
  }

  private mutating func log(_ line: String) {
    outputs.append(.log(line))
  }
}
