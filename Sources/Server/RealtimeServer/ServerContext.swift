internal import Logging
internal import NIOCore
internal import RealtimeCore
internal import RealtimeHub
internal import RealtimeTransport

/// What all databases of a server share; confined to the server's event loop.
final class ServerContext {
  let eventLoop: any EventLoop
  let options: DatabaseServer.Options
  let logger: Logger
  /// The time in milliseconds since 1970.
  let clock: @Sendable () -> Int64
  /// When the server was made.
  let start = NIODeadline.now()
  /// What all connections share.
  let memory: ConnectionMemory
  /// Whether the process has memory for more listens.
  var resident: MemoryGauge
  /// Gives memory back in a while.
  private var memoryReturn: Scheduled<Void>?
  /// What the log has told.
  private var notes = HourlyNotes()
  /// How many are connected to any of the databases, streams and requests under way included.
  private(set) var connectionCount = 0
  /// The accounts and tokens of its users.
  let identities: ServerIdentities
  /// Whose turn it is.
  let turns: Turns
  /// Where large messages are read and encoded.
  let workbench: Workbench
  private var accounts: [HTTPRequest.Connection: CostAccount] = [:]
  /// Called when a write has failed of which nobody knows what the disk has.
  var onLoss: (StoreError) -> Void = { _ in }
  /// Called when someone has come or gone.
  var onConnectionsChanged: () -> Void = {}
  /// What the whole server has done since its start.
  var metrics: () -> JSONValue = { .null }

  init(
    eventLoop: any EventLoop,
    options: DatabaseServer.Options,
    logger: Logger,
    clock: @escaping @Sendable () -> Int64
  ) {
    self.eventLoop = eventLoop
    self.options = options
    self.logger = logger
    self.clock = clock
    turns = Turns(eventLoop)
    memory = ConnectionMemory(options.limits.memory, eventLoop: eventLoop)
    workbench = Workbench(eventLoop, memory: memory)
    identities = ServerIdentities(
      options: options,
      eventLoop: eventLoop,
      logger: logger,
      clock: clock
    )
    resident = MemoryGauge(limit: options.limits.residentMebibytes)
    memory.onBurst = { [weak self] in self?.returnMemory() }
  }

  // MARK: Memory

  /// How long after a burst what it has left is given back; another may follow at once.
  private static let returnDelay = TimeAmount.seconds(5)

  /// Gives the system back what was in use, in a while.
  func returnMemory() {
    guard memoryReturn == nil else { return }
    memoryReturn = eventLoop.assumeIsolated().scheduleTask(in: Self.returnDelay) { [weak self] in
      self?.memoryReturn = nil
      ResidentMemory.giveBack()
    }
  }

  // MARK: Log

  /// Tells the log why a connection has ended whose client could not be told, once an hour for each
  /// reason: clients come back at once and do the same.
  func noteOnce(_ message: String, _ end: ConnectionEnd, in logger: Logger) {
    // Who it was and how much is told, but makes no other reason of it.
    let reason = end.description.split(separator: " ").dropFirst()
      .filter { !$0.contains(where: \.isNumber) }.joined(separator: " ")
    guard notes.isDue(HourlyNotes.Subject(what: reason, user: nil), at: clock()) else { return }
    logger.notice("\(message): \(end)")
  }

  /// What the requests of an HTTP connection have cost.
  func account(of connection: HTTPRequest.Connection?) -> CostAccount {
    guard let connection else { return CostAccount() }
    if let account = accounts[connection] { return account }
    let now = NIODeadline.now()
    if accounts.count >= options.limits.connections {
      accounts = accounts.filter { !$0.value.isLight(at: now) }
    }
    let account = CostAccount()
    accounts[connection] = account
    return account
  }

  /// Counts someone who has come.
  func connectionOpened() {
    connectionCount += 1
    onConnectionsChanged()
  }

  /// Counts someone out who has gone.
  func connectionClosed() {
    connectionCount -= 1
    onConnectionsChanged()
  }
}
