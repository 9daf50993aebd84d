package import RealtimeCore

/// The client engine of a database: what it is told goes in, what is to be done comes out.
///
/// Pure: it holds no clock, no socket and no lock, and calls out only to the update functions of
/// transactions. One owner feeds it inputs one after another and performs the outputs in order.
package struct RepoCore: Sendable {
  /// What the engine was told when it was made.
  package let configuration: RepoConfiguration

  var connection = ConnectionState()
  /// The data of the database.
  var sync = SyncTree()
  /// The data below `.info`, which never leave the client.
  var info = SyncTree()
  var infoData: Node
  var listeners: [ListenerID: Place] = [:]
  var keptSynced: Set<Place> = []
  var listens = ListenTable()
  var writes = SortedMap<Int64, OutstandingWrite>()
  var gets = SortedMap<Int64, PendingGet>()
  var disconnectActions = SortedMap<Int64, DisconnectAction>()
  /// What the server will write when this connection ends.
  var scheduled = Overlay.none
  var transactions = TransactionQueue()
  var credential: ClientRequest.Authentication?
  /// Whose the writes are that are made now, or nil while nobody is signed in.
  var user: String?
  /// Counts everything that needs an order: writes (by which their keys are numbered), messages
  /// that wait, transactions.
  var lastNumber: Int64 = 0
  /// What a store is to keep, or nil without one.
  var offline: OfflineCache?
  var now = RepoTime(wall: 0, monotonic: 0, random: 0)
  var outputs: [RepoOutput] = []

  /// The server's clock less the local one, in milliseconds.
  package internal(set) var serverTimeOffset: Int64 = 0

  /// Makes an engine that is not connected; its first use connects it.
  package init(configuration: RepoConfiguration) {
    self.configuration = configuration
    infoData = Node.empty
      .setting(InfoPath.connected, to: .bool(false))
      .setting(InfoPath.serverTimeOffset, to: .integer(0))
  }

  /// Takes an input and returns what is to be done, in order.
  ///
  /// - Parameters:
  ///   - input: What happened.
  ///   - time: The moment at which it happened.
  /// - Returns: The outputs, to be performed one after another.
  package mutating func handle(_ input: RepoInput, at time: RepoTime) -> [RepoOutput] {
    now = time
    outputs = []
    switch input {
    case .observe(let listener, let path, let query, let events):
      observe(listener, at: path, query: query, events)
      open()
    case .stopObserving(let listener): stopObserving(listener)
    case .stopObservingAll(let path, let query): stopObservingAll(at: path, query: query)
    case .keepSynced(let path, let query, let isOn):
      keepSynced(Place(path: path, query: query), isOn)
      if isOn { open() }
    case .get(let token, let path, let query):
      get(token, at: path, query: query)
      open()
    case .write(let token, let path, let operation):
      write(token, at: path, operation)
      open()
    case .transaction(let token, let path, let appliesLocally, let update):
      beginTransaction(token, at: path, appliesLocally: appliesLocally, update)
      open()
    case .onDisconnect(let token, let path, let operation):
      queueDisconnectAction(token, at: path, .schedule(operation.withPrioritiesLast))
      open()
    case .cancelOnDisconnect(let token, let path):
      queueDisconnectAction(token, at: path, .cancel)
      open()
    case .purgeOutstandingWrites: purgeOutstandingWrites()
    case .actAs(let user): act(as: user)
    case .authenticate(let authentication): authenticate(authentication)
    case .unauthenticate: unauthenticate()
    case .goOnline(let reason): goOnline(reason)
    case .goOffline(let reason): goOffline(reason)
    case .transportOpened(let id): transportOpened(id)
    case .message(let id, let message): receive(message, on: id)
    case .transportProgress(let id): transportProgressed(id)
    case .transportClosed(let id, let reason): transportClosed(id, reason)
    case .storeSize(let size): offline?.prune(size: size, configuration)
    case .timerFired(let timer): timerFired(timer)
    }
    if let changes = offline?.takeChanges(), !changes.isEmpty { outputs.append(.persist(changes)) }
    let result = outputs
    outputs = []
    return result
  }

  /// Whether the server has greeted and the connection stands.
  package var isConnected: Bool { connection.connected != nil }

  /// How far the connection is.
  package var phase: ConnectionPhase { connection.phase }

  /// The reasons not to be connected.
  package var interruptReasons: Set<InterruptReason> { connection.interrupts }

  /// The number of writes (transactions among them) that wait for their acknowledgement.
  package var pendingWriteCount: Int { sync.pendingWriteCount }

  /// The data that an observer of a query would see now, or nil while they are not complete.
  package func cachedValue(at path: Path, query: Query) -> Node? {
    path.isInfo ? query.evaluate(infoData[path]) : sync.cachedValue(at: path, query: query)
  }

  // MARK: Shared by all concerns

  /// The server's time as far as it is known.
  var estimatedServerTime: Int64 { now.wall &+ serverTimeOffset }

  mutating func makeNumber() -> Int64 {
    lastNumber += 1
    return lastNumber
  }

  mutating func raise(_ events: [ViewEvent]) {
    var source: (place: Place, isCurrent: Bool)?
    for event in events {
      guard case .listener(let listener) = event.owner, let place = listeners[listener] else {
        continue
      }
      var data = event.event
      if !place.path.isInfo {
        let isCurrent = source?.place == place ? source?.isCurrent == true : isCurrent(place)
        source = (place, isCurrent)
        data.metadata.isFromCache = !isCurrent
        data.metadata.hasPendingWrites =
          sync.hasPendingWrites(place, child: data.key, in: data.node)
      }
      outputs.append(.raise(listener, data))
    }
  }

  /// Raises events of a change at a path, and runs transactions there again if there were any.
  mutating func raise(_ events: [ViewEvent], changedAt path: Path) {
    raise(events)
    if !events.isEmpty { rerunTransactions(at: path) }
  }

  mutating func log(_ line: String) {
    outputs.append(.log(line))
  }
}
