import OfflineTestSupport
import RealtimeCore
import TestSupport
import Testing

@testable import RealtimeDatabase

@Suite("The engine with a crashing store", .serialized)
struct OfflinePropertyTests {
  @Test(
    "The store matches the engine, and every stored write is applied once",
    arguments: Thoroughness.seeds(80)
  )
  func seeds(seed: UInt64) {
    var run = OfflineRun(seed: seed)
    let problem = run.run(steps: 400)
    #expect(problem == nil, "seed \(seed)")
  }
}

/// One client with a store that crashes and restarts, a naive server, and other writers.
struct OfflineRun {
  private var random: SplitMix64
  private var core: RepoCore
  private var store = MemoryOfflineStore()
  private var server = ModelServer()
  private var applied: [WriteKey] = []
  /// The sum of the increments that the server has applied.
  private var count: Int64 = 0
  private var connection: ConnectionID?
  /// The requests that the server has not handled yet.
  private var asked: [(id: Int64, request: ClientRequest)] = []
  private var requests: [ListenTarget: Int64] = [:]
  private var listeners: [ListenerID: QuerySpec] = [:]
  private var process = 1
  private var last: Int64 = 0
  /// A child with fields that change together, in a location of which only selections are observed.
  private let record: Path = "r/a"
  /// Whether the root is never observed and the client writes the record: a listen of it then
  /// has what becomes of these writes before their answers.
  private let writesRecord: Bool
  /// The hashes of what the record has been.
  private var states: Set<String> = [Node.empty.hash]
  private var time = RepoTime(wall: 0, monotonic: 0, random: 0.5)

  init(seed: UInt64) {
    random = SplitMix64(seed: seed)
    writesRecord = random.once(in: 2)
    core = RepoCore(configuration: RepoConfiguration(clientID: "p1", statisticsName: "t"))
    let store = store
    core.restore(OfflineState()) { store.data(of: $0) }
    _ = observeRecords()
  }

  /// Runs, and returns what is wrong, or nil.
  mutating func run(steps: Int) -> String? {
    for step in 0..<steps {
      if let problem = act() ?? check() { return "step \(step): \(problem)" }
    }
    for _ in 0..<10_000 {
      if let problem = move() ?? check() { return "at the end: \(problem)" }
      if connection != nil, asked.isEmpty, server.sent.isEmpty, core.pendingWriteCount == 0 {
        return verdict()
      }
    }
    return "it does not come to an end"
  }

  private func verdict() -> String? {
    var next = RepoCore(configuration: RepoConfiguration(clientID: "next", statisticsName: "t"))
    let store = store
    next.restore(store.model.state) { store.data(of: $0) }
    for (key, times) in Dictionary(grouping: applied, by: \.self).mapValues(\.count)
    where times > 1 {
      return "\(key.wireText) was applied \(times) times"
    }
    if !store.model.writes.isEmpty { return "answered writes are still kept" }
    for place in listeners.values {
      let expected = place.query.evaluate(server.tree[place.path])
      if core.cachedValue(at: place.path, query: place.query) != expected {
        return "a listener at \(place.path) \(place.query.id) shows other data than the server has"
      }
      if next.knownValue(at: place.path, query: place.query)?.node != expected {
        return "the next process shows other data at \(place.path) \(place.query.id)"
      }
    }
    for entry in store.model.queries.values where entry.isComplete {
      let value = next.knownValue(at: entry.path, query: entry.query)?.node ?? .empty
      for place in listeners.values where place.query.loadsAllData {
        guard place.path.parent == entry.path, let key = place.path.last,
          value.hasChild(key), value[key] != server.tree[place.path]
        else { continue }
        let query = "\(entry.path) \(entry.query.id)"
        return "the next process shows older data of \(place.path) at \(query)"
      }
    }
    let total = server.tree[ChildKey("n")]
    return total == (count == 0 ? .empty : .integer(count)) ? nil : "the count is \(total)"
  }

  /// Compares the store with the engine.
  private func check() -> String? {
    let kept = store.model.state.writes
    let pending = core.requests.writes.map(\.value.request)
    if kept.map(\.operation) != pending.map(\.operation) { return "other writes are kept" }
    if kept.map(\.path) != pending.map(\.path) { return "writes of other places are kept" }
    for (_, target) in core.data.listens.targets where core.data.listens.isCurrent(target) {
      let entry = store.model.queries.values.first {
        $0.path == target.path && $0.query == target.query
      }
      // The store lags behind until the listen is answered.
      guard let entry, entry.isComplete, requests[target] == nil else { continue }
      let known = core.data.sync.serverNode(of: target)
      let data = store.model.data[entry.id] ?? .empty
      if data != known {
        return "\(target.path) \(target.query.id) is \(known.json(.export).text),"
          + " kept as \(data.json(.export).text)"
      }
    }
    return nil
  }

  private mutating func act() -> String? {
    defer { states.insert(server.tree[record].hash) }
    switch random.below(64) {
    case 0: return crash()
    case 1: return lose()
    case 2...4: return write(.set(.leaf(.deferred(.incrementInteger(1)))), at: "n")
    case 5...8: return write(.set(node()), at: place())
    case 9...10:
      let changes = [Change(Path([key()]), to: node()), Change(Path([key(), key()]), to: node())]
      let isLegal = !changes[0].path.contains(changes[1].path)
      return write(.merge(isLegal ? changes : [changes[0]]), at: "p")
    case 11...13:
      server.write([Change(place(), to: node())], id: nil)
      return nil
    case 14...16: return observe()
    case 17...18:
      guard let listener = listeners.keys.min(by: { $0.number < $1.number }) else { return nil }
      listeners[listener] = nil
      return feed(.stopObserving(listener))
    case 19: return feed(.storeSize(random.once(in: 3) ? .max : 0))
    case 20...22:
      let node = Node.leaf(.integer(makeNumber()))
      let fields: [Path] = ["x", "y", "z"]
      server.write(fields.map { Change(record.appending($0), to: node) }, id: nil)
      return nil
    case 23...24 where writesRecord:
      let node = Node.leaf(.integer(makeNumber()))
      return write(.merge([Change("x", to: node), Change("y", to: node)]), at: record)
    case _: return move()
    }
  }

  private mutating func key() -> ChildKey { random.pick(["a", "b", "c", "1", "20"]) }

  private mutating func place() -> Path {
    var path = Path([random.pick(["p", "q"]), key()])
    if random.once(in: 3) { path = path.appending(key()) }
    if random.once(in: 8) { path = path.appending(.priority) }
    return random.once(in: 10) ? Path(path.keys.prefix(1)) : path
  }

  private mutating func node() -> Node {
    switch random.below(5) {
    case 0: .empty
    case 1: Node.empty.setting(Path([key()]), to: .integer(Int64(random.below(9))))
    case _: .integer(Int64(random.below(9)))
    }
  }

  private mutating func makeNumber() -> Int64 {
    last += 1
    return last
  }

  /// Observes all records in an order of their own, for as long as the process lives.
  private mutating func observeRecords() -> String? {
    let query = Query(index: .key, start: QueryBound(.string("a")))
    let listener = ListenerID(makeNumber())
    return feed(.observe(listener, path: "r", query: query, events: [.value]))
  }

  private mutating func observe() -> String? {
    last += 1
    let query: Query = random.pick([
      .all, Query(index: .key, limit: Query.Limit(2, side: .last)),
      Query(index: .value, limit: Query.Limit(2, side: .first)),
      Query(index: .key, start: QueryBound(.string("b"))),
      Query(index: .value, start: QueryBound(.integer(4))),
    ])
    var path: Path = random.pick(["p", "q", "n", "p/a"])
    if !writesRecord, random.once(in: 8) { path = .root }
    if !query.loadsAllData, random.once(in: 3) { path = "r" }
    let listener = ListenerID(last)
    listeners[listener] = QuerySpec(path: path, query: query)
    return feed(.observe(listener, path: path, query: query, events: [.value]))
  }

  private mutating func write(_ operation: WriteOperation, at path: Path) -> String? {
    // A priority is a leaf.
    if path.isPriority {
      let priority = WriteOperation.set(.integer(Int64(random.below(3))))
      last += 1
      return feed(.write(RequestToken(last), path: path, priority))
    }
    last += 1
    return feed(.write(RequestToken(last), path: path, operation))
  }

  // MARK: Crashes and connections

  private mutating func crash() -> String? {
    store.harden(random.below(store.unsafeBatches + 1))
    store = store.crashed()
    disconnect()
    listeners = [:]
    process += 1
    let configuration = RepoConfiguration(clientID: "p\(process)", statisticsName: "t")
    core = RepoCore(configuration: configuration)
    let store = store
    core.restore(store.model.state) { store.data(of: $0) }
    return mixture() ?? observeRecords()
  }

  /// Describes a stored record that is not as it ever was.
  private func mixture() -> String? {
    var core = core
    guard core.pendingWriteCount == 0 else { return nil }
    for entry in store.model.queries.values where entry.path == record.parent {
      let node = core.knownValue(at: entry.path, query: entry.query)?.node ?? .empty
      if !states.contains(node[ChildKey("a")].hash) {
        return "\(entry.query.id) of the records is \(node.json(.export).text)"
      }
    }
    return nil
  }

  private mutating func disconnect() {
    connection = nil
    asked = []
    requests = [:]
    server.disconnect()
  }

  private mutating func lose() -> String? {
    guard let id = connection else { return nil }
    disconnect()
    return feed(.transportClosed(id, reason: "lost"))
  }

  /// Lets the server handle a request, or the client a message from the server.
  private mutating func move() -> String? {
    guard let id = connection else {
      if case .waiting(let until) = core.phase {
        time.monotonic = max(time.monotonic, until)
        _ = feed(.timerFired(.reconnect))
      } else {
        _ = feed(.goOnline(.user))
      }
      return nil
    }
    if asked.isEmpty || random.once(in: 2), let group = server.takeGroup() {
      for message in group.messages {
        if connection == id, let problem = deliver(message, on: id) { return problem }
      }
      return nil
    }
    if !asked.isEmpty { serve(asked.removeFirst()) }
    return nil
  }

  private mutating func serve(_ next: (id: Int64, request: ClientRequest)) {
    switch next.request {
    case .listen(let listen):
      let target = ListenTarget(path: listen.path, query: listen.query, tag: listen.tag)
      requests[target] = next.id
      server.listen(target, hash: listen.hash)
    case .unlisten(let path, let query, let tag):
      server.unlisten(ListenTarget(path: path, query: query, tag: tag))
    case .write(let write):
      guard let key = write.key else { return }
      if applied.contains(key) { return server.write([], id: next.id) }
      applied.append(key)
      server.write(parts(write), id: next.id)
    case .stats, .authenticate, .unauthenticate, .appCheck, .get, .onDisconnect,
      .cancelOnDisconnect, .unknown:
      return
    }
  }

  private mutating func parts(_ write: WriteRequest) -> [Change] {
    switch write.operation {
    case .merge(let changes):
      return changes.map { Change(write.path.appending($0.path), to: $0.node) }
    case .set(let node):
      guard node.hasDeferredValues else { return [Change(write.path, to: node)] }
      count += 1
      let value = node.resolvingDeferred(existing: server.tree[write.path], timestamp: 0)
      return [Change(write.path, to: value)]
    }
  }

  private mutating func deliver(_ message: ModelServer.Message, on id: ConnectionID) -> String? {
    switch message {
    case .data(let path, let node, let tag):
      return feed(.message(id, .push(.data(path: path, node, tag: tag))))
    case .merge(let path, let changes, let tag):
      return feed(.message(id, .push(.merge(path: path, changes, tag: tag))))
    case .listenComplete(let target):
      guard let request = requests.removeValue(forKey: target) else { return nil }
      return feed(.message(id, .response(id: request, ServerMessage.Response(.ok))))
    case .answer(let request, let isAccepted):
      let response = ServerMessage.Response(isAccepted ? .ok : .permissionDenied)
      return feed(.message(id, .response(id: request, response)))
    }
  }

  private mutating func feed(_ input: RepoInput) -> String? {
    time.wall += 1
    var connects: ConnectionID?
    for output in core.handle(input, at: time) {
      switch output {
      case .connect(let id, _): connects = id
      case .disconnect: disconnect()
      case .send(_, .request(let id, let request)): asked.append((id, request))
      case .persist(let changes): store.perform(changes)
      case .writeCompleted(_, let outcome):
        if outcome.status != .ok { return "a write ended with \(outcome)" }
      case .send, .sendKeepalive, .schedule, .cancelTimer, .raise, .listenerCancelled,
        .getCompleted, .transactionCompleted, .credentialRejected, .credentialAccepted, .log:
        continue
      }
    }
    guard let id = connects else { return nil }
    connection = id
    let hello = ServerHello(timestamp: 0, host: "h", session: "s", extensions: [.writeOnce])
    return feed(.message(id, .hello(hello)))
  }
}
