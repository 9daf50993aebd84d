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
  static func connected() -> CoreDriver {
    var driver = CoreDriver()
    driver.connect()
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

  /// Observes a query and lets the server answer its listen.
  @discardableResult
  mutating func observe(
    _ path: Path,
    _ query: Query = .all,
    answered json: String
  ) throws -> ListenerID {
    let listener = observe(path, query)
    guard case (let id, .listen(let listen))? = requests.last else { return listener }
    if json != "null" { try push(path, json, tag: listen.tag) }
    answer(id)
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

  /// What was sent and told, as the lines of transcripts.
  var told: [String] { outputs.compactMap(\.text) }
}

extension RepoOutput {
  /// An output as a line; nil for those that only keep the engine going.
  var text: String? {
    switch self {
    case .connect(let id, let host): return "= connect \(id.number)" + (host.map { " \($0)" } ?? "")
    case .disconnect(let id, let cause): return "= disconnect \(id.number) \(cause)"
    case .send(_, .request(let id, let request)): return "< \(id) \(Self.text(request))"
    case .send(_, .ping): return "< ping"
    case .schedule(.reconnect, let pause): return "= reconnect in \(pause)"
    case .schedule(.transactionRetry(let path), let pause): return "= retry \(path) in \(pause)"
    case .raise(let listener, let event): return "= \(listener.number) \(Self.text(event))"
    case .listenerCancelled(let listener, let outcome):
      return "= cancelled \(listener.number) \(outcome.status)"
    case .writeCompleted(let token, let outcome): return "= write \(token.number) \(outcome.status)"
    case .getCompleted(let token, .value(let node, let metadata)):
      return "= get \(token.number) \(node.json(.export).text)" + Self.text(metadata)
    case .getCompleted(let token, .failure(let outcome)):
      return "= get \(token.number) \(Self.text(outcome))"
    case .transactionCompleted(let token, let outcome, let isCommitted, let node):
      return "= transaction \(token.number) \(outcome.status)"
        + (isCommitted ? " committed " : " ") + node.json(.export).text
    case .credentialRejected(let outcome): return "= rejected \(Self.text(outcome))"
    case .credentialAccepted: return "= accepted"
    case .send, .sendKeepalive, .schedule, .cancelTimer, .persist, .log: return nil
    }
  }

  private static func text(_ request: ClientRequest) -> String {
    let bytes = ClientMessage.request(id: 0, request).encoded()
    guard let message = try? JSONParser.parse(String(decoding: bytes, as: UTF8.self))["d"] else {
      return "?"
    }
    return "\(message["a"]?.string ?? "?") \(message["b"]?.canonicalText ?? "")"
  }

  private static func text(_ event: DataEvent) -> String {
    let data = event.node.json(.export).text + text(event.metadata)
    guard let key = event.key else { return "value \(data)" }
    let name = "\(event.kind)".dropFirst(5).lowercased()
    if event.kind == .childRemoved { return "\(name) \(key) \(data)" }
    return "\(name) \(key) after \(event.previousKey?.text ?? "-") \(data)"
  }

  private static func text(_ outcome: Outcome) -> String {
    outcome.reason.isEmpty ? "\(outcome.status)" : "\(outcome)"
  }

  private static func text(_ metadata: DataMetadata) -> String {
    (metadata.isFromCache ? " cached" : "") + (metadata.hasPendingWrites ? " pending" : "")
  }
}
