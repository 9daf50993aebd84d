import OfflineTestSupport
import RealtimeCore
import TestSupport
import Testing

@testable import RealtimeDatabase

@Suite("Simulation: several engines and one server")
struct SimulationTests {
  @Test(
    "All engines converge, and every write counts exactly once",
    arguments: Thoroughness.seeds(400)
  )
  func converges(seed: UInt64) {
    var simulation = Simulation(seed: seed, clients: 3)
    let problem = simulation.run(steps: 200)
    #expect(problem == nil, "seed \(seed)")
  }
}

/// Several engines and one server, with a network that delays messages and loses connections.
struct Simulation {
  private struct Client {
    var core: RepoCore
    var connection: ConnectionID?
    var isGreeted = false
    var up: [ClientMessage] = []
    var down: [ServerMessage] = []
    var completions: [RequestToken: Int] = [:]
    var listeners: [ListenerID: ModelListener] = [:]
    var batch: [ListenerID: [DataEvent]] = [:]
  }

  private var random: SplitMix64
  private var clients: [Client] = []
  private var server = SimulatedServer()
  private var time = RepoTime(wall: 0, monotonic: 0, random: 0)
  private var lastToken: Int64 = 0
  private var increments = 0
  private var committed = 0

  init(seed: UInt64, clients count: Int) {
    random = SplitMix64(seed: seed)
    for number in 0..<count {
      var configuration = RepoConfiguration(clientID: "c\(number)", statisticsName: "sdk.test")
      // Time does not pass in this simulation.
      configuration.transactionRetryDelay = 0
      clients.append(Client(core: RepoCore(configuration: configuration)))
    }
  }

  /// Runs, and returns what is wrong at the end, or nil.
  mutating func run(steps: Int) -> String? {
    for index in clients.indices {
      observe(index, "p", .all)
      observe(index, "p", Query(limit: Query.Limit(2, side: .last)))
      observe(index, "q", Query(index: .value, limit: Query.Limit(2, side: .first)))
      observe(index, "count", .all)
    }
    for _ in 0..<steps {
      if let problem = step() { return problem }
    }
    for _ in 0..<20_000 where clients.contains(where: { !isIdle($0) }) {
      if let problem = move(random.below(clients.count)) { return problem }
    }
    return verdict()
  }

  private func isIdle(_ client: Client) -> Bool {
    client.isGreeted && client.up.isEmpty && client.down.isEmpty
  }

  private mutating func verdict() -> String? {
    for (index, client) in clients.enumerated() {
      if client.core.pendingWriteCount > 0 { return "client \(index) still has pending writes" }
      if client.completions.values.contains(where: { $0 != 1 }) {
        return "client \(index) had a completion twice"
      }
      for listener in client.listeners.values {
        let expected = listener.query.evaluate(server.tree[listener.path])
        let shown = client.core.cachedValue(at: listener.path, query: listener.query)
        if shown != expected { return "client \(index) shows other data at \(listener.path)" }
        if listener.children.value != expected { return "client \(index) was told otherwise" }
      }
    }
    let completed = clients.reduce(0) { $0 + $1.completions.count }
    if completed != Int(lastToken) { return "\(lastToken) requests, \(completed) completions" }
    if server.applied.values.contains(where: { $0 != 1 }) { return "a write was applied twice" }
    let total = server.tree[ChildKey("count")]
    return total == .integer(Int64(increments + committed))
      ? nil : "count \(total), of \(increments) + \(committed)"
  }

  private mutating func step() -> String? {
    let index = random.below(clients.count)
    switch random.below(16) {
    case 0:
      if let id = clients[index].connection { return close(index, id) }
      return nil
    case 1...2:
      increments += 1
      let node = Node.leaf(.deferred(.incrementInteger(1)))
      return write(index, "count", .set(node))
    case 3:
      lastToken += 1
      let token = RequestToken(lastToken)
      let isLocal = random.once(in: 2)
      return feed(
        index,
        .transaction(token, path: "count", appliesLocally: isLocal, update: increment)
      )
    case 4...6:
      let list: Path = random.pick(["p", "q"])
      let node: Node = random.once(in: 4) ? .empty : .integer(Int64(random.below(9)))
      let key: ChildKey = random.pick(["a", "b", "c", "d"])
      if random.once(in: 3) {
        let other: ChildKey = random.pick(["e", "f"])
        let changes = [Change(Path([key]), to: node), Change(Path([other]), to: .integer(1))]
        return write(index, list, .merge(changes))
      }
      return write(index, list.appending(key), .set(node))
    case _: return move(index)
    }
  }

  private mutating func observe(_ index: Int, _ path: Path, _ query: Query) {
    let id = ListenerID(Int64(clients[index].listeners.count))
    clients[index].listeners[id] = ModelListener(id: id, path: path, query: query)
    let kinds = Set(DataEventType.inOrder)
    _ = feed(index, .observe(id, path: path, query: query, events: kinds))
  }

  private mutating func write(_ index: Int, _ path: Path, _ operation: WriteOperation) -> String? {
    lastToken += 1
    return feed(index, .write(RequestToken(lastToken), path: path, operation))
  }

  private mutating func close(_ index: Int, _ id: ConnectionID) -> String? {
    disconnect(index)
    return feed(index, .transportClosed(id, reason: "lost"))
  }

  private mutating func disconnect(_ index: Int) {
    clients[index].connection = nil
    clients[index].isGreeted = false
    clients[index].up = []
    clients[index].down = []
    server.forget(index)
  }

  /// Advances one message of a client, or its connection.
  private mutating func move(_ index: Int) -> String? {
    guard let id = clients[index].connection else {
      guard case .waiting(let until) = clients[index].core.phase else { return nil }
      time.monotonic = max(time.monotonic, until)
      return feed(index, .timerFired(.reconnect))
    }
    if !clients[index].isGreeted {
      clients[index].isGreeted = true
      let hello = ServerHello(timestamp: 0, host: "h", session: "s", extensions: [.writeOnce])
      return feed(index, .message(id, .hello(hello)))
    }
    if !clients[index].down.isEmpty, random.once(in: 2) || clients[index].up.isEmpty {
      return feed(index, .message(id, clients[index].down.removeFirst()))
    }
    guard !clients[index].up.isEmpty else { return nil }
    guard case .request(let number, let request) = clients[index].up.removeFirst() else {
      return nil
    }
    for (client, message) in server.handle(number, request, of: index) {
      clients[client].down.append(message)
    }
    return nil
  }

  private mutating func feed(_ index: Int, _ input: RepoInput) -> String? {
    for output in clients[index].core.handle(input, at: time) {
      switch output {
      case .connect(let id, _):
        disconnect(index)
        clients[index].connection = id
      case .disconnect: disconnect(index)
      case .send(let id, let message):
        if id == clients[index].connection { clients[index].up.append(message) }
      case .raise(let listener, let event):
        clients[index].batch[listener, default: []].append(event)
      case .writeCompleted(let token, let outcome):
        clients[index].completions[token, default: 0] += 1
        if outcome.status != .ok { return "a write ended with \(outcome.status)" }
      case .transactionCompleted(let token, _, let isCommitted, _):
        clients[index].completions[token, default: 0] += 1
        if isCommitted { committed += 1 }
      case .sendKeepalive, .schedule, .cancelTimer, .listenerCancelled, .getCompleted,
        .credentialRejected, .credentialAccepted, .persist, .log:
        continue
      }
    }
    return replay(index)
  }

  private mutating func replay(_ index: Int) -> String? {
    let batches = clients[index].batch
    clients[index].batch = [:]
    for (listener, events) in batches {
      // One input may consist of several operations; each ends with its value event, apart from the
      // first ones.
      var operation: [DataEvent] = []
      for event in events {
        if let last = operation.last, event.kind.precedes(last.kind) || last.kind == .value {
          if let problem = clients[index].listeners[listener]?.children.replay(operation) {
            return problem
          }
          operation = []
        }
        operation.append(event)
      }
      if let problem = clients[index].listeners[listener]?.children.replay(operation) {
        return problem
      }
    }
    return nil
  }
}

/// A naive server for several clients: one tree; every write is checked, applied and pushed
/// immediately.
struct SimulatedServer {
  private(set) var tree = Node.empty
  /// How often each write with a key was applied.
  private(set) var applied: [WriteKey: Int] = [:]
  private var listens: [Int: [ListenRequest]] = [:]
  private var ledger: [WriteKey: StatusCode] = [:]

  mutating func forget(_ client: Int) {
    listens[client] = nil
  }

  /// Handles a request and returns the messages to send, in order.
  mutating func handle(
    _ id: Int64,
    _ request: ClientRequest,
    of client: Int
  ) -> [(client: Int, message: ServerMessage)] {
    func answer(_ status: StatusCode) -> (Int, ServerMessage) {
      (client, .response(id: id, ServerMessage.Response(status)))
    }
    switch request {
    case .listen(let listen):
      listens[client, default: []].append(listen)
      let value = listen.query.evaluate(tree[listen.path])
      if value.hash == listen.hash { return [answer(.ok)] }
      return [(client, .push(.data(path: listen.path, value, tag: listen.tag))), answer(.ok)]
    case .unlisten(let path, let query, let tag):
      listens[client]?.removeAll { $0.path == path && $0.query == query && $0.tag == tag }
      return [answer(.ok)]
    case .write(let write):
      let (status, pushes) = apply(write)
      return pushes + [answer(status)]
    case .stats, .authenticate, .unauthenticate, .appCheck, .get, .onDisconnect,
      .cancelOnDisconnect, .unknown:
      return [answer(.ok)]
    }
  }

  private mutating func apply(
    _ write: WriteRequest
  ) -> (StatusCode, [(client: Int, message: ServerMessage)]) {
    if let key = write.key, let status = ledger[key] { return (status, []) }
    if let hash = write.hash, hash != tree[write.path].hash { return (.dataStale, []) }
    if let key = write.key {
      ledger[key] = .ok
      applied[key, default: 0] += 1
    }
    let old = tree
    let parts: [Change]
    switch write.operation {
    case .set(let node): parts = [Change(write.path, to: node)]
    case .merge(let changes):
      parts = changes.map { Change(write.path.appending($0.path), to: $0.node) }
    }
    for part in parts {
      let node = part.node.resolvingDeferred(existing: tree[part.path], timestamp: 0)
      tree.update(at: part.path, to: node)
    }
    var pushes: [(client: Int, message: ServerMessage)] = []
    for (client, requests) in listens.sorted(by: { $0.key < $1.key }) {
      for listen in requests {
        let before = listen.query.evaluate(old[listen.path])
        let after = listen.query.evaluate(tree[listen.path])
        if before == after { continue }
        pushes.append((client, .push(.data(path: listen.path, after, tag: listen.tag))))
      }
    }
    return (.ok, pushes)
  }
}
