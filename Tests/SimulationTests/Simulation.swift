import RealtimeCore
import RealtimeHub
import RealtimeSync
import TestSupport

/// Several engines, one hub with its store, and the network between them, in virtual time.
///
/// Everything follows from the seed: two runs with the same seed are the same run.
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

  /// How long everything may then take to come to rest.
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
  /// Until when no connection of a client reaches the server.
  var isolatedUntil: [Int: Int64] = [:]
  /// Whether everything is left alone from now on.
  var isHealing = false
  /// Whether a connection ends the one before it, as clients ask for.
  let retiresConnections: Bool

  var hub: TreeHub
  var isServerUp = true
  var serverEpoch = 0
  var batcher = BatcherPhase.idle
  /// The batches that the store has been given as one.
  var storing: [CommitBatch] = []
  /// Those that it will be given next.
  var waiting: [CommitBatch] = []
  var store: SimulatedStore
  var journal = DisconnectJournal()
  var linkOfPeer: [PeerID: Int] = [:]
  var decoded: (bytes: [UInt8], message: ServerMessage)?

  var requests: [RequestToken: TrackedRequest] = [:]
  var lastNumber: Int64 = 0
  /// How often each unique text is in the durable history.
  var durableIDs: [String: Int] = [:]
  /// What happened how often, to see that runs reach what they are meant to reach.
  var marks: [String: Int] = [:]
  /// The first thing that went wrong.
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
    // Large enough for ranges to be told instead of all data.
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

  /// Whether the fault of this run strikes now.
  mutating func strikes(_ candidate: Fault) -> Bool {
    fault == candidate && !isHealing && faultRandom.once(in: 3)
  }

  mutating func makeNumber() -> Int64 {
    lastNumber += 1
    return lastNumber
  }
}

/// What is to happen, in the order of virtual time; equal times keep the order they came in.
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

/// A bug that a run puts in on purpose, to see that the checks find it.
enum Fault: CaseIterable, Sendable {
  /// A write is answered and not applied.
  case lostUpdate
  /// A push never leaves.
  case droppedEvent
  /// A write is applied a second time, without the key that would tell.
  case doubledWrite
  /// A read is answered with data that were replaced long ago.
  case staleRead
  /// Only the first place of a multi-path update is written.
  case halfUpdate
  /// Outputs leave before the store has their batch.
  case earlyAcknowledgement
  /// A completion is called twice.
  case doubledCompletion
  /// A listener does not hear of a child.
  case missingChildEvent
  /// What was scheduled for the end of a connection is forgotten when the server restarts.
  case forgottenDisconnect
  /// The server goes on as if nothing of a batch were stored, when nobody knows whether it is.
  case presumedFailure
}

/// One connection through the network: in order both ways, each end may learn late that it is gone.
struct Link {
  /// One way through a link.
  struct Way {
    /// When the last message sent arrives.
    var lastArrival: Int64 = 0
    /// Until when everything sent is held up.
    var blockedUntil: Int64 = 0
    /// From when on nothing arrives.
    var cutAt: Int64 = .max
    /// The number of messages on their way.
    var inFlight = 0

    /// When a message sent now arrives.
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
  /// Whether the server has accepted and has not closed it.
  var isServerOpen = false
  /// The connection before, as the client names it to the server.
  var previous: PeerID?

  /// Whether nothing is under way, nor still to be noticed.
  var isQuiet: Bool {
    if !isClientOpen, !isServerOpen { return true }
    let isWhole = up.cutAt == .max && down.cutAt == .max
    return isClientOpen && isServerOpen && isWhole && up.inFlight + down.inFlight == 0
  }
}

extension Node {
  /// The node at a path written as text.
  subscript(at path: String) -> Node { self[Path(wire: path)] }

  /// This node with other data at a path written as text.
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
