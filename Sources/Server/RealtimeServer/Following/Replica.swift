internal import Logging
internal import NIOCore
internal import RealtimeTransport

/// A copy of a database that another server leads, from which this one answers what clients read.
///
/// The storage provides the data as of some commit, and the leader sends every later batch over the
/// link that carries the clients' writes. Since the leader sends a batch before it acknowledges the
/// writes in it, a client that learns that its write was stored reads it here.
///
/// What is known when the copy ends helps the next one, or this server if it leads next.
///
/// Nothing is read from the copy until the leader has confirmed that the copy has everything that
/// was acknowledged when the request arrived: see ``whenCurrent(_:)``. So an answer is as fresh as
/// the leader's, a leader that has lost its lease confirms nothing, and no client sees data go
/// back, whichever server it reads from next.
///
/// It performs what ``Following`` decides. Confined to the event loop.
final class Replica: LinkReceiver {
  typealias Machine = Following<(Bool) -> Void>

  /// How long after a failure a database is not followed again.
  static let rest = TimeAmount.seconds(15)
  /// How long the data of a copy is kept for the next leader or follower.
  static let keeping = TimeAmount.seconds(60)
  /// How often to check whether any client still needs the copy.
  private static let interval = TimeAmount.seconds(30)

  let name: String
  let link: ForwardingLink
  /// The storage that the servers share.
  private let storage: any StoredDatabases
  private let context: ServerContext
  private let logger: Logger
  /// Called once, when the copy is no longer kept up to date, with the reason, and with the data of
  /// the copy if the storage may know it again.
  private let onEnd: (Machine.Ending, _ holding: StoredTree?) -> Void
  /// The data of an earlier copy, if there was one.
  private let known: StoredTree?
  private var following = Machine()
  /// The copy, once it is complete; nil before and after.
  private(set) var core: DatabaseCore?
  /// The thread that has read the storage, until the copy begins.
  private var thread: StoreThread?
  private var exchange = 0
  private var idleCheck: Scheduled<Void>?
  private var wasIdle = false

  init(
    of name: String,
    over link: ForwardingLink,
    storage: any StoredDatabases,
    knowing known: StoredTree?,
    context: ServerContext,
    onEnd: @escaping (Machine.Ending, _ holding: StoredTree?) -> Void
  ) {
    self.name = name
    self.link = link
    self.storage = storage
    self.known = known
    self.context = context
    self.onEnd = onEnd
    logger = context.logger(of: name)
    exchange = link.follow(name, self)
    checkIdleness()
  }

  var hasEnded: Bool { following.hasEnded }

  // MARK: Clients

  /// Serves a client: its reads from the copy, its writes through the leader.
  func accept(_ client: ResumableClient) -> ServerHandlers.Callbacks? {
    guard let core else { return nil }
    let leader = ForwardedWriter(of: self)
    leader.begin(over: link.submit(client.opening, to: name, leader))
    return core.callbacks(of: core.connect(client, writingTo: leader).peer)
  }

  /// Calls a closure once the copy has everything that was acknowledged by now.
  func whenCurrent(_ body: @escaping (Bool) -> Void) {
    perform(following.ask(body))
  }

  /// The copy, as soon as it has everything that was acknowledged by now.
  ///
  /// The future fails with a ``RESTError`` if the copy has ended.
  func current() -> EventLoopFuture<DatabaseCore> {
    let promise = context.eventLoop.makePromise(of: DatabaseCore.self)
    whenCurrent { [weak self] isCurrent in
      guard isCurrent, let core = self?.core else { return promise.fail(Self.loss) }
      promise.assumeIsolated().succeed(core)
    }
    return promise.futureResult
  }

  private static let loss = RESTError(503, reason: "the server that leads the database was lost")

  // MARK: LinkReceiver

  func receive(_ bytes: [UInt8]) {
    guard let message = FollowerMessage(bytes) else {
      return end(.fault, because: "the leader spoke otherwise")
    }
    perform(following.receive(message, bytes: bytes.count))
  }

  func ended(code: UInt16, reason: String) {
    leaderChanged(reason)
  }

  // MARK: Data

  private func perform(_ outputs: [Machine.Output]) {
    for output in outputs { perform(output) }
  }

  private func perform(_ output: Machine.Output) {
    switch output {
    case .load: load()
    case .begin(let stored): begin(stored)
    case .commit(let commits):
      if core?.follow(commits) == false { end(.fault, because: "a commit does not fit the copy") }
    case .setRules(let source): core?.follow(rules: source)
    case .takeOver: takeOver()
    case .awaitEndOfTurn:
      context.eventLoop.assumeIsolated().execute { [weak self] in
        guard let self, let mark = following.turnEnded() else { return }
        link.sendMessage(Array("\(mark)".utf8), exchange)
      }
    case .answer(let reads): for body in reads { body(true) }
    case .refuse(let body): body(false)
    case .end(let ending, let reads, let reason): finish(ending, refusing: reads, because: reason)
    }
  }

  private func load() {
    let database = storage.database(name)
    let opened = StoreThread.open(on: context.eventLoop, knowing: known) {
      ReplicaStore(database: database)
    }
    opened.assumeIsolated().whenComplete { [weak self] result in
      switch result {
      case .success(let opened):
        guard let self else { return _ = opened?.thread.close() }
        thread = opened?.thread
        perform(following.loaded(opened?.stored))
        if following.hasEnded { closeThread() }
      case .failure(let error):
        self?.end(.fault, because: "the storage cannot be read: \(error)")
      }
    }
  }

  private func begin(_ stored: StoredTree) {
    guard let thread = thread.take() else { return }
    let core = DatabaseCore(name: name, stored: stored, thread: thread, term: nil, context: context)
    core.begin()
    self.core = core
  }

  /// Closes the thread of a copy that does not begin.
  private func closeThread() {
    _ = thread.take()?.close()
  }

  /// Answers the reads of clients that have been forwarded so far, where possible.
  ///
  /// When the leader hands a client over, the copy has what the client has seen: the leader sent
  /// the batches first, over the same link.
  private func takeOver() {
    guard let core else { return }
    link.takeOver(name) { [weak self] connection, number, state in
      guard let self, self.core === core else { return nil }
      let writer = ForwardedWriter(of: self)
      let isSignedIn = state.identity != DatabaseCore.identity(of: connection.peer)
      writer.begin(over: number, isSignedIn: isSignedIn)
      return (writer, core.takeOver(connection, state, writingTo: writer))
    }
    logger.notice("following a database", metadata: ["revision": "\(core.hub.revision)"])
  }

  // MARK: Ending

  /// Ends the copy; its clients are served by whoever leads the database next.
  func leaderChanged(_ reason: String) {
    perform(following.leaderChanged(because: reason))
  }

  private func end(_ ending: Machine.Ending, because reason: String) {
    perform(following.end(ending, because: reason))
  }

  private func finish(
    _ ending: Machine.Ending,
    refusing reads: [(Bool) -> Void],
    because reason: String
  ) {
    let core = core
    self.core = nil
    closeThread()
    idleCheck?.cancel()
    link.end(exchange)
    // Whoever does not lead yet is asked again ten times a second.
    if core != nil || ending == .fault {
      logger.notice("a database is no longer followed: \(reason)")
    }
    var holding: StoredTree?
    if let core, case .leaderChanged(let lineage?) = ending {
      holding = StoredTree(root: core.hub.snapshot, revision: core.hub.revision, lineage: lineage)
    }
    onEnd(ending, holding)
    for body in reads { body(false) }
    guard let core else { return }
    core.leaveCopies()
    _ = core.abandon(because: reason, code: CloseCode.goingAway)
  }

  /// Ends the copy once no client has needed it for a while.
  private func checkIdleness() {
    idleCheck = context.eventLoop.assumeIsolated().scheduleTask(in: Self.interval) { [weak self] in
      guard let self else { return }
      let isIdle = core.map { $0.sessions.isEmpty && $0.peers.inside.isEmpty } ?? false
      if isIdle, wasIdle { return end(.unneeded, because: "no client needs it") }
      wasIdle = isIdle
      checkIdleness()
    }
  }
}

/// The store of a copy: it reads what the leader's store holds, and stores nothing itself.
private struct ReplicaStore: TreeStore {
  let database: any StoredDatabase

  /// Reads the data and the rules; the ledger and scheduled writes are the leader's concern.
  func load() throws -> StoredTree { Self.data(of: try database.load()) }

  func load(since known: StoredTree) throws -> StoredTree {
    Self.data(of: try database.load(since: known))
  }

  private static func data(of stored: StoredTree) -> StoredTree {
    var stored = stored
    (stored.ledger, stored.sessions) = ([], [])
    return stored
  }

  func commit(_ batch: CommitBatch) {}
  func close() {}
}
