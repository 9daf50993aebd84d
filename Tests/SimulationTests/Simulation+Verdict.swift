import RealtimeCore
import RealtimeDatabase
import RealtimeServer

extension Simulation {
  var isServerAtRest: Bool { isServerUp && !isBusy() && !hub.hasPendingCommits }

  /// Whether nothing is under way any more.
  var isAtRest: Bool {
    isServerAtRest && links.allSatisfy(\.isQuiet)
      && clients.allSatisfy { $0.core.isConnected && $0.openRequests == 0 }
  }

  /// Describes what is still under way.
  var restlessness: String {
    var reasons: [String] = []
    if !isServerAtRest { reasons.append("server up \(isServerUp), batcher \(batcher)") }
    for (number, link) in links.enumerated() where !link.isQuiet {
      let flight = "\(link.up.inFlight) up, \(link.down.inFlight) down"
      reasons.append("link \(number) \(link.isClientOpen) \(link.isServerOpen) \(flight)")
    }
    for (index, client) in clients.enumerated() where client.openRequests > 0 {
      let open = requests.filter { $0.value.client == index && $0.value.outcome == nil }
      reasons.append("client \(index): \(open.map { "\($0.value.purpose)" })")
    }
    for (index, client) in clients.enumerated() where !client.core.isConnected {
      reasons.append("client \(index) is \(client.core.phase), \(client.core.interruptReasons)")
    }
    return reasons.joined(separator: "; ")
  }

  /// Describes an invariant that a revision violates, or nil.
  func problem(with root: Node) -> String? {
    if root[at: "mirror/a"] != root[at: "mirror/b"] { return "half an update of the mirror" }
    for (name, post) in root[at: "posts"].children?.map.map({ ($0.key, $0.value) }) ?? [] {
      let count = post[at: "starCount"].leafValue ?? .integer(0)
      if count != .integer(Int64(post[at: "stars"].childCount)) {
        return "post \(name) counts \(count) stars, has \(post[at: "stars"].childCount)"
      }
    }
    for (name, tally) in root[at: "tally"].children?.map.map({ ($0.key, $0.value) }) ?? [] {
      if tally[at: "count"] != .integer(Int64(tally[at: "items"].childCount)) {
        return "tally \(name) counts wrongly"
      }
    }
    return nil
  }

  /// Describes what is wrong once everything has come to rest, or nil.
  mutating func verdict() -> String? {
    if hub.snapshot != store.stored.root { return "the hub's data differs from the store's" }
    if hub.revision != store.revision { return "the hub is at another revision than the store" }
    return replayProblem ?? clientProblem ?? requestProblem
  }

  private var replayProblem: String? {
    var root = store.roots[0]
    for commit in store.commits {
      for change in commit.changes { root.update(at: change.path, to: change.node) }
    }
    return root == store.stored.root ? nil : "the history does not lead to the data"
  }

  private var clientProblem: String? {
    let root = store.stored.root
    for (index, client) in clients.enumerated() {
      if client.core.pendingWriteCount > 0 { return "client \(index) has pending writes" }
      for (_, log) in client.listeners {
        let place = "client \(index) at \(log.path) \(log.query.id)"
        let expected = log.query.evaluate(root[log.path])
        if client.core.cachedValue(at: log.path, query: log.query) != expected {
          return "\(place) shows other data than the server has"
        }
        if log.value != expected { return "\(place) was told otherwise" }
        if let contradiction = log.contradiction { return "\(place): \(contradiction)" }
      }
    }
    return nil
  }

  private var requestProblem: String? {
    let root = store.stored.root
    var totals: [ChildKey: Int64] = [:]
    for (token, request) in requests.sorted(by: { $0.key.number < $1.key.number }) {
      for id in request.ids {
        let times = durableIDs[id] ?? 0
        switch request.outcome {
        case .ok?: if times != 1 { return "\(id) is acknowledged and written \(times) times" }
        case .writeCanceled?, nil: if times > 1 { return "\(id) is written \(times) times" }
        case _?: if times != 0 { return "\(id) was refused and is written \(times) times" }
        }
      }
      switch request.purpose {
      case .count(let counter, let amount, let id):
        if durableIDs[id] != nil { totals[counter, default: 0] += amount }
      case .tally(let place, let entry):
        let isThere = root[place][at: "items"].hasChild(entry)
        // As with any purged write, it is unknown whether the server already had it.
        guard let outcome = request.outcome, outcome != .writeCanceled else { continue }
        if request.isCommitted != isThere {
          return "transaction \(token.number): committed \(request.isCommitted), is \(isThere)"
        }
      case .write, .get, .other: continue
      }
    }
    for (counter, total) in totals where root[at: "counters"][counter] != .integer(total) {
      return "\(counter) is \(root[at: "counters"][counter]), should be \(total)"
    }
    return nil
  }

  /// Describes what is wrong with the disconnect writes, after all connections have ended.
  func disconnectVerdict() -> String? {
    let gone = store.stored.root[at: "gone"]
    let places = Set(journal.certain.keys).union(journal.possible.keys)
    for place in places {
      guard let key = place.last else { continue }
      var times: Int64 = 0
      if case .integer(let value)? = gone[key].leafValue { times = value }
      let least = Int64(journal.certain[place] ?? 0)
      let most = least + Int64(journal.possible[place] ?? 0)
      if times < least || times > most {
        return "\(place) was written \(times) times, should be \(least) to \(most)"
      }
    }
    for (key, _) in gone.children?.map.map({ ($0.key, $0.value) }) ?? []
    where !places.contains(Path(["gone", key])) {
      return "/gone/\(key) was written for no one"
    }
    return nil
  }
}
