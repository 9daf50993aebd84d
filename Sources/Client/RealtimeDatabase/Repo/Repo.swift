import Dispatch
import Foundation
package import Logging
import NIOConcurrencyHelpers
package import NIOCore
import NIOPosix
import RealtimeCore
import RealtimeSync
package import RealtimeTransport

/// The shell of a database: it feeds the pure engine and does what the engine asks for.
///
/// Isolation: the actor's executor is one event loop, on which the socket lives too. Calls of the
/// public API are handed to the loop with `submit`, so that calls of one thread keep their order;
/// user blocks run on the callback queue, in the order in which the engine raised them, never on
/// the loop (the blocks of transactions excepted, which the engine runs). What callers read at
/// once (`shared`) is guarded by a lock and written by the loop.
package final actor Repo {
  nonisolated let eventLoop: any EventLoop
  nonisolated let options: DatabaseOptions
  nonisolated let logger: Logger
  nonisolated let shared: NIOLockedValueBox<Shared>

  var core: RepoCore
  var persistence = Persistence.unused
  var credentials = Credentials()
  /// Whether nobody may use it any more.
  var isClosed = false
  /// What is still to be told to the engine, while it is being told something.
  private var inputs: [RepoInput] = []
  private var isHandling = false
  var connection: (id: ConnectionID, client: ClientConnection)?
  var session: String?
  var problem: ConnectionStatus.Problem?
  var hasBeenConnected = false
  var timers: [RepoTimer: Scheduled<Void>] = [:]
  var listeners: [ListenerID: Listener] = [:]
  var completions: [RequestToken: Completion] = [:]
  var readDeadlines: [RequestToken: Scheduled<Void>] = [:]
  /// What the callback queue is to run next: all that one input of the engine raises, as one block.
  var deliveries: [@Sendable () -> Void] = []
  var statusObservers: [@Sendable (ConnectionStatus) -> Void] = []
  var status = ConnectionStatus(phase: .closed, pendingWrites: 0)
  /// Who wants to see the database at work; nil while nobody does.
  var recorder: DiagnosticRecorder?

  /// What callers on any thread read or count.
  struct Shared {
    var target: ConnectionTarget
    /// Whether the program has said where the database is; without that it cannot be used.
    var isTargetChosen = true
    var settings = Settings()
    var isUsed = false
    var callbackQueue = DispatchQueue.main
    /// The observers that may still be called; who is removed is removed here at once.
    var observers: [Int64: ObservedPlace] = [:]
    var lastNumber: Int64 = 0
    var serverTimeOffset: Int64 = 0
    var pushIDs = PushIDGenerator()
  }

  /// What is set before the first use.
  struct Settings {
    var isPersistenceEnabled = false
    var persistenceCacheSizeBytes: UInt = 10 * 1_048_576
  }

  /// What an observer looks at.
  struct ObservedPlace {
    let path: Path
    let query: Query

    /// Whether it is that of a query, or of any query of the location when that is all of it.
    func isWithin(_ other: DatabaseQuery) -> Bool {
      path == other.path && (other.query.isDefault || query == other.query)
    }
  }

  /// Someone who wants to be told; its query keeps the database open.
  struct Listener {
    let query: DatabaseQuery
    let block: Callback<(DataEventType, DataSnapshot, String?) -> Void>
    let cancel: Callback<((any Error) -> Void)?>
    let isOnce: Bool
  }

  /// What is called when a request has been answered.
  enum Completion {
    case write(path: Path, @Sendable ((any Error)?) -> Void)
    case get(DatabaseQuery, @Sendable (Result<DataSnapshot, DatabaseError>) -> Void)
    case transaction(DatabaseReference, TransactionCompletion)
  }

  package typealias TransactionCompletion =
    @Sendable ((any Error)?, Bool, DataSnapshot) -> Void

  /// One thread for the sockets of all databases of the process.
  package static let group: any EventLoopGroup = MultiThreadedEventLoopGroup(numberOfThreads: 1)

  package init(target: ConnectionTarget, options: DatabaseOptions, logger: Logger) {
    self.options = options
    self.logger = logger
    eventLoop = Self.group.next()
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
    configuration.keepaliveInterval = Self.milliseconds(options.keepaliveInterval)
    configuration.transactionTries = options.transactionTries
    configuration.transactionRetryDelay = Self.milliseconds(options.transactionRetryDelay)
    core = RepoCore(configuration: configuration)
  }

  package nonisolated var unownedExecutor: UnownedSerialExecutor {
    eventLoop.executor.asUnownedSerialExecutor()
  }

  static func milliseconds(_ duration: Duration) -> Int64 {
    duration.components.seconds * 1_000 + duration.components.attoseconds / 1_000_000_000_000_000
  }

  // MARK: On the loop

  /// Tells the engine something and does what it asks for; what is told meanwhile comes after.
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

  /// Has a block run on the callback queue, together with what else this input raises.
  func enqueue(_ block: @escaping @Sendable () -> Void) {
    deliveries.append(block)
  }

  private func flush() {
    guard !deliveries.isEmpty else { return }
    let blocks = deliveries
    deliveries = []
    deliver { for block in blocks { block() } }
  }

  private func perform(_ output: RepoOutput, at time: Int64) {
    switch output {
    case .connect(let id, let host): connect(id, host: host)
    case .disconnect(let id):
      if connection?.id == id {
        connection?.client.close()
        connection = nil
      }
    case .send(let id, let message):
      guard connection?.id == id else { return }
      let bytes = message.encoded()
      recorder?.sent(message, as: bytes, at: time)
      connection?.client.send(bytes)
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
    case .credentialRejected(let status, let reason): credentialRejected(status, reason)
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

  /// The time that this database goes by, in milliseconds since 1970.
  nonisolated var wall: Int64 { options.clock?() ?? Self.wallClock() }

  static func wallClock() -> Int64 {
    Int64((Date().timeIntervalSince1970 * 1_000).rounded(.down))
  }
}
