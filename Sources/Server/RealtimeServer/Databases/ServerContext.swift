private import Glibc
internal import Logging
internal import NIOCore
internal import RealtimeCore
internal import RealtimeTransport

/// The state that all databases of a server share; confined to the server's event loop.
final class ServerContext {
  let eventLoop: any EventLoop
  let options: ServerOptions
  /// The rules that were given last for the default database.
  var rules: ServerOptions.Rules
  let logger: Logger
  /// The time in milliseconds since 1970.
  let clock: @Sendable () -> Int64
  let start = NIODeadline.now()
  let memory: ConnectionMemory
  /// Measures whether the process has memory for more listens.
  var resident: MemoryGauge
  private var memoryReturn: Scheduled<Void>?
  /// Limits how often the log repeats the same note.
  private var notes = HourlyNotes()
  /// The same for requests that were refused, whose sender chooses what the note says.
  private var refusals = HourlyNotes()
  /// The number of connections to all databases, including streams and requests in progress.
  private(set) var connectionCount = 0
  var requestCount = 0
  let identities: ServerIdentities
  /// Decides which client's messages are handled next.
  let scheduler: FairScheduler
  /// Decodes and encodes large messages off the event loop.
  let workers: WorkerPool
  private var accounts: [HTTPRequest.Connection: SchedulerAccount] = [:]
  /// The number of event streams of the guests of each network.
  private var guestStreams: [ClientNetwork: Int] = [:]
  private var pushIDs = PushIDGenerator()
  /// Called when a write has failed and its outcome on disk is unknown.
  var onLoss: (StoreError) -> Void = { _ in }
  /// Called when a connection has opened or closed.
  var onConnectionsChanged: () -> Void = {}
  /// Returns the metrics of the whole server since its start.
  var metrics: () -> JSONValue = { .null }

  init(
    eventLoop: any EventLoop,
    options: ServerOptions,
    logger: Logger,
    clock: @escaping @Sendable () -> Int64
  ) {
    self.eventLoop = eventLoop
    self.options = options
    rules = options.rules
    self.logger = logger
    self.clock = clock
    scheduler = FairScheduler(eventLoop)
    memory = ConnectionMemory(options.limits.memory, eventLoop: eventLoop)
    workers = WorkerPool(eventLoop, memory: memory)
    identities = ServerIdentities(
      verifier: options.credentialVerifier,
      options: options.identities,
      isEmulator: options.isEmulator,
      eventLoop: eventLoop,
      logger: logger,
      clock: clock
    )
    resident = MemoryGauge(limit: options.limits.residentMebibytes)
    memory.onBurst = { [weak self] in self?.returnMemory() }
  }

  // MARK: Memory

  /// How long after a burst its memory is returned to the system; another burst may follow soon.
  private static let returnDelay = TimeAmount.seconds(5)

  /// Schedules the return of unused memory to the system.
  func returnMemory() {
    guard memoryReturn == nil else { return }
    memoryReturn = eventLoop.assumeIsolated().scheduleTask(in: Self.returnDelay) { [weak self] in
      self?.memoryReturn = nil
      ResidentMemory.giveBack()
    }
  }

  // MARK: Log

  func logger(of database: String) -> Logger {
    var logger = logger
    logger[metadataKey: "database"] = "\(database)"
    return logger
  }

  /// Logs why a connection ended, if the client could not be informed.
  ///
  /// Each reason is logged once an hour, because such clients reconnect at once and do the same
  /// again.
  func noteOnce(_ message: String, because end: ConnectionEnd, in logger: Logger) {
    // The description names the client and amounts, which do not make it a different reason.
    let reason = end.description.split(separator: " ").dropFirst()
      .filter { !$0.contains(where: \.isNumber) }.joined(separator: " ")
    guard notes.isDue(HourlyNotes.Subject(what: reason, user: nil), at: clock()) else { return }
    logger.notice("\(message): \(end)")
  }

  /// Logs that a request was refused, once an hour for each sentence.
  func noteOnce(_ refusal: String) {
    guard refusals.isDue(HourlyNotes.Subject(what: refusal, user: nil), at: clock()) else { return }
    logger.notice("\(refusal)")
  }

  /// The account that the requests of an HTTP connection are charged to.
  func account(of connection: HTTPRequest.Connection?) -> SchedulerAccount {
    guard let connection else { return SchedulerAccount() }
    if let account = accounts[connection] { return account }
    let now = NIODeadline.now()
    if accounts.count >= options.limits.connections {
      accounts = accounts.filter { !$0.value.isLight(at: now) }
    }
    let account = SchedulerAccount()
    accounts[connection] = account
    return account
  }

  /// A new key for a child that is added.
  func makePushID() -> String {
    pushIDs.next(time: clock()) { UInt8.random(in: 0..<64) }
  }

  /// Counts an event stream of a guest, and returns whether its network may have another.
  func beginGuestStream(from network: ClientNetwork) -> Bool {
    guard guestStreams[network, default: 0] < options.limits.guestStreams else { return false }
    guestStreams[network, default: 0] += 1
    return true
  }

  func endGuestStream(from network: ClientNetwork) {
    let count = guestStreams[network, default: 0]
    guestStreams[network] = count > 1 ? count - 1 : nil
  }

  func connectionOpened() {
    connectionCount += 1
    onConnectionsChanged()
  }

  func connectionClosed() {
    connectionCount -= 1
    onConnectionsChanged()
  }
}

/// Makes sure that the log repeats the same note about the same user at most once an hour.
struct HourlyNotes {
  struct Subject: Hashable {
    let what: String
    /// The user; nil stands for all clients that have not signed in.
    let user: String?
  }

  /// How many notes are remembered; while there are that many, new ones are not logged.
  static let limit = 1_000
  private static let hour: Int64 = 3_600_000

  private var said: [Subject: Int64] = [:]

  /// Returns whether a note should be logged at a time in milliseconds; if so, it counts as logged.
  mutating func isDue(_ subject: Subject, at now: Int64) -> Bool {
    // Setting the clock back must not silence a note for longer.
    if let last = said[subject], (last..<(last + Self.hour)).contains(now) { return false }
    if said[subject] == nil, said.count >= Self.limit {
      said = said.filter { ($0.value..<($0.value + Self.hour)).contains(now) }
      if said.count >= Self.limit { return false }
    }
    said[subject] = now
    return true
  }
}

/// Checks from time to time whether the process uses more memory than it may.
struct MemoryGauge {
  /// How long a measurement is reused, in milliseconds.
  private static let interval: Int64 = 500

  /// The most memory in use, in mebibytes; 0 means no limit.
  private let limit: Int
  private let measure: @Sendable () -> Int
  private var lastLook: Int64?
  private var wasExhausted = false

  init(limit: Int, measure: @escaping @Sendable () -> Int = ResidentMemory.mebibytes) {
    self.limit = limit
    self.measure = measure
  }

  /// Whether the process uses more than it may, at a time in milliseconds.
  mutating func isExhausted(at now: Int64) -> Bool {
    guard limit > 0 else { return false }
    if let lastLook, lastLook <= now, now < lastLook + Self.interval { return wasExhausted }
    lastLook = now
    wasExhausted = measure() > limit
    return wasExhausted
  }
}

/// How much memory this process uses.
package enum ResidentMemory {
  /// The memory in mebibytes, or 0 if it cannot be determined.
  @Sendable static func mebibytes() -> Int {
    guard let file = fopen("/proc/self/statm", "re") else { return 0 }
    defer { fclose(file) }
    var text = [CChar](repeating: 0, count: 128)
    guard fgets(&text, Int32(text.count), file) != nil else { return 0 }
    let fields = String(
      decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) },
      as: UTF8.self
    )
    .split(separator: " ")
    guard fields.count > 1, let pages = Int(fields[1]) else { return 0 }
    return pages * Int(sysconf(Int32(_SC_PAGESIZE))) / 1_048_576
  }

  /// Returns unused memory of the C library to the system.
  package static func giveBack() {
    // No Swift module exposes the C header that declares this function.
    guard let symbol = dlsym(nil, "malloc_trim") else { return }
    // Safety: this is the function's type in C.
    _ = unsafeBitCast(symbol, to: (@convention(c) (Int) -> Int32).self)(0)
  }

  /// Lets the C library always return large blocks at once, instead of keeping their memory apart
  /// for other large ones: small blocks that are still needed would soon lie between them.
  package static func returnLargeBlocks() {
    guard let symbol = dlsym(nil, "mallopt") else { return }
    // The parameter is M_MMAP_THRESHOLD; setting its default keeps the library from raising it.
    // Safety: this is the function's type in C.
    _ = unsafeBitCast(symbol, to: (@convention(c) (Int32, Int32) -> Int32).self)(-3, 131_072)
  }
}
