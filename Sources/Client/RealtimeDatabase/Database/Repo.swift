import Dispatch
import Foundation
internal import Logging
import NIOConcurrencyHelpers
package import NIOCore
import NIOPosix
import RealtimeCore
internal import RealtimeTransport

/// The shell around a database's engine: feeds it inputs and performs its outputs.
///
/// Isolation:
/// 1. The actor's executor is an event loop, which also serves the socket.
/// 2. Public calls reach the loop through `submit`, so calls from one thread keep their order.
/// 3. The program's blocks run on the callback queue, in the order in which the engine raised them,
/// except that completions of writes wait for the store. Only transaction blocks run on the loop,
/// because the engine calls them.
/// 4. The state that callers read synchronously (`shared`) is guarded by a lock and written by the
/// loop.
package final actor Repo {
  nonisolated let eventLoop: any EventLoop
  nonisolated let options: DatabaseOptions
  nonisolated let logger: Logger
  nonisolated let shared: NIOLockedValueBox<Shared>

  var core: RepoCore
  var persistence = Persistence.unused
  var credentials = Credentials()
  var callers = Callers()
  private(set) var isClosed = false
  /// Inputs that arrived while another one was being handled.
  private var inputs: [RepoInput] = []
  private var isHandling = false
  /// The connection or connection attempt, and a second attempt while the connection is silent.
  private var connections: [ConnectionID: ClientConnection] = [:]
  private var timers: [RepoTimer: Scheduled<Void>] = [:]
  /// The session of the last connection, which the next connection reports to the server.
  private var session: String?
  private var hasBeenConnected = false
  /// The number of attempts to connect to the database's own host since the last greeting.
  private var ungreeted = 0
  /// Why the last connection or attempt ended.
  private(set) var problem: ConnectionStatus.Problem?
  private var status: ConnectionStatus
  /// The connection that status observers were last told about.
  private var toldConnection: ConnectionID?
  /// When the server fell silent, on the monotonic clock and on the machine's clock.
  private var silence: (start: Int64, date: Date)?
  private var statusObservers: [@Sendable (ConnectionStatus) -> Void] = []
  /// The callbacks that wait until all observed data is the server's.
  private var awaitingData: [@Sendable () -> Void] = []
  /// The callbacks that the current input raised, which run as one block on the callback queue.
  private var deliveries: [@Sendable () -> Void] = []
  /// The completions of writes that the current input brought, which wait for the store.
  private var completions: [@Sendable () -> Void] = []
  /// Whether one of these is of a write that is taken back.
  private var takesBack = false
  /// How many inputs' callbacks wait for the store together with the completion of such a write.
  private var heldInputs = 0
  /// Reports what the database does; nil while no one watches.
  private(set) var recorder: DiagnosticRecorder?

  /// The state that any thread may access.
  struct Shared {
    var target: ConnectionTarget
    /// Whether the address is known; the database cannot be used until it is.
    var isTargetChosen = true
    var settings = Settings()
    var isUsed = false
    /// Whether a reference was made, after which persistence can no longer be set.
    var isReferenced = false
    /// Whether an observer that was removed is not even told of events that were raised before.
    var silencesRemovedObservers = false
    /// The children of the root below which pending writes are not counted.
    var uncounted: Set<ChildKey> = []
    var callbackQueue = DispatchQueue.main
    /// The observers for which events are raised; removing one here takes effect at once.
    var observers = ObserverTable()
    var lastNumber: Int64 = 0
    var serverTimeOffset: Int64 = 0
    var pushIDs = PushIDGenerator()
  }

  /// Settings that must be made before the first use.
  struct Settings {
    var isPersistenceEnabled = false
    var persistenceCacheSizeBytes: UInt = 10 * 1_048_576
  }

  /// One thread for the sockets of all databases in the process.
  package static let group: any EventLoopGroup = MultiThreadedEventLoopGroup(numberOfThreads: 1)

  init(target: ConnectionTarget, options: DatabaseOptions, logger: Logger) {
    self.options = options
    self.logger = logger
    eventLoop = Self.group.next()
    status = ConnectionStatus(phase: .closed, address: target.address, pendingWrites: 0)
    shared = NIOLockedValueBox(Shared(target: target))
    var configuration = RepoConfiguration(
      clientID: (0..<2).map { _ in String(UInt64.random(in: 0 ... .max), radix: 36) }.joined(),
      statisticsName: "sdk.swift.\(SDKVersion.current.replacing(".", with: "-"))"
    )
    configuration.maximumReconnectDelay = Self.milliseconds(options.maximumReconnectDelay)
    configuration.minimumReconnectDelay = min(
      configuration.minimumReconnectDelay,
      configuration.maximumReconnectDelay
    )
    configuration.getDeadline = options.readConnectionDeadline.map(Self.milliseconds)
    configuration.followsServerHost = true
    // A Unix socket leads to one server only, so a second attempt would reach the same one.
    configuration.opensSpares = target.isNetwork
    configuration.keepaliveInterval = Self.milliseconds(options.keepaliveInterval)
    configuration.patience = Self.milliseconds(options.patience)
    configuration.transactionTries = options.transactionTries
    configuration.transactionRetryDelay = Self.milliseconds(options.transactionRetryDelay)
    core = RepoCore(configuration: configuration)
  }

  package nonisolated var unownedExecutor: UnownedSerialExecutor {
    eventLoop.executor.asUnownedSerialExecutor()
  }

  /// A duration for timers, which may multiply it and add times to it.
  static func milliseconds(_ duration: Duration) -> Int64 {
    let (seconds, attoseconds) = min(max(.zero, duration), longestDuration).components
    return seconds * 1_000 + attoseconds / 1_000_000_000_000_000
  }

  /// Ten years, which stand for everything longer.
  private static let longestDuration = Duration.seconds(10 * 365 * 86_400)

  // MARK: On the loop

  /// Feeds the engine an input and performs its outputs; inputs raised by those come afterwards.
  func handle(_ input: RepoInput) {
    guard !isClosed else { return }
    inputs.append(input)
    guard !isHandling else { return }
    isHandling = true
    while !inputs.isEmpty { process(inputs.removeFirst()) }
    isHandling = false
    publishStatus()
    flush()
  }

  /// Runs a block on the callback queue once all observed data is the server's, after its events.
  nonisolated func whenCurrent(_ block: @escaping @Sendable () -> Void) {
    submit { repo in
      repo.awaitingData.append(block)
      repo.flush()
    }
  }

  private func process(_ input: RepoInput) {
    let time = RepoTime(
      wall: wall,
      monotonic: Int64(clamping: NIODeadline.now().uptimeNanoseconds / 1_000_000),
      random: Double.random(in: 0..<1)
    )
    let watched = recorder?.watching(input, at: time.wall) ?? input
    let outputs = core.handle(watched, at: time)
    let offset = core.serverTimeOffset
    shared.withLockedValue { $0.serverTimeOffset = offset }
    for output in outputs {
      recorder?.watch(output, at: time.wall)
      perform(output, at: time.wall)
    }
  }

  /// Runs a block on the callback queue, together with the other callbacks of the current input.
  func enqueue(_ block: @escaping @Sendable () -> Void) {
    deliveries.append(block)
  }

  /// Runs the completion of a write on the callback queue, once the store has let the write go.
  ///
  /// A write whose caller has been answered must not be sent again, even if the process is killed
  /// in that moment. If the write has been refused, the events that take it back wait as well, and so
  /// does what comes after them: observers learn of it together with the caller.
  func enqueueCompletion(_ block: @escaping @Sendable () -> Void, isRefusal: Bool) {
    guard store != nil else { return enqueue(block) }
    completions.append(block)
    if isRefusal { takesBack = true }
  }

  private func flush() {
    if !awaitingData.isEmpty, core.isCurrent {
      deliveries += awaitingData
      awaitingData = []
    }
    let (events, completions, takesBack) = (deliveries, completions, takesBack)
    (deliveries, self.completions, self.takesBack) = ([], [], false)
    guard !events.isEmpty || !completions.isEmpty else { return }
    guard let store, takesBack || heldInputs > 0 else {
      deliver(events)
      if !completions.isEmpty { store?.flush { _ in self.deliver(completions) } }
      return
    }
    heldInputs += 1
    store.flush { _ in
      self.deliver(events + completions)
      self.eventLoop.execute { self.assumeIsolated { $0.heldInputs -= 1 } }
    }
  }

  /// Runs blocks in a row on the callback queue.
  private nonisolated func deliver(_ blocks: [@Sendable () -> Void]) {
    if !blocks.isEmpty { deliver { for block in blocks { block() } } }
  }

  private func perform(_ output: RepoOutput, at time: Int64) {
    switch output {
    case .connect(let id, let host): connect(id, host: host)
    case .disconnect(let id, let cause):
      if cause == .noAnswer { problem = ConnectionStatus.Problem(noAnswerFrom: target) }
      connections.removeValue(forKey: id)?.close()
    case .send(let id, let message):
      guard let connection = connections[id] else { return }
      let bytes = message.encoded()
      if let recorder {
        let carried = core.writers(of: message)
        recorder.sent(message, as: bytes, carrying: carried, at: time)
      }
      connection.send(bytes)
    case .sendKeepalive(let id): connections[id]?.sendKeepalive()
    case .schedule(let timer, let milliseconds): schedule(timer, after: milliseconds)
    case .cancelTimer(let timer): timers.removeValue(forKey: timer)?.cancel()
    case .raise(let id, let event): raise(event, for: id)
    case .listenerCancelled(let id, let outcome): cancel(id, with: outcome)
    case .writeCompleted(let token, let outcome): finishWrite(token, with: outcome)
    case .getCompleted(let token, let result): finishGet(token, with: result)
    case .transactionCompleted(let token, let outcome, let committed, let node):
      finishTransaction(token, with: outcome, committed: committed, node: node)
    case .credentialRejected(let outcome): credentialRejected(with: outcome)
    case .credentialAccepted: credentialAccepted()
    case .persist(let changes): store?.perform(changes)
    case .log(let line): logger.info("\(line)")
    }
  }

  private func publishStatus() {
    let phase: ConnectionStatus.Phase
    switch core.phase {
    case .interrupted: phase = .closed
    case .waiting(let until):
      phase = .waiting(seconds: max(0, Int((-Self.seconds(since: until)).rounded(.up))))
    case .connecting: phase = .connecting(isFirst: !hasBeenConnected)
    case .connected: phase = .connected
    }
    if phase == .connected {
      problem = nil
      hasBeenConnected = true
    }
    if core.silentSince != silence?.start {
      silence = core.silentSince.map { ($0, Date(timeIntervalSinceNow: -Self.seconds(since: $0))) }
    }
    let next = ConnectionStatus(
      phase: phase,
      address: target.address,
      problem: problem,
      silentSince: silence?.date,
      pendingWrites: core.pendingWriteCount(outside: shared.withLockedValue(\.uncounted))
    )
    if phase == .connected {
      // One connection may directly replace another. Whatever was set up on the old one is gone, so
      // observers that set things up on each connection must see it end.
      if status.phase == .connected, core.connection.current != toldConnection {
        var between = next
        between.phase = .connecting(isFirst: false)
        tell(between)
      }
      toldConnection = core.connection.current
    }
    if next != status { tell(next) }
  }

  private func tell(_ next: ConnectionStatus) {
    status = next
    for observer in statusObservers { enqueue { observer(next) } }
  }

  /// Closes the connection and the store, and fails all pending requests.
  func end() {
    statusObservers = []
    awaitingData = []
    handle(.goOffline(.user))
    isClosed = true
    credentials = Credentials()
    store?.close()
    persistence = .ready(nil)
    for (id, listener) in callers.listeners.sorted(by: { $0.key.number < $1.key.number }) {
      fail(listener, number: id.number)
    }
    for completion in callers.removeAll() { fail(completion) }
    for (_, timer) in timers { timer.cancel() }
    timers = [:]
  }

  nonisolated func observeStatus(_ block: @escaping @Sendable (ConnectionStatus) -> Void) {
    submit(isUse: false) { repo in
      repo.statusObservers.append(block)
      let status = repo.status
      repo.deliver { block(status) }
    }
  }

  /// The time by this database's clock, in milliseconds since 1970.
  nonisolated var wall: Int64 { options.clock?() ?? Self.wallClock() }

  /// The server's time, as estimated locally; the server may have named any.
  nonisolated var serverTime: Int64 { wall &+ shared.withLockedValue(\.serverTimeOffset) }

  /// The seconds since a time of the monotonic clock.
  private static func seconds(since time: Int64) -> Double {
    let now = Int64(clamping: NIODeadline.now().uptimeNanoseconds / 1_000_000)
    return Double(now - time) / 1_000
  }

  static func wallClock() -> Int64 {
    Int64((Date().timeIntervalSince1970 * 1_000).rounded(.down))
  }
}

/// The connections and timers that the engine requests.
extension Repo {
  private func connect(_ id: ConnectionID, host: String?) {
    var target = target(redirectedTo: host)
    if host == nil {
      target.turns = ungreeted
      ungreeted += 1
    }
    let open = { @Sendable [target] (repo: isolated Repo) in
      repo.authenticate(id) { $0.open(id, to: target) }
    }
    guard let willConnect = options.willConnect else { return open(self) }
    Self.waiting("connection").async {
      willConnect()
      self.submit(open)
    }
  }

  /// A queue for work that blocks.
  ///
  /// It is not a global queue: once those are used, the system checks on their threads every
  /// second, and an idle program would never sleep.
  static func waiting(_ purpose: String) -> DispatchQueue {
    DispatchQueue(label: "realtime.database.\(purpose)")
  }

  /// The address to connect to, after a server may have named another host.
  ///
  /// Over plain text, anyone could send a redirect. Only a server with a certificate may redirect,
  /// or a server on this machine to another address on this machine.
  private func target(redirectedTo host: String?) -> ConnectionTarget {
    var target = self.target
    if let host, let other = target.redirected(to: host),
      target.isSecure || target.isLoopback && other.isLoopback
    {
      target = other
    }
    target.detour = options.detours[target.host]
    return target
  }

  private func open(_ id: ConnectionID, to target: ConnectionTarget) {
    guard core.connection.isTrying(id) else { return }
    connections[id] = ClientConnection(
      to: target,
      lastSession: session,
      trust: options.trustRoots.ofTransport,
      on: eventLoop,
      onProgress: { self.assumeIsolated { $0.handle(.transportProgress(id)) } }
    ) { bytes in
      self.assumeIsolated { $0.received(bytes, from: id) }
    } onClose: { end in
      self.assumeIsolated { $0.closed(id, because: end) }
    }
  }

  private func received(_ bytes: [UInt8], from id: ConnectionID) {
    guard connections[id] != nil else { return }
    recorder?.received(bytes, at: wall)
    do throws(MessageError) {
      let message = try ServerMessage(decoding: bytes)
      if case .hello(let hello) = message {
        session = hello.session
        ungreeted = 0
        handle(.transportOpened(id))
      }
      handle(.message(id, message))
    } catch {
      logger.warning("cannot understand a message from the server: \(error)")
    }
  }

  private func closed(_ id: ConnectionID, because end: ConnectionEnd) {
    logger.debug("\(end)")
    // The engine closed it, so it needs no event and its end is not a problem to report.
    guard let connection = connections.removeValue(forKey: id) else { return }
    ended(id, because: ConnectionStatus.Problem(end, of: connection.target))
  }

  func ended(_ id: ConnectionID, because problem: ConnectionStatus.Problem) {
    // The end of a second attempt says nothing about the current connection.
    if core.connection.current == id { self.problem = problem }
    handle(.transportClosed(id, reason: problem.reason))
  }

  private func schedule(_ timer: RepoTimer, after milliseconds: Int64) {
    timers[timer]?.cancel()
    timers[timer] = eventLoop.scheduleTask(in: .milliseconds(milliseconds)) {
      self.assumeIsolated { repo in
        repo.timers[timer] = nil
        if timer == .keepalive {
          for (id, connection) in repo.connections where connection.isUploading {
            repo.handle(.transportProgress(id))
          }
        }
        repo.handle(.timerFired(timer))
      }
    }
  }
}

extension ConnectionStatus.Problem {
  fileprivate init(noAnswerFrom target: ConnectionTarget) {
    self.init(
      cause: .network,
      reason: "\(Self.noAnswer) from \(target.address)",
      summary: Self.noAnswer,
      address: target.address,
      isPermanent: false
    )
  }

  fileprivate init(_ end: ConnectionEnd, of target: ConnectionTarget) {
    reason = end.description
    summary = end.cause
    address = end.cause.map { _ in target.address }
    switch end.kind {
    case .closed, .closedByPeer, .lost, .unreachable, .timedOut, .slowConsumer:
      (cause, isPermanent) = (.network, false)
    case .protocolViolation: (cause, isPermanent) = (.protocolViolation, false)
    case .refused(let status): (cause, isPermanent) = (.refused, status != 503)
    case .notADatabaseServer: (cause, isPermanent) = (.notADatabaseServer, true)
    case .insecure(let failure): (cause, isPermanent) = (Cause(failure), true)
    }
  }
}

extension ConnectionStatus.Problem.Cause {
  fileprivate init(_ failure: TLSFailure.Kind) {
    switch failure {
    case .unknownAuthority: self = .untrustedCertificate
    case .wrongName: self = .wrongHostName
    case .expired, .notYetValid: self = .certificateOutOfDate
    case .notTLS: self = .notEncrypted
    case .unusableTrustRoots: self = .unusableTrustRoots
    case .interrupted, .truncated: self = .network
    case .failed: self = .encryptionFailed
    }
  }
}

extension Repo {
  nonisolated func observeDiagnostics(_ observer: (@Sendable (Diagnostic) -> Void)?) {
    eventLoop.execute {
      self.assumeIsolated { repo in
        repo.recorder = observer.map { DiagnosticRecorder($0) }
        guard let observer else { return }
        let time = repo.wall
        for (id, listener) in repo.callers.listeners.sorted(by: { $0.key.number < $1.key.number }) {
          let kind = Diagnostic.Kind.observing(observer: id.number)
          let title = "observe \(listener.query.path)"
          observer(Diagnostic(time: time, kind: kind, .words(title), at: listener.query.path))
        }
        for (token, path) in repo.callers.writes {
          let kind = Diagnostic.Kind.writing(request: token.number)
          observer(Diagnostic(time: time, kind: kind, .words("write \(path)"), at: path))
        }
      }
    }
  }

  /// Hands a request to the engine; an observer of diagnostics learns what causes it.
  func handle(_ request: RepoInput, because cause: String?) {
    recorder?.cause = cause
    handle(request)
    recorder?.cause = nil
  }
}
