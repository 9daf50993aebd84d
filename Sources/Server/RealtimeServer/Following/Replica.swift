internal import Logging
internal import NIOCore
internal import RealtimeCore
internal import RealtimeTransport

/// A copy of a database that another server leads, from which this one answers what clients read.
///
/// The storage gives the data as of some commit, and the leader every batch after that, over the
/// link that carries the clients' writes. Since the leader tells a batch before it acknowledges what
/// is in it, a client that is told that its write was stored reads it here.
///
/// What is known when the copy ends helps the next one, or this server if it leads next.
///
/// Nothing is read from the copy until the leader has confirmed that it has all that was
/// acknowledged when the request arrived: see ``whenCurrent(_:)``. So an answer is as fresh as the
/// leader's, a leader that has lost its lease confirms nothing, and no client sees anything go back,
/// whichever server it reads from next.
///
/// State: asking (where the stream begins) → reading (the storage, while what the leader tells is
/// kept) → following → ended. Confined to the event loop.
final class Replica: LinkReceiver {
  private enum Phase {
    case asking
    case reading(from: Int64, told: [FollowerMessage], bytes: Int)
    case following(DatabaseCore)
    case ended
  }

  /// Why a copy is no longer kept up to date.
  enum Ending {
    /// The leader was lost, or is another one; what the copy held, if the storage knows it again.
    case leaderChanged(holding: StoredTree?)
    /// It could not be kept up to date.
    case fault
    /// No client needs it.
    case unneeded
  }

  /// The most that the leader may tell while the storage is being read, in bytes.
  private static let mostKept = 64 * 1_024 * 1_024
  /// How long a database is not followed again that could not be.
  static let rest = TimeAmount.seconds(15)
  /// How long what a copy held is kept for whoever leads or follows next.
  static let keeping = TimeAmount.seconds(60)
  /// How often it is checked whether any client still needs the copy.
  private static let interval = TimeAmount.seconds(30)

  let name: String
  /// The link to the leader.
  let link: ForwardingLink
  private let storage: any StoredDatabases
  private let context: ServerContext
  private let logger: Logger
  private let onEnd: (Ending) -> Void
  /// What an earlier copy held.
  private let known: StoredTree?
  private var lineage: String?
  private var phase = Phase.asking
  private var exchange = 0
  /// Who waits for the leader to confirm a mark, in the order of the marks.
  private var waiting = CircularBuffer<(mark: Int, body: (Bool) -> Void)>()
  /// The last mark that was sent, or will be at the end of the turn.
  private var lastMark = 0
  private var isMarkScheduled = false
  private var idleCheck: Scheduled<Void>?
  private var wasIdle = false

  /// Begins to follow a database.
  ///
  /// - Parameters:
  ///   - name: The database.
  ///   - link: The link to the server that leads it.
  ///   - storage: The storage that both servers share.
  ///   - known: What an earlier copy held; nil if there was none.
  ///   - context: The context of this server.
  ///   - onEnd: Called once, when the copy is no longer kept up to date.
  init(
    of name: String,
    over link: ForwardingLink,
    storage: any StoredDatabases,
    knowing known: StoredTree?,
    context: ServerContext,
    onEnd: @escaping (Ending) -> Void
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

  /// What the copy holds; nil while it is not complete, or if the storage would not know it again.
  var holding: StoredTree? {
    guard let core, let lineage else { return nil }
    return StoredTree(root: core.hub.snapshot, revision: core.hub.revision, lineage: lineage)
  }

  /// Whether it is no longer kept up to date.
  var hasEnded: Bool { if case .ended = phase { true } else { false } }

  /// The copy, once it is complete; nil before and after.
  var core: DatabaseCore? {
    if case .following(let core) = phase { core } else { nil }
  }

  // MARK: Clients

  /// Serves a client: what it reads from the copy, what it writes by the leader.
  func accept(_ connection: any MessageConnection) -> ServerHandlers.Callbacks? {
    guard let core, let request = connection.request else { return nil }
    let leader = ForwardedWriter(of: self)
    leader.begin(over: link.submit(request, to: name, leader))
    return core.accept(connection, writingTo: leader)
  }

  /// Calls a closure once the copy has everything that was acknowledged by now.
  ///
  /// - Parameter body: Receives whether it has; false if the copy has ended.
  func whenCurrent(_ body: @escaping (Bool) -> Void) {
    if case .ended = phase { return body(false) }
    // All who ask in a turn of the event loop share a mark.
    if !isMarkScheduled {
      isMarkScheduled = true
      lastMark += 1
      context.eventLoop.assumeIsolated().execute { [weak self] in
        guard let self else { return }
        isMarkScheduled = false
        link.sendMessage(Array("\(lastMark)".utf8), exchange)
      }
    }
    waiting.append((lastMark, body))
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
    switch (message, phase) {
    case (.mark(let number), _): reached(number)
    case (.beginning(let revision), .asking):
      phase = .reading(from: revision, told: [], bytes: 0)
      read(since: revision)
    case (.commits, .reading(let start, var told, let length)),
      (.rules, .reading(let start, var told, let length)):
      guard length + bytes.count <= Self.mostKept else {
        return end(.fault, because: "more was written than can be kept while the data is read")
      }
      phase = .asking
      told.append(message)
      phase = .reading(from: start, told: told, bytes: length + bytes.count)
    case (_, .following(let core)): apply(message, to: core)
    case (_, .asking), (_, .reading), (_, .ended): break
    }
  }

  func ended(code: UInt16, reason: String) {
    leaderChanged(reason)
  }

  private func reached(_ mark: Int) {
    while let first = waiting.first, first.mark <= mark {
      waiting.removeFirst()
      first.body(true)
    }
  }

  // MARK: Data

  private func read(since start: Int64) {
    let database = storage.database(name)
    let opened = StoreThread.open(on: context.eventLoop, knowing: known) {
      ReplicaStore(of: database)
    }
    opened.assumeIsolated().whenComplete { [weak self] result in
      guard let self, case .reading(_, let told, _) = phase else {
        if case .success(let opened?) = result { _ = opened.thread.close() }
        return
      }
      switch result {
      case .success(let opened?) where opened.stored.revision >= start:
        begin(opened.stored, thread: opened.thread, told)
      case .success(let opened):
        _ = opened?.thread.close()
        end(.fault, because: "the storage lacks what the leader has stored")
      case .failure(let error):
        end(.fault, because: "the storage cannot be read: \(error)")
      }
    }
  }

  private func begin(_ stored: StoredTree, thread: StoreThread, _ told: [FollowerMessage]) {
    lineage = stored.lineage
    let core = DatabaseCore(name: name, stored: stored, thread: thread, term: nil, context: context)
    core.begin()
    phase = .following(core)
    for message in told { apply(message, to: core) }
    guard self.core != nil else { return }
    takeOver(core)
    logger.notice("following a database", metadata: ["revision": "\(core.hub.revision)"])
  }

  /// Answers what clients read that have been forwarded so far, where that is possible.
  ///
  /// What a client has been told is what the copy has when the leader gives it up: the leader has
  /// told the batches first, over the same link.
  private func takeOver(_ core: DatabaseCore) {
    link.takeOver(name) { [weak self] connection, number, state in
      guard let self, self.core === core else { return nil }
      let writer = ForwardedWriter(of: self)
      writer.begin(over: number)
      return (writer, core.takeOver(connection, state, writingTo: writer))
    }
  }

  private func apply(_ message: FollowerMessage, to core: DatabaseCore) {
    switch message {
    case .commits(let commits):
      guard core.follow(commits) else {
        return end(.fault, because: "the leader has left out a commit")
      }
    case .rules(let source): core.follow(rules: source)
    case .beginning, .mark: break
    }
  }

  // MARK: Ending

  /// Ends the copy; its clients go on with whoever leads the database next.
  ///
  /// - Parameter reason: Why, for the log and for clients.
  func leaderChanged(_ reason: String) {
    end(.leaderChanged(holding: holding), because: reason)
  }

  private func end(_ ending: Ending, because reason: String) {
    if case .ended = phase { return }
    let core = core
    phase = .ended
    idleCheck?.cancel()
    link.end(exchange)
    logger.notice("a database is no longer followed: \(reason)")
    onEnd(ending)
    let unconfirmed = waiting
    waiting.removeAll()
    for (_, body) in unconfirmed { body(false) }
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
  private let database: any StoredDatabase

  init(of database: any StoredDatabase) {
    self.database = database
  }

  /// Reads the data and the rules; who wrote and what is scheduled are the leader's concern.
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
