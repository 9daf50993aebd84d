private import Glibc
internal import Logging
internal import NIOCore
internal import NIOPosix

/// Carries out the decisions of ``Leadership``.
///
/// It calls the storage on threads of its own, and tells the server which databases to open and to
/// release.
///
/// State: idle → running → stopping (databases are handed over) → stopped. Confined to the event
/// loop.
final class LeadershipDriver: DatabaseLeaders {
  weak var led: DatabaseRegistry?

  private let store: any ClusterStore
  private var me: ClusterServer
  private let timing: LeaseTiming
  private let eventLoop: any EventLoop
  private let logger: Logger
  private let clock: @Sendable () -> Duration
  private var machine: Leadership
  /// The terms under which databases are open, and their leases.
  private var terms: [String: (term: LeaseTerm, lease: Lease)] = [:]
  private var requests: [Int: (database: String, promise: EventLoopPromise<DatabaseLeader>)] = [:]
  private var watch = LeaderWatch()
  private var nextLook: Scheduled<Void>?
  /// Checks whether a server can be reached at the host that clients are redirected to.
  private let isReached: @Sendable (String) async -> Bool
  private var lastRequest = 0
  private var counts = ClusterCounts()
  private var outputs = CircularBuffer<Leadership.Output>()
  /// The last failure of the storage; nil if it has worked since.
  private var failure: StoreError?
  private var hasLastAnnouncementFailed = false
  private var isPerforming = false
  private var isRunning = false
  private var wake: (deadline: Duration, task: Scheduled<Void>)?
  /// Sends announcements one at a time: none may overtake the withdrawal at the end.
  private let announcer = NIOThreadPool(numberOfThreads: 1)
  /// Makes all other calls, which must not wait for an announcement that hangs.
  private let helpers = NIOThreadPool(numberOfThreads: 2)
  /// The names of databases that are known to exist.
  private var known: Set<String> = []
  /// Completed when everything is handed over; made when the server is told to stop.
  private var stopped: EventLoopPromise<Void>?

  init(
    _ store: any ClusterStore,
    as id: ServerID,
    timing: LeaseTiming,
    eventLoop: any EventLoop,
    logger: Logger,
    clock: @escaping @Sendable () -> Duration,
    isReached: @escaping @Sendable (String) async -> Bool
  ) {
    self.store = store
    self.isReached = isReached
    me = ClusterServer(id: id, host: "")
    self.timing = timing
    self.eventLoop = eventLoop
    self.clock = clock
    var logger = logger
    logger[metadataKey: "server"] = "\(id)"
    self.logger = logger
    machine = Leadership(me, timing: timing)
  }

  /// Starts the threads, and creates a database unless it exists.
  func prepare(_ database: String) -> EventLoopFuture<Void> {
    announcer.start()
    helpers.start()
    return announcer.runIfActive(eventLoop: eventLoop) { [store] in _ = try store.create(database) }
  }

  /// Announces the server, and starts to lead the databases that fall to it.
  ///
  /// The host is where others reach this server; nil if it is at a local socket.
  func begin(at host: String?) {
    me.host = host ?? "localhost"
    machine = Leadership(me, timing: timing)
    isRunning = true
    if host != nil { lookAtSelf() }
    handle(.time)
  }

  /// Tries once whether this server is reached at its host.
  private func lookAtSelf() {
    let promise = eventLoop.makePromise(of: Bool.self)
    promise.completeWithTask { [isReached, host = me.host] in await isReached(host) }
    promise.futureResult.whenSuccess { [logger, host = me.host] isReached in
      guard !isReached else { return }
      logger.error(
        "this server does not reach itself at the host that it advertises; others may not either",
        metadata: ["host": "\(host)"]
      )
    }
  }

  /// Hands over the databases that this server leads, and withdraws the server from the cluster.
  ///
  /// - Returns: A future that completes once no database is led any more; it never fails.
  func stop() -> EventLoopFuture<Void> {
    guard isRunning else { return shutDown() }
    let stopped = self.stopped ?? eventLoop.makePromise(of: Void.self)
    if self.stopped == nil {
      self.stopped = stopped
      handle(.stop)
    }
    return stopped.futureResult.flatMap { [bound = NIOLoopBound(self, eventLoop: eventLoop)] in
      bound.value.shutDown()
    }
  }

  private func shutDown() -> EventLoopFuture<Void> {
    isRunning = false
    wake?.task.cancel()
    nextLook?.cancel()
    let promise = eventLoop.makePromise(of: Void.self)
    announcer.shutdownGracefully { [helpers] _ in
      helpers.shutdownGracefully { _ in promise.succeed(()) }
    }
    return promise.futureResult
  }

  // MARK: DatabaseLeaders

  func find(_ name: String) -> EventLoopFuture<DatabaseLeader> {
    guard isRunning else {
      return eventLoop.makeSucceededFuture(.nowhere("the server is not ready"))
    }
    let promise = eventLoop.makePromise(of: DatabaseLeader.self)
    guard !known.contains(name) else {
      ask(name, for: promise)
      return promise.futureResult
    }
    helpers.runIfActive(eventLoop: eventLoop) { [store] in
      try store.database(name).exists
    }.assumeIsolated().whenComplete { result in
      switch result {
      case .success(true):
        self.known.insert(name)
        self.ask(name, for: promise)
      case .success(false): promise.succeed(.absent)
      case .failure: promise.succeed(.nowhere("the storage cannot be reached"))
      }
    }
    return promise.futureResult
  }

  private func ask(_ name: String, for promise: EventLoopPromise<DatabaseLeader>) {
    lastRequest += 1
    requests[lastRequest] = (name, promise)
    handle(.asked(name, request: lastRequest))
  }

  /// The time by the storage's clock, in milliseconds since 1970; nil while unknown.
  var storageTime: Int64? { isRunning ? machine.storageTime(at: clock())?.milliseconds : nil }

  /// Whether a server has shown itself within the time of a lease.
  private func isAlive(_ server: String) -> Bool {
    server == id || machine.view?.servers.contains { $0.id.description == server } == true
  }

  /// The identifier of this run of the server.
  var id: String { me.id.description }

  var reasonForLoss: String {
    reasonForSilence + ", so the outcome is unknown"
  }

  func lost(_ term: LeaseTerm, by loss: LeaseLoss) {
    term.until = .zero
    guard let lease = terms[term.database]?.lease, lease.id == term.lease else { return }
    stuck[term.database] = loss == .stuck ? lease.id : nil
    handle(.lost(term.database, lease, loss))
  }

  func closed(_ name: String) { handle(.closed(name)) }

  var metrics: ClusterMetrics {
    let now = clock()
    var metrics = ClusterMetrics(
      lag: machine.lag(at: now)?.milliseconds,
      isCutOff: machine.isCutOff,
      counts: counts,
      activity: store.activity
    )
    guard let view = machine.view else { return metrics }
    metrics.timeline = view.history.timeline
    metrics.servers = view.servers.map { ($0.id.description, $0.host, $0.id == me.id) }
    let led = Set(view.leases.map(\.database))
    metrics.leaderless = view.positions.keys.filter { !led.contains($0) }.sorted()
    metrics.leases = view.leases.map { lease in
      let host = view.servers.first { $0.id == lease.holder }?.host
      // For databases led here, the term is more recent than the view.
      let left = terms[lease.database]?.term.remaining ?? machine.remaining(lease, at: now)
      let milliseconds = max(left, .zero).milliseconds
      return (lease.database, lease.epoch, host ?? "\(lease.holder)", milliseconds)
    }
    return metrics
  }

  // MARK: The machine

  /// The leases that were given up because the storage does not answer for their databases.
  private var stuck: [String: String] = [:]

  private func handle(_ input: Leadership.Input) {
    guard isRunning else { return }
    perform(machine.handle(input, at: clock()))
    schedule()
  }

  private func perform(_ wanted: [Leadership.Output]) {
    outputs.append(contentsOf: wanted)
    // An action may lead to another input, whose outputs come after these.
    guard !isPerforming else { return }
    isPerforming = true
    while let output = outputs.popFirst() { perform(output) }
    isPerforming = false
  }

  private func perform(_ output: Leadership.Output) {
    switch output {
    case .announce:
      run(on: announcer) { [store, me, timing] in
        try store.announce(me, for: timing.lease)
      } then: { driver, result in
        if case .failure = result { driver.counts.failedRenewals += 1 }
        switch result {
        case .failure(let error):
          driver.failed(error)
          driver.hasLastAnnouncementFailed = true
        case .success(let view):
          if driver.hasLastAnnouncementFailed { driver.worksAgain() }
          driver.hasLastAnnouncementFailed = false
          driver.compare(driver.machine.view?.history, with: view.history)
          // Databases may have been removed or renamed.
          driver.known.subtract(
            (driver.machine.view?.positions ?? [:]).keys.filter { view.positions[$0] == nil }
          )
        }
        driver.handle(.announced(result))
        driver.tellLeaders()
      }
    case .acquire(let name, let ended, let history):
      run(on: helpers) { [store, me, timing] in
        try store.acquire(name, by: me.id, for: timing.lease, insteadOf: ended, knowing: history)
      } then: { driver, result in
        switch result {
        // Somebody may have deleted or renamed the database.
        case .failure(let error) where error.kind != .missing: driver.failed(error)
        case .failure, .success: driver.worksAgain()
        }
        driver.handle(.acquired(name, result))
      }
    case .release(let lease, let successor):
      run(on: helpers) { [store] in
        try store.release(lease, to: successor)
      } then: { driver, result in
        let isStuck = driver.stuck[lease.database] == lease.id
        switch result {
        case .success where isStuck && successor != nil:
          driver.logger.warning(
            "this server cannot use the storage for a database, and lets another one lead it",
            metadata: ["database": "\(lease.database)"]
          )
        case .success: break
        case .failure(let error):
          driver.logger.warning(
            "cannot release a lease: \(error)",
            metadata: ["database": "\(lease.database)"]
          )
        }
        driver.handle(.released(lease.database))
      }
    case .answer(let request, let leader): answer(request, with: leader)
    case .open(let lease, let until): open(lease, until: until)
    case .extend(let lease, let until):
      if let term = terms[lease.database]?.term, term.lease == lease.id, term.until > .zero {
        term.until = until
      }
    case .giveUp(let name, let departure): giveUp(name, departure: departure)
    case .farewell(let name, let server):
      led?.redirectClients(name, to: server.flatMap { $0.id.isTool ? nil : $0.host })
    case .report(let loss): report(loss)
    case .stopped: withdraw()
    }
  }

  /// Tells who leads other databases according to the last view.
  private func tellLeaders() {
    for lease in machine.view?.leases ?? [] {
      if let leader = machine.leader(under: lease) { led?.noteLeader(leader, of: lease.database) }
    }
  }

  /// Logs that the storage cannot be used, unless that is known.
  private func failed(_ error: StoreError) {
    defer { failure = error }
    // Leases may be refused again and again, while announcements are not.
    guard !machine.isCutOff, error.description != failure?.description else { return }
    let isAway = error.kind == .unreachable
    logger.error("cannot \(isAway ? "reach" : "use") the storage: \(error)")
  }

  private func worksAgain() {
    guard failure != nil else { return }
    failure = nil
    logger.notice("the storage is reached again")
  }

  /// Why the storage does not answer, as clients may see it; nil if it has answered lately.
  var trouble: String? {
    let isSilent = machine.lag(at: clock()).map { $0 > timing.lease / 2 } ?? true
    return machine.isCutOff || isSilent ? reasonForSilence : nil
  }

  /// What is wrong with a storage that has not answered in time, as clients may see it.
  private var reasonForSilence: String {
    store.activity.isAwaitingStandby
      ? "the storage finishes nothing while it waits for a synchronous standby"
      : failure.flatMap { $0.kind == .failed ? nil : $0.publicReason }
        ?? "the storage does not answer"
  }

  // MARK: Losses

  private func report(_ loss: StorageLoss) {
    counts.losses += 1
    logger.error(
      "the storage has lost batches that were acknowledged or may have been",
      metadata: [
        "database": "\(loss.database)", "batches": "\(loss.batches)",
        "commits": "\(loss.commits)", "last": "\(loss.found?.revision ?? 0)",
        "timeline": "\(loss.newTimeline)", "timelineBefore": "\(loss.oldTimeline)",
      ]
    )
    run(on: helpers) { [store] in
      try store.record(loss)
    } then: { driver, result in
      if case .failure(let error) = result {
        driver.logger.warning("cannot record the loss: \(error)")
      }
    }
  }

  /// Logs that the storage has another history, after an announcement.
  private func compare(_ old: StorageHistory?, with new: StorageHistory) {
    guard let old, old != new else { return }
    logger.notice(
      old.timeline == new.timeline
        ? "the storage was restarted" : "the storage continues on another timeline",
      metadata: ["timeline": "\(new.timeline)", "timelineBefore": "\(old.timeline)"]
    )
  }

  private func answer(_ request: Int, with leader: DatabaseLeader) {
    guard let (database, promise) = requests.removeValue(forKey: request) else { return }
    switch leader {
    case .here: promise.succeed(.here)
    case .there(let server):
      promise.succeed(leader)
      watch(.sent(database, to: server))
    case .nowhere(let reason):
      promise.succeed(.nowhere(trouble.map { "\(reason): \($0)" } ?? reason))
    case .absent:
      known.remove(database)
      promise.succeed(.absent)
    }
  }

  // MARK: The reach of others

  private func watch(_ input: LeaderWatch.Input) {
    guard isRunning else { return }
    for output in watch.handle(input, at: clock()) {
      switch output {
      case .look(let server): look(at: server)
      case .ask(let database): askFor(database)
      case .reachedAgain(let server):
        logger.notice(
          "a leader that clients could not reach is reached again",
          metadata: ["host": "\(server.host)"]
        )
      }
    }
    nextLook?.cancel()
    nextLook = watch.deadline.map { deadline in
      let delay = TimeAmount(max(.zero, deadline - clock())) + .milliseconds(1)
      return eventLoop.assumeIsolated().scheduleTask(in: delay) { self.watch(.time) }
    }
  }

  private func look(at server: ClusterServer) {
    let promise = eventLoop.makePromise(of: Bool.self)
    promise.completeWithTask { [isReached] in await isReached(server.host) }
    promise.futureResult.assumeIsolated().whenSuccess { isReached in
      self.watch(.looked(server.id, isReached: isReached, leads: self.databases(ledBy: server.id)))
    }
  }

  /// The databases that a server leads under renewed leases, according to the last view.
  private func databases(ledBy id: ServerID) -> Set<String> {
    let leases = machine.isCutOff ? [] : machine.view?.leases ?? []
    return Set(leases.filter { $0.holder == id && machine.isTrusted($0) }.map(\.database))
  }

  private func askFor(_ database: String) {
    logger.warning(
      "clients cannot reach the leader at its address; asking it to hand over",
      metadata: ["database": "\(database)"]
    )
    run(on: helpers) { [store, me] in
      try store.move(database, to: me.id)
    } then: { driver, result in
      if case .failure(let error) = result {
        driver.logger.error("cannot ask the leader to hand over: \(error)")
      }
    }
  }

  private func open(_ lease: Lease, until: Duration) {
    counts.gained += 1
    logger.notice(
      "now leading a database",
      metadata: ["database": "\(lease.database)", "epoch": "\(lease.epoch)"]
    )
    known.insert(lease.database)
    let term = LeaseTerm(
      database: lease.database,
      lease: lease.id,
      epoch: lease.epoch,
      until: until,
      clock: clock,
      isAlive: { [weak self] in self?.isAlive($0) ?? false }
    ) { [store] in
      try store.open(lease)
    }
    terms[lease.database] = (term, lease)
    led?.lead(term)
  }

  private func giveUp(_ name: String, departure: Leadership.Departure) {
    switch departure {
    case .orderly: led?.giveUp(name)
    case .atOnce:
      counts.lost += 1
      logger.warning("a lease has ended", metadata: ["database": "\(name)"])
      terms.removeValue(forKey: name)?.term.until = .zero
      led?.giveUp(name, because: trouble ?? "another server leads the database now")
    }
  }

  private func withdraw() {
    for request in requests.keys.sorted() {
      answer(request, with: .nowhere("the server is stopping"))
    }
    run(on: announcer) { [store, me] in
      try store.withdraw(me.id)
    } then: { driver, _ in
      driver.stopped?.succeed(())
    }
  }

  /// Runs a closure on a thread that may block, and passes the result on to the event loop.
  private func run<Value: Sendable>(
    on pool: NIOThreadPool,
    _ body: @escaping @Sendable () throws -> Value,
    then receive: @escaping (LeadershipDriver, Result<Value, StoreError>) -> Void
  ) {
    pool.runIfActive(eventLoop: eventLoop, body).assumeIsolated().whenComplete { result in
      receive(
        self,
        result.mapError { $0 as? StoreError ?? StoreError(.failed, description: "\($0)") }
      )
    }
  }

  private func schedule() {
    guard let deadline = machine.deadline else { return }
    if let wake, wake.deadline <= deadline { return }
    wake?.task.cancel()
    let delay = max(.zero, deadline - clock())
    let task = eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(delay) + .milliseconds(1)) {
      self.wake = nil
      self.handle(.time)
      self.schedule()
    }
    wake = (deadline, task)
  }
}

extension Duration {
  package var milliseconds: Int64 { Int64(self / .milliseconds(1)) }
}

/// The time since the computer was started, including sleep: leases run on during sleep.
enum Uptime {
  @Sendable static func now() -> Duration {
    var time = timespec()
    clock_gettime(CLOCK_BOOTTIME, &time)
    return .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
  }
}
