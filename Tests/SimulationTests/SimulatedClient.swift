import OfflineTestSupport
import RealtimeCore
import RealtimeDatabase
import RealtimeServer

/// One engine with its surroundings: its timers, its connections and its listeners.
struct SimulatedClient {
  /// The number of starts of the program that the engine is part of.
  var incarnation: Int
  var core: RepoCore
  /// The offset of its clock.
  let skew: Int64
  /// The link of its connection, and that of the spare connection while the first is silent.
  var links: [ConnectionID: Int] = [:]
  /// The peer of the previous connection, which the next one names to the server.
  var lastPeer: PeerID?
  var timers: [RepoTimer: Int] = [:]
  var listeners: [ListenerID: ListenerLog] = [:]
  /// The events of the input that is being handled.
  var raised: [ListenerID: [DataEvent]] = [:]
  /// The writes it has scheduled for a disconnection.
  var scheduled: [Path] = []
  /// The number of requests without a completion.
  var openRequests = 0

  init(number: Int, incarnation: Int, skew: Int64) {
    self.incarnation = incarnation
    self.skew = skew
    var configuration = RepoConfiguration(
      clientID: "c\(number)-\(incarnation)",
      statisticsName: "sdk.test"
    )
    configuration.maximumReconnectDelay = 4_000
    configuration.opensSpares = true
    core = RepoCore(configuration: configuration)
  }
}

/// One request of a client, with what must hold in the end.
struct TrackedRequest {
  enum Purpose {
    /// A write of unique texts.
    case write(ids: [String])
    /// An increment of a counter, together with a unique text that shows whether it was applied.
    case count(counter: ChildKey, amount: Int64, id: String)
    /// A transaction that adds a unique entry to a tally.
    case tally(place: Path, entry: ChildKey)
    /// A read, with the durable revision at its start.
    case get(path: Path, query: Query, revision: Int64)
    /// Anything else, by name.
    case other(String)
  }

  let client: Int
  let purpose: Purpose
  var outcome: StatusCode?
  var isCommitted = false

  /// The unique texts that the request writes.
  var ids: [String] {
    switch purpose {
    case .write(let ids): ids
    case .count(_, _, let id): [id]
    case .tally, .get, .other: []
    }
  }
}

/// Replays the events of one listener, as a list on a screen would.
struct ListenerLog {
  let path: Path
  let query: Query
  private var children = ReplayedChildren()
  /// The durable revision that matched the last value.
  var revision: Int64 = 0
  private var operation: [DataEvent] = []

  init(path: Path, query: Query) {
    self.path = path
    self.query = query
  }

  /// Applies the events of one input and returns what is wrong with them, or nil.
  mutating func replay(_ events: [DataEvent]) -> String? {
    // One input may consist of several operations; each ends with its value event, apart from the
    // first ones.
    for event in events {
      if let last = operation.last, event.kind.precedes(last.kind) || last.kind == .value {
        if let problem = replayOperation() { return problem }
      }
      operation.append(event)
    }
    return replayOperation()
  }

  /// The last value that was reported; nil before the first.
  var value: Node? { children.value }

  /// How the reported children differ from the reported value, or nil.
  var contradiction: String? {
    guard let value else { return nil }
    let entries = children.nodes.map { (key: $0.key, value: $0.value) }.sorted { $0.key < $1.key }
    if Node(sortedChildren: entries) != (value.children == nil ? .empty : value.withPriority(nil)) {
      return "the children told of are not those of the value"
    }
    let ordered = IndexedNode(value, by: query.index).ascending.map(\.key)
    return ordered == children.keys
      ? nil : "children in the order \(children.keys), should be \(ordered)"
  }

  private mutating func replayOperation() -> String? {
    defer { operation = [] }
    return children.replay(operation)
  }
}
