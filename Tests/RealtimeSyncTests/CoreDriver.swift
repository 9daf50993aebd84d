import OfflineTestSupport
import RealtimeCore

@testable import RealtimeDatabase

/// A transaction that adds one to a number, or sets one where there is none.
let increment: TransactionUpdate = { node in
  guard case .integer(let value)? = node.leafValue else { return .commit(.integer(1)) }
  return .commit(.integer(value + 1))
}

/// Drives an engine by hand, and records what it sends and reports.
struct CoreDriver {
  var core: RepoCore
  var time = RepoTime(wall: 1_000_000, monotonic: 0, random: 0.5)
  private(set) var outputs: [RepoOutput] = []
  /// When the running timers are due.
  private var timers: [RepoTimer: Int64] = [:]
  /// How often the client has woken up to check for signs of life.
  private(set) var looks = 0
  private var lastToken: Int64 = 0

  init(configure: (inout RepoConfiguration) -> Void = { _ in }) {
    var configuration = RepoConfiguration(clientID: "c1", statisticsName: "sdk.test.1-0-0")
    configure(&configuration)
    core = RepoCore(configuration: configuration)
  }

  /// An engine that a server has greeted.
  static func connected(_ extensions: Set<ServerHello.Extension> = []) -> CoreDriver {
    var driver = CoreDriver()
    driver.connect(extensions)
    return driver
  }

  /// An engine that a server has greeted, without the outputs of that.
  static func idle(_ extensions: Set<ServerHello.Extension> = []) -> CoreDriver {
    var driver = connected(extensions)
    driver.forget()
    return driver
  }

  /// Feeds an input and returns its outputs.
  @discardableResult
  mutating func feed(_ input: RepoInput) -> [RepoOutput] {
    if case .timerFired(let timer) = input {
      timers[timer] = nil
      if timer == .keepalive { looks += 1 }
    }
    let result = core.handle(input, at: time)
    outputs += result
    for output in result {
      switch output {
      case .schedule(let timer, let pause): timers[timer] = time.monotonic + pause
      case .cancelTimer(let timer): timers[timer] = nil
      default: continue
      }
    }
    return result
  }

  /// Lets time pass; timers fire when they are due.
  ///
  /// - Parameters:
  ///   - milliseconds: How much time passes.
  ///   - react: Called after each timer, with the resulting outputs.
  mutating func pass(
    _ milliseconds: Int64,
    react: (inout CoreDriver, [RepoOutput]) -> Void = { _, _ in }
  ) {
    let end = time.monotonic + milliseconds
    while let next = timers.min(by: { $0.value < $1.value }), next.value <= end {
      time.monotonic = max(time.monotonic, next.value)
      let result = feed(.timerFired(next.key))
      react(&self, result)
    }
    time.monotonic = end
  }

  /// Lets time pass with a server that answers pings but nothing else.
  mutating func passWithPongs(_ milliseconds: Int64) {
    pass(milliseconds) { driver, outputs in
      for case .send(_, .ping) in outputs { driver.receive(.pong) }
    }
  }

  /// Discards the outputs and checks so far.
  mutating func forget() {
    outputs = []
    looks = 0
  }

  mutating func token() -> RequestToken {
    lastToken += 1
    return RequestToken(lastToken)
  }

  // MARK: Inputs

  @discardableResult
  mutating func connect(
    _ extensions: Set<ServerHello.Extension> = [],
    timestamp: Int64? = nil
  )
    -> [RepoOutput]
  {
    if case .waiting(let until) = core.phase {
      time.monotonic = max(time.monotonic, until)
      feed(.timerFired(.reconnect))
    }
    if core.phase == .interrupted { feed(.goOnline(.user)) }
    guard case .connecting(let id) = core.phase else { return [] }
    feed(.transportOpened(id))
    let hello = ServerHello(
      timestamp: timestamp ?? time.wall,
      host: "localhost",
      session: "s",
      extensions: extensions
    )
    return feed(.message(id, .hello(hello)))
  }

  @discardableResult
  mutating func receive(_ message: ServerMessage) -> [RepoOutput] {
    guard let id = core.connection.current else { return [] }
    return feed(.message(id, message))
  }

  @discardableResult
  mutating func push(_ path: Path, _ json: String, tag: Int64? = nil) throws -> [RepoOutput] {
    receive(.push(.data(path: path, try Node(json: JSONParser.parse(json)), tag: tag)))
  }

  @discardableResult
  mutating func answer(
    _ id: Int64,
    _ status: StatusCode = .ok,
    _ reason: String = ""
  )
    -> [RepoOutput]
  {
    receive(.response(id: id, ServerMessage.Response(status, payload: .json(.string(reason)))))
  }

  mutating func lose() {
    if let id = core.connection.current { feed(.transportClosed(id, reason: "lost")) }
  }

  mutating func observe(
    _ path: Path,
    _ query: Query = .all,
    _ kinds: Set<DataEventType> = Set(DataEventType.inOrder)
  ) -> ListenerID {
    lastToken += 1
    let listener = ListenerID(lastToken)
    feed(.observe(listener, path: path, query: query, events: kinds))
    return listener
  }

  @discardableResult
  mutating func set(_ path: Path, _ json: String) throws -> RequestToken {
    let token = token()
    feed(.write(token, path: path, .set(try Node(json: JSONParser.parse(json)))))
    return token
  }

  @discardableResult
  mutating func transact(
    _ path: Path,
    appliesLocally: Bool = true,
    _ update: @escaping TransactionUpdate
  ) -> RequestToken {
    let token = token()
    feed(.transaction(token, path: path, appliesLocally: appliesLocally, update: update))
    return token
  }

  /// Observes a path and lets the server answer.
  mutating func observe(_ path: Path, answered json: String) throws -> ListenerID {
    let listener = observe(path)
    guard let request = requests.last else { return listener }
    if json != "null" { try push(path, json) }
    answer(request.id)
    return listener
  }

  // MARK: Outputs

  /// The requests sent, with their numbers.
  var requests: [(id: Int64, request: ClientRequest)] {
    outputs.compactMap {
      if case .send(_, .request(let id, let request)) = $0 { (id, request) } else { nil }
    }
  }

  /// The writes sent, with the numbers of their requests.
  var sentWrites: [(id: Int64, write: WriteRequest)] {
    requests.compactMap {
      if case .write(let write) = $0.request { ($0.id, write) } else { nil }
    }
  }

  /// The events raised, as short text: kind, key, previous key, data.
  var events: [String] {
    outputs.compactMap {
      guard case .raise(_, let event) = $0 else { return nil }
      let data = event.node.json(.export).text
      guard let key = event.key else { return "value \(data)" }
      if event.kind == .childRemoved { return "removed \(key) \(data)" }
      let name =
        event.kind == .childAdded ? "added" : event.kind == .childMoved ? "moved" : "changed"
      return "\(name) \(key) after \(event.previousKey?.text ?? "-") \(data)"
    }
  }

  /// The data of the value events.
  var values: [String] {
    outputs.compactMap {
      guard case .raise(_, let event) = $0, event.kind == .value else { return nil }
      return event.node.json(.export).text
    }
  }

  /// The completions, as short text.
  var completions: [String] {
    outputs.compactMap {
      switch $0 {
      case .writeCompleted(let token, let outcome): "write \(token.number) \(outcome.status)"
      case .transactionCompleted(let token, let outcome, let committed, let node):
        "transaction \(token.number) \(outcome.status) \(committed) \(node.json(.export).text)"
      case .getCompleted(let token, .value(let node, _)):
        "get \(token.number) \(node.json(.export).text)"
      case .getCompleted(let token, .failure(let outcome)):
        "get \(token.number) \(outcome.status)"
      case .listenerCancelled(let id, let outcome): "cancelled \(id.number) \(outcome.status)"
      case .connect, .disconnect, .send, .sendKeepalive, .schedule, .cancelTimer, .raise,
        .credentialRejected, .credentialAccepted, .persist, .log:
        nil
      }
    }
  }

  /// The listen and unlisten requests, as short text.
  var listens: [String] {
    requests.compactMap {
      switch $0.request {
      case .listen(let listen):
        "q \(listen.path)\(listen.tag.map { " \(listen.query.id) \($0)" } ?? "") \(listen.hash)"
      case .unlisten(let path, let query, let tag):
        "n \(path)\(tag.map { " \(query.id) \($0)" } ?? "")"
      case .stats, .authenticate, .unauthenticate, .appCheck, .get, .write, .onDisconnect,
        .cancelOnDisconnect, .unknown:
        nil
      }
    }
  }
}

/// An engine with a store in memory, and the processes that succeed it.
struct OfflineDriver {
  var engine: CoreDriver
  private(set) var store: MemoryOfflineStore
  private var process = 1
  private var performed = 0

  init(configure: (inout RepoConfiguration) -> Void = { _ in }) {
    engine = CoreDriver { configuration in
      configuration.clientID = "p1"
      configure(&configuration)
    }
    store = MemoryOfflineStore()
    let store = store
    engine.core.restore(OfflineState()) { store.data(of: $0) }
  }

  /// A process that a server has greeted.
  static func connected() -> OfflineDriver {
    var driver = OfflineDriver()
    driver.engine.connect()
    return driver
  }

  /// Passes the changes that the engine has emitted since the last time to the store.
  mutating func persist() {
    let outputs = engine.outputs.dropFirst(performed)
    for case .persist(let changes) in outputs { store.perform(changes) }
    performed = engine.outputs.count
  }

  /// Ends the process and starts the next one on the same store.
  mutating func restart(configure: (inout RepoConfiguration) -> Void = { _ in }) {
    persist()
    process += 1
    performed = 0
    let next = MemoryOfflineStore(store.model)
    let name = "p\(process)"
    var time = engine.time
    time.wall += 60_000
    engine = CoreDriver { configuration in
      configuration.clientID = name
      configure(&configuration)
    }
    engine.time = time
    engine.core.restore(next.model.state) { next.data(of: $0) }
    store = next
  }

  /// Ends the process, and has the next one observe a path.
  mutating func restart(observing path: Path, _ query: Query = .all) {
    restart()
    _ = engine.observe(path, query)
  }

  /// Discards the outputs so far, once the store has them.
  mutating func forget() {
    persist()
    engine.forget()
    performed = 0
  }

  /// The raised value events: their data, and where it comes from.
  var values: [String] {
    engine.outputs.compactMap {
      guard case .raise(_, let event) = $0, event.kind == .value else { return nil }
      return "\(event.node.json(.export).text) \(event.metadata.text)"
    }
  }

  /// The reads that have completed: their data, and where it comes from.
  var reads: [String] {
    engine.outputs.compactMap {
      guard case .getCompleted(_, let result) = $0 else { return nil }
      switch result {
      case .value(let node, let metadata):
        return "\(node.json(.export).text) \(metadata.text)"
      case .failure(let outcome): return "\(outcome.status)"
      }
    }
  }
}

extension DataMetadata {
  /// The metadata as a word.
  var text: String {
    (isFromCache ? "cached" : "current") + (hasPendingWrites ? " pending" : "")
  }
}
