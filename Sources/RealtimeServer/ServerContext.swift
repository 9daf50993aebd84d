internal import Logging
internal import NIOCore
internal import RealtimeTransport
internal import RealtimeTree

/// What all databases of a server share; confined to the server's event loop.
final class ServerContext {
  let eventLoop: any EventLoop
  let options: DatabaseServer.Options
  let logger: Logger
  /// The time in milliseconds since 1970.
  let clock: @Sendable () -> Int64
  /// When the server was made.
  let start = NIODeadline.now()
  /// Whether there is memory for more listens.
  var memory: MemoryGauge
  /// How many are connected to any of the databases, streams and requests under way included.
  private(set) var connectionCount = 0
  /// The accounts and tokens of its users.
  let identities: ServerIdentities
  /// Whose turn it is.
  let turns: Turns
  /// Where large messages are read and encoded.
  let workbench: Workbench
  private var accounts: [HTTPRequest.Connection: CostAccount] = [:]
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
    workbench = Workbench(eventLoop)
    identities = ServerIdentities(
      options: options,
      eventLoop: eventLoop,
      logger: logger,
      clock: clock
    )
    memory = MemoryGauge(limit: options.limits.memoryMebibytes)
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
