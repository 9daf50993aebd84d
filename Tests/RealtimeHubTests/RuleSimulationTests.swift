import RealtimeCore
import RealtimeServer
import TestSupport
import Testing

/// Random rules, sign-ins and writes, with peers that check everything they receive.
struct RuleSimulation {
  private struct Listen: Hashable {
    let path: Path
    let query: Query
    let tag: Int64?
  }

  private struct Client {
    var user: String?
    var copies: [Listen: Node] = [:]
  }

  private static let admin = PeerID(99)
  private static let queries: [Query] = [
    .all, .all, Query(index: .key, limit: Query.Limit(1, side: .first)),
    Query(index: .value, limit: Query.Limit(3, side: .first)),
  ]

  private var random: SplitMix64
  private var rules: RandomRules
  private var hub: TreeHub
  private var root: Node
  private var clients: [PeerID: Client] = [:]
  private var now: Int64 = 0
  private var request: Int64 = 0
  /// How often each event occurred that a run is meant to reach.
  private(set) var marks: [String: Int] = [:]

  init(seed: UInt64) throws {
    random = SplitMix64(seed: seed)
    rules = RandomRules(&random)
    root = try Node(json: JSONParser.parse(#"{"a":{"x":1,"y":2},"b":{"x":3},"flag":true}"#))
    hub = TreeHub(
      stored: StoredTree(root: root, rules: rules.source),
      verifier: TestVerifier()
    )
    #expect(hub.storedRulesProblem == nil, "\(rules.source)")
    hub.open(Self.admin, as: .administrator)
    for number in 0..<4 {
      hub.open(PeerID(number))
      clients[PeerID(number)] = Client()
    }
  }

  mutating func step() throws {
    now += 1
    let peer = PeerID(random.below(4))
    switch random.below(24) {
    case 0: try changeRules()
    case 1, 2: try signIn(peer)
    case 3...8: try listen(peer)
    case 9: try get(peer)
    default: try write(random.below(2) == 0 ? peer : Self.admin)
    }
    check()
  }

  // MARK: What is asked

  private mutating func changeRules() throws {
    rules = RandomRules(&random)
    request += 1
    let outputs = hub.setRules(source: rules.source, by: Self.admin, request: request, at: now)
    #expect(outputs == [])
    let forbidden = clients.mapValues { client in client.copies.keys.filter { !mayRead($0, client) }
    }
    let told = try receive(commit())
    #expect(told.statuses == [request: .ok])
    for (peer, listens) in forbidden { #expect(told.revoked[peer, default: []] == Set(listens)) }
  }

  private mutating func signIn(_ peer: PeerID) throws {
    let user = [nil, "ann", "bob"][random.below(3)]
    clients[peer]?.user = user
    let client = clients[peer] ?? Client()
    let forbidden = Set(client.copies.keys.filter { !mayRead($0, client) })
    let told = try ask(
      user.map { .authenticate(.init(credential: $0)) } ?? .unauthenticate,
      from: peer
    )
    #expect(told.revoked == (forbidden.isEmpty ? [:] : [peer: forbidden]))
  }

  private mutating func listen(_ peer: PeerID) throws {
    let place = random.below(RandomRules.places.count)
    let path = RandomRules.places[place]
    let query = Self.queries[random.below(Self.queries.count)]
    let tag = query.limit.map { Int64($0.count * 100 + place) }
    let listen = Listen(path: path, query: query, tag: tag)
    let client = clients[peer] ?? Client()
    let isAllowed = mayRead(listen, client)
    // The peer's copy is discarded, so that the response must contain the data again.
    clients[peer]?.copies[listen] = isAllowed ? .empty : nil
    let told = try ask(
      .listen(ListenRequest(path: path, query: query, tag: tag)),
      from: peer
    )
    #expect(told.statuses.values.first == (isAllowed ? .ok : .permissionDenied))
    if !isAllowed { #expect(told.pushes == 0) }
  }

  private mutating func get(_ peer: PeerID) throws {
    let path = RandomRules.places[random.below(RandomRules.places.count)]
    let isAllowed = mayRead(Listen(path: path, query: .all, tag: nil), clients[peer] ?? Client())
    let told = try ask(.get(path: path, query: .all), from: peer)
    #expect(told.statuses.values.first == (isAllowed ? .ok : .permissionDenied))
  }

  private mutating func write(_ peer: PeerID) throws {
    let path = RandomRules.places.filter { !$0.isRoot }[random.below(RandomRules.places.count - 1)]
    let node: Node =
      switch random.below(path == "flag" ? 2 : 5) {
      case 0: .bool(true)
      case 1: .bool(false)
      case 2: .empty
      case 3: .integer(Int64(random.below(3)))
      default: Node.empty.setting("x" as ChildKey, to: .integer(Int64(random.below(5))))
      }
    var after = root
    after.update(at: path, to: node)
    let question = RuleQuestion(
      user: clients[peer]?.user,
      path: path,
      query: .all,
      root: root,
      newRoot: after,
      now: now
    )
    let isAllowed = peer == Self.admin || rules.canWrite(question)
    if isAllowed { root = after }
    mark(isAllowed ? "write" : "denied write")
    let told = try ask(.write(WriteRequest(path: path, operation: .set(node))), from: peer)
    #expect(
      told.statuses.values.first == (isAllowed ? .ok : .permissionDenied),
      "\(path) \(node.json(.export).text) in \(rules.source)"
    )
    if !told.revoked.isEmpty { mark("revoked by data") }
    for (peer, listens) in told.revoked {
      for listen in listens { #expect(!mayRead(listen, clients[peer] ?? Client())) }
    }
  }

  // MARK: What is told

  private struct Told {
    var statuses: [Int64: StatusCode] = [:]
    var revoked: [PeerID: Set<Listen>] = [:]
    var pushes = 0
  }

  private mutating func ask(_ question: ClientRequest, from peer: PeerID) throws -> Told {
    request += 1
    let outputs = hub.handle(.request(id: request, question), from: peer, at: now)
    return try receive(outputs + commit())
  }

  private mutating func commit() -> [HubOutput] {
    hub.takeBatch() == nil ? [] : hub.batchCommitted()
  }

  private static func messages(of output: HubOutput) -> [(peer: PeerID, bytes: [UInt8])] {
    switch output {
    case .send(let peer, let message): [(peer, message.bytes)]
    case .broadcast(let peers, let message): peers.map { ($0, message.bytes) }
    case .compose(let peer, let composition):
      composition.composed().messages.map { (peer, $0.bytes) }
    case .deliver, .disconnect: []
    }
  }

  private mutating func receive(_ outputs: [HubOutput]) throws -> Told {
    var told = Told()
    for (peer, bytes) in outputs.flatMap(Self.messages) {
      switch try ServerMessage(decoding: bytes) {
      case .response(let id, let response): told.statuses[id] = response.status
      case .push(.data(let path, let node, let tag)):
        told.pushes += 1
        apply(path, node, tag, to: peer)
      case .push(.merge(let path, let changes, let tag)):
        told.pushes += 1
        for change in changes { apply(path.appending(change.path), change.node, tag, to: peer) }
      case .push(.listenRevoked(let path, let queries)):
        let revoked = clients[peer]?.copies.keys.filter {
          $0.path == path && (queries ?? [.all]).contains($0.query)
        }
        #expect(revoked?.count == 1)
        for listen in revoked ?? [] {
          clients[peer]?.copies[listen] = nil
          told.revoked[peer, default: []].insert(listen)
        }
        mark("revoked")
      case .push, .hello, .reset, .shutdown, .error, .pong: Issue.record("an unexpected message")
      }
    }
    return told
  }

  /// Applies data, which must be for a listen and currently readable.
  private mutating func apply(_ path: Path, _ node: Node, _ tag: Int64?, to peer: PeerID) {
    guard let client = clients[peer] else { return }
    var isWanted = false
    for (listen, copy) in client.copies where listen.tag == tag && listen.path.overlaps(path) {
      isWanted = isWanted || mayRead(listen, client)
      var copy = copy
      if let relative = path.relative(to: listen.path) {
        copy.update(at: relative, to: node)
      } else if let relative = listen.path.relative(to: path) {
        copy = node[relative]
      }
      clients[peer]?.copies[listen] = copy
    }
    #expect(isWanted, "data at \(path) that nobody may read, by \(rules.source)")
    mark("push")
  }

  /// Checks that every remaining listen has the current data.
  private func check() {
    for (_, client) in clients {
      for (listen, copy) in client.copies {
        #expect(copy == listen.query.evaluate(root[listen.path]))
      }
    }
  }

  private func mayRead(_ listen: Listen, _ client: Client) -> Bool {
    rules.canRead(
      RuleQuestion(
        user: client.user,
        path: listen.path,
        query: listen.query,
        root: root,
        newRoot: root,
        now: now
      )
    )
  }

  private mutating func mark(_ name: String) { marks[name, default: 0] += 1 }
}

@Suite("TreeHub: random rules")
struct RuleSimulationTests {
  @Test(
    "Peers receive exactly what they may read, and lose what they may not",
    arguments: Thoroughness.seeds(10)
  )
  func run(seed: UInt64) throws {
    for run in 0..<UInt64(20) {
      var simulation = try RuleSimulation(seed: seed &* 1_000 &+ run)
      for _ in 0..<200 { try simulation.step() }
    }
  }

  @Test("The runs cover the intended situations")
  func coverage() throws {
    var marks: [String: Int] = [:]
    for seed in 0..<20 {
      var simulation = try RuleSimulation(seed: UInt64(seed))
      for _ in 0..<200 { try simulation.step() }
      marks.merge(simulation.marks) { $0 + $1 }
    }
    for name in ["write", "denied write", "push", "revoked", "revoked by data"] {
      #expect(marks[name, default: 0] > 10, "\(marks)")
    }
  }
}
