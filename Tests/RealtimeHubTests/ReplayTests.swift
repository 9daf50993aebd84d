import RealtimeCore
import RealtimeServer
import TestSupport
import Testing

/// Random peers, writes, batches and failures, checked after every step.
struct ReplaySimulation {
  var world: RandomWorld
  var hub: TreeHub
  /// The content of a store.
  var stored: StoredTree
  var clients: [PeerID: ReplayClient] = [:]
  var inFlight: [CommitBatch] = []
  var nextPeer = 0
  var nextRequest: Int64 = 0
  var time: Int64 = 1_000
  /// The numbers of the requests that were sent; clients may get answers only to these.
  var asked: Set<Int64> = []

  init(seed: UInt64) {
    world = RandomWorld(random: SplitMix64(seed: seed))
    stored = StoredTree(root: world.node())
    hub = TreeHub(stored: stored)
    for _ in 0..<3 { connect() }
  }

  mutating func connect() {
    let peer = PeerID(nextPeer)
    nextPeer += 1
    hub.open(peer)
    clients[peer] = ReplayClient()
  }

  mutating func anyPeer() -> PeerID {
    let peers = clients.keys.sorted()
    return peers[world.below(peers.count)]
  }

  mutating func step(canFail: Bool) throws {
    time += 1
    switch world.below(canFail ? 16 : 12) {
    case 0: try listen(anyPeer())
    case 1: try unlisten(anyPeer())
    case 2...7: try write(anyPeer())
    case 8...10: try takeOrCommit()
    case 11: try schedule(anyPeer())
    case 12: try close(anyPeer())
    case 13: try fail()
    default: try takeOrCommit()
    }
    check()
  }

  mutating func send(_ request: ClientRequest, from peer: PeerID) throws {
    nextRequest += 1
    let encoded = ClientMessage.request(id: nextRequest, request).encoded()
    let message = try ClientMessage(decoding: encoded)
    asked.insert(nextRequest)
    try deliver(hub.handle(message, from: peer, at: time))
  }

  mutating func deliver(_ outputs: [HubOutput]) throws {
    for output in outputs {
      switch output {
      case .send(let peer, let message): try clients[peer]?.receive(message.bytes)
      case .broadcast(let peers, let message):
        for peer in peers { try clients[peer]?.receive(message.bytes) }
      case .compose(let peer, let composition):
        for message in composition.composed().messages { try clients[peer]?.receive(message.bytes) }
      case .deliver(let peer, let message): try clients[peer]?.receive(message.encoded())
      case .disconnect(let peer, _): try close(peer)
      }
    }
  }

  mutating func close(_ peer: PeerID) throws {
    clients[peer] = nil
    try deliver(hub.close(peer, at: time))
    connect()
  }

  mutating func listen(_ peer: PeerID) throws {
    let path = RandomWorld.places[world.below(RandomWorld.places.count)]
    let query = world.below(3) == 0 ? Query.all : world.query()
    let present = clients[peer]?.listens.values.contains { $0.path == path && $0.query == query }
    if present == true { return }
    let tag = query.isDefault ? nil : nextRequest + 1_000
    let listen = ReplayClient.Listen(path: path, query: query, tag: tag, node: .empty)
    clients[peer]?.start(listen, request: nextRequest + 1)
    try send(.listen(ListenRequest(path: path, query: query, tag: tag)), from: peer)
  }

  mutating func unlisten(_ peer: PeerID) throws {
    let listens = clients[peer]?.listens.sorted { $0.key < $1.key } ?? []
    guard !listens.isEmpty else { return }
    let (request, listen) = listens[world.below(listens.count)]
    try send(.unlisten(path: listen.path, query: listen.query, tag: listen.tag), from: peer)
    clients[peer]?.stop(request)
  }

  mutating func write(_ peer: PeerID) throws {
    let (path, operation) = world.write(on: hub.snapshot)
    try send(.write(WriteRequest(path: path, operation: operation)), from: peer)
  }

  mutating func schedule(_ peer: PeerID) throws {
    let (path, operation) = world.write(on: hub.snapshot)
    try send(.onDisconnect(path: path, operation), from: peer)
  }

  mutating func takeOrCommit() throws {
    if inFlight.isEmpty || (inFlight.count < 3 && world.below(2) == 0) {
      if let batch = hub.takeBatch() { inFlight.append(batch) }
      #expect(hub.takeBatch() == nil)
      return
    }
    let count = 1 + world.below(inFlight.count)
    for commit in CommitBatch(joining: Array(inFlight.prefix(count))).commits {
      for change in commit.changes { stored.root.update(at: change.path, to: change.node) }
      stored.revision = commit.revision
    }
    inFlight.removeFirst(count)
    try deliver(hub.batchCommitted(count))
  }

  mutating func fail() throws {
    guard !inFlight.isEmpty else { return }
    inFlight = []
    try deliver(hub.batchFailed(StoreError(.full, description: "no"), at: time))
  }

  mutating func settle() throws {
    while !inFlight.isEmpty || hub.hasPendingCommits { try takeOrCommit() }
  }

  /// Checks that every listener knows exactly what is durable: nothing less, and nothing more.
  mutating func check() {
    #expect(hub.snapshot == stored.root)
    #expect(hub.revision == stored.revision)
    for (peer, client) in clients {
      for listen in client.listens.values where listen.isComplete {
        let expected = listen.query.evaluate(stored.root[listen.path])
        #expect(listen.node == expected, "\(peer) at \(listen.path) \(listen.query.id)")
      }
    }
  }
}

@Suite("TreeHub: pushes to clients")
struct ReplayTests {
  @Test(
    "Replayed pushes always yield the durable result of each query",
    arguments: Thoroughness.seeds(200)
  )
  func replay(seed: UInt64) throws {
    var simulation = ReplaySimulation(seed: seed)
    for _ in 0..<150 { try simulation.step(canFail: false) }
    try simulation.settle()
    simulation.check()
  }

  @Test(
    "Replayed pushes stay correct when batches fail and connections end",
    arguments: Thoroughness.seeds(200)
  )
  func replayWithFailures(seed: UInt64) throws {
    var simulation = ReplaySimulation(seed: seed + 1_000)
    for _ in 0..<150 { try simulation.step(canFail: true) }
    try simulation.settle()
    simulation.check()
    for (_, client) in simulation.clients {
      #expect(Set(client.answers.keys).isSubset(of: simulation.asked))
    }
  }
}
