import RealtimeCore
import RealtimeDatabase
import RealtimeServer
import TestSupport

/// Several engines, one hub with its store, and the network between them, in virtual time.
///
/// Everything follows from the seed: runs with the same seed are identical.
struct Simulation {
  enum Event: Sendable {
    case accept(link: Int)
    case up(link: Int, ClientMessage)
    case down(link: Int, ServerMessage)
    case clientNotices(link: Int)
    case serverNotices(link: Int)
    case timer(client: Int, incarnation: Int, RepoTimer, generation: Int)
    case act(client: Int)
    case disturb
    case takeBatch(epoch: Int)
    case batchDone(epoch: Int)
    case startServer
  }

  enum BatcherPhase {
    case idle
    case scheduled
  }

  /// How long it may then take until everything is at rest.
  static let patience: Int64 = 900_000

  let seed: UInt64
  let fault: Fault?
  /// How long clients act and the network is disturbed, in virtual milliseconds.
  let duration: Int64
  var random: SplitMix64
  var faultRandom: SplitMix64
  var now: Int64 = 0
  var agenda = Agenda<Event>()
  var clients: [SimulatedClient] = []
  var links: [Link] = []
  /// The time until which a client's connections do not reach the server.
  var isolatedUntil: [Int: Int64] = [:]
  /// Whether disturbances have ended for good.
  var isHealing = false
  /// Whether a connection ends the previous one, as clients request.
  let retiresConnections: Bool

  var hub: TreeHub
  var isServerUp = true
  var serverEpoch = 0
  var batcher = BatcherPhase.idle
  /// The batches that the store is committing together.
  var storing: [CommitBatch] = []
  /// The batches that it will commit next.
  var waiting: [CommitBatch] = []
  var store: SimulatedStore
  var journal = DisconnectJournal()
  var linkOfPeer: [PeerID: Int] = [:]
  var decoded: (bytes: [UInt8], message: ServerMessage)?

  var requests: [RequestToken: TrackedRequest] = [:]
  var lastNumber: Int64 = 0
  /// How often each unique text occurs in the durable history.
  var durableIDs: [String: Int] = [:]
  /// How often each event occurred, to check that runs reach what they are meant to reach.
  var marks: [String: Int] = [:]
  /// The first problem found.
  var problem: String?

  init(seed: UInt64, fault: Fault? = nil) {
    self.seed = seed
    self.fault = fault
    random = SplitMix64(seed: seed)
    faultRandom = SplitMix64(seed: seed &+ 1)
    duration = random.once(in: 12) ? 20_000 : 5_000
    store = SimulatedStore(Self.makeData(isLarge: random.once(in: 3)))
    hub = TreeHub(stored: store.stored)
    retiresConnections = random.once(in: 2)
    for number in 0..<(2 + random.below(5)) {
      let skew = Int64(random.below(10_000)) - 5_000
      clients.append(SimulatedClient(number: number, incarnation: 0, skew: skew))
      agenda.add(.act(client: number), at: Int64(random.below(500)))
    }
    agenda.add(.disturb, at: Int64(random.below(2_000)))
  }

  private static func makeData(isLarge: Bool) -> Node {
    var root = Node.empty
    for name in ["p0", "p1"] {
      root.update(at: Path(wire: "posts/\(name)/title"), to: .integer(0))
      root.update(at: Path(wire: "posts/\(name)/starCount"), to: .integer(0))
    }
    // Large enough for ranges to be sent instead of all data.
    for number in 0..<(isLarge ? 50 : 0) {
      root.update(at: Path(wire: "log/f\(number)"), to: .string("from the beginning"))
    }
    return root
  }

  /// Runs to the end and returns what is wrong, or nil.
  mutating func run() -> String? {
    runEvents { $0.now >= $0.duration }
    isHealing = true
    isolatedUntil = [:]
    store.failsUntil = 0
    if let problem { return problem }
    let limit = now + Self.patience
    runEvents { $0.isAtRest || $0.now > limit }
    if let problem { return problem }
    if !isAtRest { return "does not come to rest: \(restlessness)" }
    if let problem = verdict() { return problem }
    return endConnections()
  }

  private mutating func endConnections() -> String? {
    if random.once(in: 3) { crash(for: 50) }
    for index in clients.indices { feed(index, .goOffline(.user)) }
    let limit = now + Self.patience
    runEvents { $0.isServerAtRest && $0.linkOfPeer.isEmpty || $0.now > limit }
    return problem ?? disconnectVerdict()
  }

  private mutating func runEvents(until isDone: (Simulation) -> Bool) {
    while problem == nil, !isDone(self), let (time, event) = agenda.next() {
      now = max(now, time)
      perform(event)
    }
  }

  private mutating func perform(_ event: Event) {
    switch event {
    case .accept(let link): accept(link)
    case .up(let link, let message): arrived(message, up: link)
    case .down(let link, let message): arrived(message, down: link)
    case .clientNotices(let link): clientNotices(link)
    case .serverNotices(let link): serverNotices(link)
    case .timer(let client, let incarnation, let timer, let generation):
      guard clients[client].incarnation == incarnation,
        clients[client].timers[timer] == generation
      else { return }
      clients[client].timers[timer] = nil
      feed(client, .timerFired(timer))
    case .act(let client): act(client)
    case .disturb: disturb()
    case .takeBatch(let epoch): if epoch == serverEpoch { takeBatch() }
    case .batchDone(let epoch): if epoch == serverEpoch { batchDone() }
    case .startServer: startServer()
    }
  }

  mutating func fail(_ text: String) {
    if problem == nil { problem = "\(text) (at \(now) ms)" }
  }

  mutating func mark(_ name: String) {
    marks[name, default: 0] += 1
  }

  /// Whether the fault of this run strikes at this point.
  mutating func strikes(_ candidate: Fault) -> Bool {
    fault == candidate && !isHealing && faultRandom.once(in: 3)
  }

  mutating func makeNumber() -> Int64 {
    lastNumber += 1
    return lastNumber
  }
}

/// Pending events in the order of virtual time; events at the same time keep their order of
/// insertion.
struct Agenda<Event: Sendable> {
  private struct Moment: Comparable, Sendable {
    let time: Int64
    let number: Int

    static func < (left: Moment, right: Moment) -> Bool {
      (left.time, left.number) < (right.time, right.number)
    }
  }

  private var events = SortedMap<Moment, Event>()
  private var lastNumber = 0

  mutating func add(_ event: Event, at time: Int64) {
    lastNumber += 1
    events.updateValue(event, forKey: Moment(time: time, number: lastNumber))
  }

  mutating func next() -> (time: Int64, event: Event)? {
    guard let (moment, event) = events.first else { return nil }
    events.removeValue(forKey: moment)
    return (moment.time, event)
  }
}

/// A bug injected on purpose, to check that it is detected.
enum Fault: CaseIterable, Sendable {
  /// A write is acknowledged but not applied.
  case lostUpdate
  /// A push is never sent.
  case droppedEvent
  /// A write is applied a second time, without the key that would reveal it.
  case doubledWrite
  /// A read is answered with data that was replaced long ago.
  case staleRead
  /// Only the first path of a multi-path update is written.
  case halfUpdate
  /// Outputs are sent before the store has committed their batch.
  case earlyAcknowledgement
  /// A completion is called twice.
  case doubledCompletion
  /// A listener is not told about a child.
  case missingChildEvent
  /// Scheduled disconnect writes are forgotten when the server restarts.
  case forgottenDisconnect
  /// The server continues as if none of a batch were stored, when that is unknown.
  case presumedFailure
}

/// One connection through the network: ordered in both directions; each end may notice its loss
/// late.
struct Link {
  /// One direction of a link.
  struct Way {
    /// When the last message sent will arrive.
    var lastArrival: Int64 = 0
    /// The time until which everything sent is held up.
    var blockedUntil: Int64 = 0
    /// The time from which on nothing arrives.
    var cutAt: Int64 = .max
    /// The number of messages in transit.
    var inFlight = 0

    /// The arrival time of a message that is sent at this moment.
    mutating func arrival(now: Int64, delay: Int64) -> Int64 {
      lastArrival = max(lastArrival, now + delay, blockedUntil)
      return lastArrival
    }
  }

  let client: Int
  let incarnation: Int
  let connection: ConnectionID
  let peer: PeerID
  let delay: Int64
  var up = Way()
  var down = Way()
  var isClientOpen = true
  /// Whether the server has accepted the connection and not closed it.
  var isServerOpen = false
  /// The previous connection, as the client names it to the server.
  var previous: PeerID?

  /// Whether nothing is in transit or still to be noticed.
  var isQuiet: Bool {
    if !isClientOpen, !isServerOpen { return true }
    let isWhole = up.cutAt == .max && down.cutAt == .max
    return isClientOpen && isServerOpen && isWhole && up.inFlight + down.inFlight == 0
  }
}

extension Node {
  /// The node at a path written as text.
  subscript(at path: String) -> Node { self[Path(wire: path)] }

  /// This node with different data at a path written as text.
  func with(_ path: String, _ node: Node) -> Node { setting(Path(wire: path), to: node) }

  /// The unique texts that are leaves of this node.
  var uniqueTexts: [String] {
    switch self {
    case .empty: return []
    case .leaf(.string(let text), _): return text.first == "w" ? [text] : []
    case .leaf: return []
    case .children(let children): return children.map.flatMap { $0.value.uniqueTexts }
    }
  }
}
