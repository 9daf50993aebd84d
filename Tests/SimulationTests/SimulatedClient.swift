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
  private(set) var keys: [ChildKey] = []
  private(set) var nodes: [ChildKey: Node] = [:]
  private(set) var value: Node?
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
      if let last = operation.last, event.kind < last.kind || last.kind == .value {
        if let problem = replayOperation() { return problem }
      }
      operation.append(event)
    }
    return replayOperation()
  }

  /// How the reported children differ from the reported value, or nil.
  var contradiction: String? {
    guard let value else { return nil }
    let entries = nodes.map { (key: $0.key, value: $0.value) }.sorted { $0.key < $1.key }
    if Node(sortedChildren: entries) != (value.children == nil ? .empty : value.withPriority(nil)) {
      return "the children told of are not those of the value"
    }
    let ordered = IndexedNode(value, by: query.index).ascending.map(\.key)
    return ordered == keys ? nil : "children in the order \(keys), should be \(ordered)"
  }

  private mutating func replayOperation() -> String? {
    let events = operation
    operation = []
    var placing: [DataEvent] = []
    for event in events {
      guard let key = event.key else {
        value = event.node
        continue
      }
      switch event.kind {
      case .childRemoved:
        if nodes.removeValue(forKey: key) != event.node { return "removed \(key), not as it was" }
        keys.removeAll { $0 == key }
      case .childAdded:
        if nodes.updateValue(event.node, forKey: key) != nil { return "added \(key) twice" }
        placing.append(event)
      case .childMoved:
        if nodes[key] == nil { return "moved \(key), which is not there" }
        keys.removeAll { $0 == key }
        placing.append(event)
      case .childChanged:
        if nodes.updateValue(event.node, forKey: key) == nil { return "changed \(key) of nothing" }
      case .value: return "a value with a key"
      }
    }
    return place(placing) ?? misplaced(events)
  }

  private mutating func place(_ events: [DataEvent]) -> String? {
    var placing = events
    while !placing.isEmpty {
      let next = placing.firstIndex { $0.previousKey.map { keys.contains($0) } ?? true }
      guard let next else { return "no place for \(placing.map { $0.key?.text ?? "" })" }
      let event = placing.remove(at: next)
      guard let key = event.key else { continue }
      let index = event.previousKey.flatMap { keys.firstIndex(of: $0) }.map { $0 + 1 } ?? 0
      keys.insert(key, at: index)
    }
    return nil
  }

  private func misplaced(_ events: [DataEvent]) -> String? {
    for event in events where event.kind != .childRemoved {
      guard let key = event.key, let index = keys.firstIndex(of: key) else { continue }
      let previous = index == 0 ? nil : keys[index - 1]
      if previous != event.previousKey {
        return "\(event.kind) \(key) after \(event.previousKey?.text ?? "-"), is in \(keys)"
      }
    }
    return nil
  }
}
