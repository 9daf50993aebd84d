import Dispatch
import Foundation
package import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import RealtimeProtocol
import RealtimeSync
package import RealtimeTransport
import RealtimeTree

/// The shell of a database: it feeds the pure engine and does what the engine asks for.
///
/// Isolation: the actor's executor is one event loop, on which the socket lives too. Calls of the
/// public API are handed to the loop with `submit`, so that calls of one thread keep their order;
/// user blocks run on the callback queue, in the order in which the engine raised them, never on
/// the loop (the blocks of transactions excepted, which the engine runs). What callers read at
/// once (`shared`) is guarded by a lock and written by the loop.
package final actor Repo {
  nonisolated let eventLoop: any EventLoop
  nonisolated private let target: ConnectionTarget
  nonisolated private let options: DatabaseOptions
  nonisolated private let logger: Logger
  nonisolated private let shared: NIOLockedValueBox<Shared>

  private var core: RepoCore
  private var connection: (id: ConnectionID, client: ClientConnection)?
  private var session: String?
  private var problem: ConnectionStatus.Problem?
  private var hasBeenConnected = false
  private var timers: [RepoTimer: Scheduled<Void>] = [:]
  private var listeners: [ListenerID: Listener] = [:]
  private var completions: [RequestToken: Completion] = [:]
  /// What the callback queue is to run next: all that one input of the engine raises, as one block.
  private var deliveries: [@Sendable () -> Void] = []
  private var statusObservers: [@Sendable (ConnectionStatus) -> Void] = []
  private var status = ConnectionStatus(phase: .closed, pendingWrites: 0)

  /// What callers on any thread read or count.
  private struct Shared {
    var callbackQueue = DispatchQueue.main
    var lastNumber: Int64 = 0
    var serverTimeOffset: Int64 = 0
    var pushIDs = PushIDGenerator()
  }

  /// Someone who wants to be told.
  private struct Listener {
    let query: DatabaseQuery
    let block: @Sendable (DataEventType, DataSnapshot, String?) -> Void
    let cancel: @Sendable (any Error) -> Void
    let isOnce: Bool
    let isActive = NIOLockedValueBox(true)
  }

  /// What is called when a request has been answered.
  private enum Completion {
    case write(path: Path, @Sendable ((any Error)?) -> Void)
    case get(DatabaseQuery, @Sendable (Result<DataSnapshot, DatabaseError>) -> Void)
    case transaction(DatabaseReference, TransactionCompletion)
  }

  package typealias TransactionCompletion =
    @Sendable ((any Error)?, Bool, DataSnapshot) -> Void

  /// One thread for the sockets of all databases of the process.
  private static let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)

  package init(target: ConnectionTarget, options: DatabaseOptions, logger: Logger) {
    self.target = target
    self.options = options
    self.logger = logger
    eventLoop = Self.group.next()
    shared = NIOLockedValueBox(Shared())
    var configuration = RepoConfiguration(
      clientID: (0..<2).map { _ in String(UInt64.random(in: 0 ... .max), radix: 36) }.joined(),
      statisticsName: "sdk.swift.\(SDKVersion.current.replacing(".", with: "-"))"
    )
    configuration.maximumReconnectDelay = Self.milliseconds(options.maximumReconnectDelay)
    configuration.minimumReconnectDelay = min(
      configuration.minimumReconnectDelay,
      configuration.maximumReconnectDelay
    )
    configuration.getDeadline = options.readDeadline.map(Self.milliseconds)
    core = RepoCore(configuration: configuration)
  }

  package nonisolated var unownedExecutor: UnownedSerialExecutor {
    eventLoop.executor.asUnownedSerialExecutor()
  }

  private static func milliseconds(_ duration: Duration) -> Int64 {
    duration.components.seconds * 1_000 + duration.components.attoseconds / 1_000_000_000_000_000
  }

  // MARK: Called on any thread

  nonisolated var callbackQueue: DispatchQueue {
    get { shared.withLockedValue(\.callbackQueue) }
    set { shared.withLockedValue { $0.callbackQueue = newValue } }
  }

  /// Runs a block on the callback queue, after all that was delivered before.
  nonisolated func deliver(_ block: @escaping @Sendable () -> Void) {
    callbackQueue.async(execute: block)
  }

  nonisolated var serverTime: Int64 {
    Self.wallClock() + shared.withLockedValue(\.serverTimeOffset)
  }

  nonisolated func nextPushID() -> String {
    let now = Self.wallClock()
    return shared.withLockedValue { shared in
      shared.pushIDs.next(time: now + shared.serverTimeOffset) { UInt8.random(in: 0..<64) }
    }
  }

  nonisolated func url(of path: Path) -> String {
    let keys = path.keys.map {
      $0.text.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? $0.text
    }
    let location = keys.joined(separator: "/")
    switch target.endpoint {
    case .tcp: return "\(target)/\(location)"
    case .unix: return location.isEmpty ? target.description : "\(target)#/\(location)"
    }
  }

  nonisolated func observe(
    _ query: DatabaseQuery,
    _ events: Set<DataEventType>,
    once isOnce: Bool = false,
    _ block: @escaping @Sendable (DataEventType, DataSnapshot, String?) -> Void,
    cancel: @escaping @Sendable (any Error) -> Void
  ) -> DatabaseHandle {
    let number = nextNumber()
    let kinds = Set(events.map(EventKind.init))
    submit { repo in
      let id = ListenerID(number)
      repo.listeners[id] = Listener(query: query, block: block, cancel: cancel, isOnce: isOnce)
      repo.handle(.observe(id, path: query.path, query: query.query, events: kinds))
    }
    return DatabaseHandle(number)
  }

  nonisolated func removeObserver(_ handle: DatabaseHandle) {
    submit { $0.remove(ListenerID(Int64(handle))) }
  }

  nonisolated func removeAllObservers(of query: DatabaseQuery) {
    submit { repo in
      let matching = repo.listeners.filter {
        $0.value.query.path == query.path
          && (query.query.isDefault || $0.value.query.query == query.query)
      }
      for id in matching.keys.sorted(by: { $0.number < $1.number }) { repo.remove(id) }
    }
  }

  nonisolated func get(
    _ query: DatabaseQuery,
    _ completion: @escaping @Sendable (Result<DataSnapshot, DatabaseError>) -> Void
  ) {
    request(.get(query, completion)) { .get($0, path: query.path, query: query.query) }
  }

  nonisolated func write(
    _ reference: DatabaseReference,
    _ operation: WriteOperation,
    _ completion: @escaping @Sendable ((any Error)?) -> Void
  ) {
    request(.write(path: reference.path, completion)) {
      .write($0, path: reference.path, operation)
    }
  }

  nonisolated func onDisconnect(
    _ reference: DatabaseReference,
    _ operation: WriteOperation,
    _ completion: @escaping @Sendable ((any Error)?) -> Void
  ) {
    request(.write(path: reference.path, completion)) {
      .onDisconnect($0, path: reference.path, operation)
    }
  }

  nonisolated func cancelOnDisconnect(
    _ reference: DatabaseReference,
    _ completion: @escaping @Sendable ((any Error)?) -> Void
  ) {
    request(.write(path: reference.path, completion)) {
      .cancelOnDisconnect($0, path: reference.path)
    }
  }

  nonisolated func transaction(
    _ reference: DatabaseReference,
    localEvents: Bool,
    _ block: @escaping @Sendable (MutableData) -> TransactionResult,
    _ completion: @escaping TransactionCompletion
  ) {
    // What was assigned but cannot be stored stops the transaction with its own error.
    let problem = NIOLockedValueBox<DatabaseError?>(nil)
    let finish: TransactionCompletion = { error, committed, snapshot in
      completion(error ?? problem.withLockedValue { $0 }, committed, snapshot)
    }
    request(.transaction(reference, finish)) { token in
      .transaction(token, path: reference.path, appliesLocally: localEvents) { node in
        switch block(MutableData(node)).verdict {
        case .abort: return .abort
        case .commit(let node, let found):
          let invalid = Validation.problem(with: node, at: reference.path).map {
            DatabaseError(
              DatabaseError.Code.invalidData,
              path: reference.path.description,
              reason: $0
            )
          }
          guard let error = found ?? invalid else { return .commit(node) }
          problem.withLockedValue { $0 = error }
          return .abort
        }
      }
    }
  }

  nonisolated func setOffline(_ isOffline: Bool) {
    submit { $0.handle(isOffline ? .goOffline(.user) : .goOnline(.user)) }
  }

  nonisolated func purgeOutstandingWrites() {
    submit { $0.handle(.purgeOutstandingWrites) }
  }

  nonisolated func observeStatus(_ block: @escaping @Sendable (ConnectionStatus) -> Void) {
    submit { repo in
      repo.statusObservers.append(block)
      let status = repo.status
      repo.deliver { block(status) }
    }
  }

  private nonisolated func nextNumber() -> Int64 {
    shared.withLockedValue { shared in
      shared.lastNumber += 1
      return shared.lastNumber
    }
  }

  private nonisolated func request(
    _ completion: Completion,
    _ input: @escaping @Sendable (RequestToken) -> RepoInput
  ) {
    let token = RequestToken(nextNumber())
    submit { repo in
      repo.completions[token] = completion
      repo.handle(input(token))
    }
  }

  /// Hands work to the loop; what one thread submits runs in its order.
  private nonisolated func submit(_ body: @escaping @Sendable (isolated Repo) -> Void) {
    eventLoop.execute { self.assumeIsolated(body) }
  }

  // MARK: On the loop

  private func remove(_ id: ListenerID) {
    guard let listener = listeners.removeValue(forKey: id) else { return }
    listener.isActive.withLockedValue { $0 = false }
    handle(.stopObserving(id))
  }

  private func handle(_ input: RepoInput) {
    let time = RepoTime(
      wall: Self.wallClock(),
      monotonic: Int64(clamping: NIODeadline.now().uptimeNanoseconds / 1_000_000),
      random: Double.random(in: 0..<1)
    )
    let outputs = core.handle(input, at: time)
    let offset = core.serverTimeOffset
    shared.withLockedValue { $0.serverTimeOffset = offset }
    for output in outputs { perform(output) }
    publishStatus()
    flush()
  }

  /// Has a block run on the callback queue, together with what else this input raises.
  private func enqueue(_ block: @escaping @Sendable () -> Void) {
    deliveries.append(block)
  }

  private func flush() {
    guard !deliveries.isEmpty else { return }
    let blocks = deliveries
    deliveries = []
    deliver { for block in blocks { block() } }
  }

  private func perform(_ output: RepoOutput) {
    switch output {
    case .connect(let id, let host): connect(id, host: host)
    case .disconnect(let id):
      if connection?.id == id {
        connection?.client.close()
        connection = nil
      }
    case .send(let id, let message):
      if connection?.id == id { connection?.client.send(message.encoded()) }
    case .sendKeepalive(let id):
      if connection?.id == id { connection?.client.sendKeepalive() }
    case .schedule(let timer, let milliseconds): schedule(timer, milliseconds)
    case .cancelTimer(let timer): timers.removeValue(forKey: timer)?.cancel()
    case .raise(let id, let event): raise(id, event)
    case .listenerCancelled(let id, let status, let reason): cancel(id, status, reason)
    case .writeCompleted(let token, let status, let reason):
      finishWrite(token, status, reason)
    case .getCompleted(let token, let result): finishGet(token, result)
    case .transactionCompleted(let token, let status, let reason, let committed, let node):
      finishTransaction(token, status, reason, committed, node)
    case .credentialRejected(_, let reason): logger.warning("the credential was refused: \(reason)")
    case .credentialAccepted: logger.debug("the credential was accepted")
    case .log(let line): logger.info("\(line)")
    }
  }

  private func connect(_ id: ConnectionID, host: String?) {
    let target = host.flatMap { self.target.redirected(to: $0) } ?? self.target
    guard let willConnect = options.willConnect else { return open(id, target) }
    DispatchQueue.global().async {
      willConnect()
      self.submit { $0.open(id, target) }
    }
  }

  private func open(_ id: ConnectionID, _ target: ConnectionTarget) {
    guard case .connecting(id) = core.phase else { return }
    let client = ClientConnection(
      to: target,
      lastSession: session,
      on: eventLoop
    ) { bytes in
      self.assumeIsolated { $0.received(bytes, from: id) }
    } onClose: { end in
      self.assumeIsolated { $0.closed(id, end) }
    }
    connection = (id, client)
  }

  private func received(_ bytes: [UInt8], from id: ConnectionID) {
    guard connection?.id == id else { return }
    do throws(MessageError) {
      let message = try ServerMessage(decoding: bytes)
      if case .hello(let hello) = message {
        session = hello.session
        hasBeenConnected = true
        handle(.transportOpened(id))
      }
      handle(.message(id, message))
    } catch {
      logger.warning("a message of the server cannot be understood: \(error)")
    }
  }

  private func closed(_ id: ConnectionID, _ end: ConnectionEnd) {
    if connection?.id == id { connection = nil }
    logger.debug("\(end)")
    problem = ConnectionStatus.Problem(end)
    handle(.transportClosed(id, reason: end.description))
  }

  private func schedule(_ timer: RepoTimer, _ milliseconds: Int64) {
    timers[timer]?.cancel()
    timers[timer] = eventLoop.scheduleTask(in: .milliseconds(milliseconds)) {
      self.assumeIsolated { repo in
        repo.timers[timer] = nil
        repo.handle(.timerFired(timer))
      }
    }
  }

  private func raise(_ id: ListenerID, _ event: DataEvent) {
    guard let listener = listeners[id] else { return }
    let reference = DatabaseReference(repo: self, path: event.path)
    let snapshot = DataSnapshot(
      event.node,
      at: event.key.map { reference.child(of: $0) } ?? reference,
      by: event.kind == .value ? listener.query.query.index : .priority
    )
    let previousKey = event.previousKey?.text
    let type = DataEventType(event.kind)
    enqueue {
      guard listener.isActive.withLockedValue({ $0 }) else { return }
      if listener.isOnce { listener.isActive.withLockedValue { $0 = false } }
      listener.block(type, snapshot, previousKey)
    }
    if listener.isOnce {
      listeners[id] = nil
      handle(.stopObserving(id))
    }
  }

  private func cancel(_ id: ListenerID, _ status: StatusCode, _ reason: String) {
    guard let listener = listeners.removeValue(forKey: id) else { return }
    let error = DatabaseError(status, path: listener.query.path.description, reason: reason)
    enqueue {
      guard listener.isActive.withLockedValue({ $0 }) else { return }
      listener.isActive.withLockedValue { $0 = false }
      listener.cancel(error)
    }
  }

  private func finishWrite(_ token: RequestToken, _ status: StatusCode, _ reason: String) {
    guard case .write(let path, let block)? = completions.removeValue(forKey: token) else { return }
    let error: DatabaseError? =
      status == .ok ? nil : DatabaseError(status, path: path.description, reason: reason)
    enqueue { block(error) }
  }

  private func finishGet(_ token: RequestToken, _ result: GetResult) {
    guard case .get(let query, let block)? = completions.removeValue(forKey: token) else { return }
    switch result {
    case .value(let node):
      let snapshot = DataSnapshot(node, at: query.ref, by: query.query.index)
      enqueue { block(.success(snapshot)) }
    case .failure(let status, let reason):
      let path = query.path.description
      enqueue { block(.failure(DatabaseError(status, path: path, reason: reason))) }
    }
  }

  private func finishTransaction(
    _ token: RequestToken,
    _ status: StatusCode,
    _ reason: String,
    _ committed: Bool,
    _ node: Node
  ) {
    guard case .transaction(let reference, let block)? = completions.removeValue(forKey: token)
    else { return }
    let error: DatabaseError? =
      status == .ok ? nil : DatabaseError(status, path: reference.path.description, reason: reason)
    let snapshot = DataSnapshot(node, at: reference)
    enqueue { block(error, committed, snapshot) }
  }

  private func publishStatus() {
    let phase: ConnectionStatus.Phase
    switch core.phase {
    case .interrupted: phase = .closed
    case .waiting(let until):
      let now = Int64(clamping: NIODeadline.now().uptimeNanoseconds / 1_000_000)
      phase = .waiting(seconds: max(0, Int((until - now + 999) / 1_000)))
    case .connecting: phase = .connecting(isFirst: !hasBeenConnected)
    case .connected: phase = .connected
    }
    if phase == .connected { problem = nil }
    let next = ConnectionStatus(
      phase: phase,
      problem: problem,
      pendingWrites: core.pendingWriteCount
    )
    guard next != status else { return }
    status = next
    for observer in statusObservers { enqueue { observer(next) } }
  }

  private static func wallClock() -> Int64 {
    Int64((Date().timeIntervalSince1970 * 1_000).rounded(.down))
  }
}

extension ConnectionStatus.Problem {
  fileprivate init(_ end: ConnectionEnd) {
    reason = end.description
    switch end.kind {
    case .notADatabaseServer, .unsupported: isPermanent = true
    case .refused(let status): isPermanent = status != 503
    case .closed, .closedByPeer, .lost, .unreachable, .timedOut, .protocolViolation,
      .slowConsumer:
      isPermanent = false
    }
  }
}

extension EventKind {
  fileprivate init(_ type: DataEventType) {
    switch type {
    case .childAdded: self = .childAdded
    case .childRemoved: self = .childRemoved
    case .childChanged: self = .childChanged
    case .childMoved: self = .childMoved
    case .value: self = .value
    }
  }
}

extension DataEventType {
  fileprivate init(_ kind: EventKind) {
    switch kind {
    case .childAdded: self = .childAdded
    case .childRemoved: self = .childRemoved
    case .childChanged: self = .childChanged
    case .childMoved: self = .childMoved
    case .value: self = .value
    }
  }
}
