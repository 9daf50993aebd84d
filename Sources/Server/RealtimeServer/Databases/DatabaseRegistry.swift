internal import Logging
internal import NIOCore

/// The databases of a server, each opened on first use.
///
/// Confined to the server's event loop. A database is opening, open, closing to make room for
/// another, or has recently failed to open. A failed one is left alone for a while, so that a
/// damaged database costs the others nothing.
///
/// Where several servers share the storage, a database is opened when this server starts to lead
/// it, and closed when it no longer does.
final class DatabaseRegistry {
  private enum Entry {
    case opening(EventLoopFuture<DatabaseCore>)
    case open(DatabaseCore)
    case closing(EventLoopFuture<Void>)
    case failed(any Error)
  }

  /// How long a damaged database is left alone: somebody has to repair it, and reading it takes long.
  private static let longPause = TimeAmount.seconds(15)

  private let stores: any TreeStores
  private let context: ServerContext
  private var entries: [String: Entry] = [:]
  /// When each open database was last requested, as the number of the request.
  private var lastUses: [String: UInt64] = [:]
  private var useCount: UInt64 = 0
  private var isClosing = false
  /// Where several servers share the storage, knows which server leads what.
  private let leaders: (any DatabaseLeaders)?
  /// The terms of the databases led here, from the moment when they start to open.
  private var terms: [String: LeaseTerm] = [:]
  /// What to do with databases once they are open, if they are to be released while still opening.
  private var departures: [String: (DatabaseCore) -> Void] = [:]
  /// Databases that are handed over or closed, and whose clients are still connected.
  private var parting: [String: DatabaseCore] = [:]
  /// Databases that could not be opened when that was last tried.
  private var unopened: Set<String> = []
  /// Databases of which the first write since they were opened had an unknown outcome.
  private var unstorable: Set<String> = []
  /// Called with a database and the server that leads it, or nil for this one, when that is found.
  var onLeader: (String, String?) -> Void = { _, _ in }
  /// Returns, once, what was known of a database a moment ago; nil if nothing was.
  var takeKnown: (String) -> StoredTree? = { _ in nil }
  /// The servers that lead other databases, as far as is known.
  private var elsewhere: [String: Redirection] = [:]

  init(stores: any TreeStores, leaders: (any DatabaseLeaders)? = nil, context: ServerContext) {
    self.stores = stores
    self.leaders = leaders
    self.context = context
    leaders?.led = self
  }

  var open: [DatabaseCore] {
    entries.values.compactMap { if case .open(let core) = $0 { core } else { nil } }
      .sorted { $0.name < $1.name }
  }

  func opened(_ name: String) -> DatabaseCore? {
    if case .open(let core)? = entries[name] { core } else { nil }
  }

  /// A database, which is opened if necessary.
  ///
  /// An emulator accepts any number of names, because test runners use one for each test. When the
  /// limit of open databases is reached, it closes the least recently used one that is idle.
  /// ``refusal(_:)`` turns a failure into an error for clients.
  func database(_ name: String, isMade: Bool) -> EventLoopFuture<DatabaseCore> {
    let eventLoop = context.eventLoop
    if let leaders { return database(name, by: leaders) }
    useCount += 1
    switch entries[name] {
    case .open(let core):
      lastUses[name] = useCount
      return eventLoop.assumeIsolated().makeSucceededFuture(core)
    case .opening(let future): return future
    case .closing(let future):
      return after(future) { self.database(name, isMade: isMade) }
    case .failed(let error): return eventLoop.makeFailedFuture(error)
    case nil: break
    }
    guard DatabaseName.isValid(name), !isClosing else {
      return eventLoop.makeFailedFuture(Self.absence)
    }
    guard let room = makeRoom() else { return eventLoop.makeFailedFuture(excess) }
    let future = after(room) { self.open(name, isMade: isMade) }
    entries[name] = .opening(future)
    lastUses[name] = useCount
    future.assumeIsolated().whenComplete { result in
      switch result {
      case .success(let core):
        self.entries[name] = .open(core)
        self.noteOpened(name)
        guard name != self.context.options.namespace else { break }
        core.onLoss = { [weak self, weak core] in
          if let core { self?.closeAlone(core, because: $0) }
        }
      case .failure(let error): self.failed(name, because: error)
      }
    }
    return future
  }

  private func after(
    _ earlier: EventLoopFuture<Void>,
    do body: @escaping () -> EventLoopFuture<DatabaseCore>
  ) -> EventLoopFuture<DatabaseCore> {
    let promise = context.eventLoop.makePromise(of: DatabaseCore.self)
    earlier.assumeIsolated().whenComplete { _ in
      body().assumeIsolated().whenComplete { promise.assumeIsolated().completeWith($0) }
    }
    return promise.futureResult
  }

  /// Opens a database for the first time.
  private func open(_ name: String, isMade: Bool) -> EventLoopFuture<DatabaseCore> {
    let opened = StoreThread.open(on: context.eventLoop) { [stores] in
      if isMade { _ = try stores.create(name) }
      return try stores.open(name)
    }
    return core(name, of: opened)
  }

  private func core(
    _ name: String,
    of opened: EventLoopFuture<(thread: StoreThread, stored: StoredTree)?>,
    for term: LeaseTerm? = nil
  ) -> EventLoopFuture<DatabaseCore> {
    let bound = NIOLoopBound((context: context, term: term), eventLoop: context.eventLoop)
    return opened.flatMapThrowing { opened in
      guard let opened else { throw Self.absence }
      let core = DatabaseCore(
        name: name,
        stored: opened.stored,
        thread: opened.thread,
        term: bound.value.term,
        context: bound.value.context
      )
      // The default database is opened before the revoked users are known.
      if bound.value.context.identities.isReady { core.begin() }
      return core
    }
  }

  /// Makes room for another database, or returns nil if all are in use.
  private func makeRoom() -> EventLoopFuture<Void>? {
    let eventLoop = context.eventLoop
    if entries.count < context.options.limits.databases {
      return eventLoop.makeSucceededVoidFuture()
    }
    guard context.options.isEmulator else { return nil }
    let idle = open.filter { $0.isIdle && $0.name != context.options.namespace }
    guard
      let oldest = idle.min(by: { lastUses[$0.name, default: 0] < lastUses[$1.name, default: 0] })
    else { return nil }
    let name = oldest.name
    lastUses[name] = nil
    let closed = oldest.close()
    entries[name] = .closing(closed)
    // This runs before any request that waits for the room.
    closed.assumeIsolated().whenComplete { _ in
      if case .closing? = self.entries[name] { self.entries[name] = nil }
    }
    return closed
  }

  private func failed(_ name: String, because error: any Error) {
    lastUses[name] = nil
    guard !(error is RESTError || error is Redirection) else {
      entries[name] = nil
      return
    }
    noteFailed(name, because: error)
    let isDamaged = (error as? StoreError)?.kind == .damaged
    leaveAlone(name, after: error, for: isDamaged ? Self.longPause : .seconds(1))
  }

  private func leaveAlone(_ name: String, after error: any Error, for time: TimeAmount) {
    entries[name] = .failed(error)
    context.eventLoop.assumeIsolated().scheduleTask(in: time) {
      if case .failed? = self.entries[name] { self.entries[name] = nil }
    }
  }

  /// Closes a database with a write of unknown outcome; the next request reads what is stored.
  private func closeAlone(_ core: DatabaseCore, because error: StoreError) {
    guard case .open(let known)? = entries[core.name], known === core, !isClosing else {
      return context.onLoss(error)
    }
    core.logger.error("a write failed, and the database is closed: \(error)")
    let name = core.name
    let isAgain = unstorable.remove(name) != nil
    if core.metrics.commits == 0 { unstorable.insert(name) }
    abandon(core, because: error.publicReason)
    // While nothing can be stored, the database is not read again for each client.
    guard isAgain, core.metrics.commits == 0, case .closing(let closed)? = entries[name] else {
      return
    }
    closed.assumeIsolated().whenComplete { _ in
      self.leaveAlone(name, after: error, for: Self.longPause)
    }
  }

  private func noteFailed(_ name: String, because error: any Error) {
    unopened.insert(name)
    // Before the accounts are open, the server does not start, and whoever starts it is told why.
    guard context.identities.isReady else { return }
    context.logger.error("a database cannot be opened: \(error)", metadata: ["database": "\(name)"])
  }

  private func noteOpened(_ name: String) {
    guard unopened.remove(name) != nil else { return }
    context.logger.notice("a database can be opened again", metadata: ["database": "\(name)"])
  }

  /// The error for clients when a database does not exist or cannot be opened.
  static func refusal(_ error: any Error) -> RESTError {
    error as? RESTError ?? RESTError(503, reason: "the database cannot be opened")
  }

  /// Why a database is not open to a client that was admitted; nil if the next attempt may succeed.
  func refusal(of name: String) -> RESTError? {
    guard DatabaseName.isValid(name) else { return Self.absence }
    switch entries[name] {
    case .failed(let error): return Self.refusal(error)
    case .open, .opening, .closing: return nil
    case nil: return context.options.isEmulator ? excess : Self.absence
    }
  }

  private static let absence = RESTError(404, reason: "there is no database with this name here")

  /// The error for too many databases; an emulator uses a status that no client retries on.
  private var excess: RESTError {
    RESTError(
      context.options.isEmulator ? 429 : 503,
      reason: "the server has too many databases open, all of which are in use (limit databases)"
    )
  }

  // MARK: Closing

  /// Disconnects the clients of all databases.
  func shutDown() {
    isClosing = true
    for core in open { core.shutDown() }
  }

  /// Disconnects the clients of databases that are already closed.
  func disperse() {
    for name in parting.keys { redirectClients(name, to: nil) }
  }

  /// Closes all databases, including those that are still opening; the future never fails.
  func close() -> EventLoopFuture<Void> { close { $0.close() } }

  /// Closes all databases without storing or answering anything more; the future never fails.
  func abandon() -> EventLoopFuture<Void> { close { $0.abandon() } }

  private func close(
    by close: @escaping (DatabaseCore) -> EventLoopFuture<Void>
  ) -> EventLoopFuture<Void> {
    isClosing = true
    let eventLoop = context.eventLoop
    let closing = entries.values.map { entry -> EventLoopFuture<Void> in
      switch entry {
      case .open(let core): close(core)
      case .opening(let future):
        future.assumeIsolated().flatMap { close($0) }.nonisolated()
      case .closing(let future): future
      case .failed: eventLoop.makeSucceededVoidFuture()
      }
    }
    return EventLoopFuture.andAllComplete(closing, on: eventLoop)
  }
}

// MARK: Led databases

extension DatabaseRegistry {
  /// Checks that a database exists, without opening it; the future fails if it does not.
  func isPresent(_ name: String) -> EventLoopFuture<Void> {
    guard let leaders else { return database(name, isMade: false).map { _ in } }
    guard DatabaseName.isValid(name) else {
      return context.eventLoop.makeFailedFuture(Self.absence)
    }
    return leaders.find(name).flatMapThrowing { leader in
      if leader == .absent { throw Self.absence }
    }
  }

  /// The server that leads a database, if it was another one when that was last asked.
  func redirection(of name: String) -> Redirection? { elsewhere[name] }

  /// A database that this server leads; the future fails with a ``Redirection`` if another one
  /// does.
  private func database(
    _ name: String,
    by leaders: any DatabaseLeaders
  ) -> EventLoopFuture<DatabaseCore> {
    let eventLoop = context.eventLoop
    guard DatabaseName.isValid(name), !isClosing else {
      return eventLoop.makeFailedFuture(isClosing ? Self.stopping : Self.absence)
    }
    // What comes while it is handed over waits for the next leader, since it would not be stored.
    if !isLeaving(name), let led = ledIfAny(name) { return led }
    let promise = eventLoop.makePromise(of: DatabaseCore.self)
    leaders.find(name).assumeIsolated().whenComplete { result in
      switch result {
      case .success(.here):
        self.elsewhere[name] = nil
        if let led = self.ledIfAny(name) {
          led.assumeIsolated().whenComplete { promise.assumeIsolated().completeWith($0) }
        } else {
          promise.fail(RESTError(503, reason: "the database cannot be opened"))
        }
      case .success(.there(let server)):
        promise.fail(self.send(name, to: server))
      case .success(.nowhere(let reason)): promise.fail(RESTError(503, reason: reason))
      case .success(.absent): promise.fail(Self.absence)
      case .failure(let error): promise.fail(error)
      }
    }
    return promise.futureResult
  }

  /// Notes that a database is led by another server than the one that its clients were sent to.
  ///
  /// What the former leader still holds would otherwise wait there until somebody asks for the
  /// database here.
  func noteLeader(_ leader: ClusterServer, of name: String) {
    guard let known = elsewhere[name], known.server != leader.id.description else { return }
    send(name, to: leader)
  }

  @discardableResult
  private func send(_ name: String, to leader: ClusterServer) -> Redirection {
    let redirection = Redirection(host: leader.host, server: leader.id.description)
    elsewhere[name] = redirection
    onLeader(name, redirection.server)
    return redirection
  }

  /// Whether a database is being handed over.
  func isLeaving(_ name: String) -> Bool { departures[name] != nil || parting[name] != nil }

  /// A database that is led here, or is about to be; the future fails if none is.
  func led(_ name: String) -> EventLoopFuture<DatabaseCore> {
    (departures[name] == nil ? ledIfAny(name) : nil)
      ?? context.eventLoop.makeFailedFuture(Self.absence)
  }

  /// A database that is open or opening under a valid lease.
  private func ledIfAny(_ name: String) -> EventLoopFuture<DatabaseCore>? {
    guard terms[name]?.counts == true else { return nil }
    switch entries[name] {
    case .open(let core):
      return context.eventLoop.assumeIsolated().makeSucceededFuture(core)
    case .opening(let future): return future
    case .closing, .failed, nil: return nil
    }
  }

  private static let stopping = RESTError(503, reason: "the server is stopping")

  /// Called when this server starts to lead a database.
  func lead(_ term: LeaseTerm) {
    let name = term.database
    onLeader(name, nil)
    let opened = StoreThread.open(on: context.eventLoop, knowing: takeKnown(name)) {
      [open = term.open] in try open()
    }
    let future = core(name, of: opened, for: term)
    entries[name] = .opening(future)
    terms[name] = term
    future.assumeIsolated().whenComplete { result in
      switch result {
      case .success(let core):
        self.entries[name] = .open(core)
        self.noteOpened(name)
        // Whoever is told of the loss must not keep the data of a database that is closed.
        term.onLoss = { [weak self, weak core] in
          if let core { self?.lost(core, because: $0) }
        }
        if name == self.context.options.namespace,
          let rules = try? self.context.rules.compiled()
        {
          core.setRules(rules)
        }
        self.departures.removeValue(forKey: name)?(core)
      case .failure(let error):
        self.noteFailed(name, because: error)
        self.entries[name] = nil
        self.departures[name] = nil
        self.leaders?.lost(term, by: Self.loss(by: error, isOpen: false))
        self.ended(name)
      }
    }
  }

  /// What a failure of the store means for the lease.
  private static func loss(by error: any Error, isOpen: Bool) -> LeaseLoss {
    switch (error as? StoreError)?.kind {
    // An open database is read again, which finds out whether that is so.
    case .damaged: isOpen ? .outdated : .damaged
    case .missing, .busy, .unreachable, .failed: .stuck
    case .superseded, .outdated, .locked, .notWritable, .full, nil: .outdated
    }
  }

  /// Called when a database must be closed in order: pending requests are stored and answered first.
  func giveUp(_ name: String) {
    whenOpen(name) { registry, core in
      registry.context.logger.notice("handing a database over", metadata: ["database": "\(name)"])
      registry.parting[name] = core
      core.handOver().assumeIsolated().whenComplete { _ in registry.ended(name) }
    }
  }

  /// Called when a database must be closed at once; its clients receive the reason.
  func giveUp(_ name: String, because reason: String) {
    whenOpen(name) { registry, core in
      registry.context.logger.notice(
        "a database may be led by another server now: \(reason)",
        metadata: ["database": "\(name)"]
      )
      registry.abandon(core, because: reason)
    }
  }

  /// Does something to a database that is open, or as soon as it is.
  private func whenOpen(_ name: String, _ body: @escaping (DatabaseRegistry, DatabaseCore) -> Void)
  {
    switch entries[name] {
    case .open(let core): body(self, core)
    case .opening:
      departures[name] = { [weak self] core in
        if let self { body(self, core) }
      }
    case .closing, .failed, nil: break
    }
  }

  /// Closes all connections of a database without an answer.
  private func abandon(_ core: DatabaseCore, because reason: String) {
    let name = core.name
    let isParting = parting.removeValue(forKey: name) != nil
    let closed = core.abandon(because: reason, code: CloseCode.goingAway)
    entries[name] = .closing(closed)
    // The completion of the orderly close reports the end of this one.
    guard !isParting else { return core.redirectClients(to: nil) }
    closed.assumeIsolated().whenComplete { _ in self.ended(name) }
  }

  /// Handles a write that was refused or whose outcome is unknown: the stored data must be read
  /// again.
  private func lost(_ core: DatabaseCore, because error: StoreError) {
    guard case .open(let known)? = entries[core.name], known === core else { return }
    if let term = core.term { leaders?.lost(term, by: Self.loss(by: error, isOpen: true)) }
    let isKnown = [.superseded, .damaged, .outdated].contains(error.kind)
    abandon(core, because: isKnown ? error.publicReason : leaders?.reasonForLoss ?? "")
  }

  private func ended(_ name: String) {
    entries[name] = nil
    terms[name] = nil
    leaders?.closed(name)
  }

  /// Called when the clients of a database that was closed in order must leave, for a host if there
  /// is one.
  func redirectClients(_ name: String, to host: String?) {
    let next = context.options.redirectsClients ? host : nil
    parting.removeValue(forKey: name)?.redirectClients(to: next)
  }
}
