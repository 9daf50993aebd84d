import Foundation
import OfflineTestSupport
import RealtimeCore
import TestSupport
import Testing

@testable import RealtimeDatabase

@Suite("SyncTree against a naive oracle")
struct SyncTreeModelTests {
  private static let environment = ProcessInfo.processInfo.environment

  /// The seeds to run: one named by SYNC_MODEL_SEED, or as many as SYNC_MODEL_SEEDS says.
  private static var seeds: [UInt64] {
    if let seed = environment["SYNC_MODEL_SEED"].flatMap(UInt64.init) { return [seed] }
    if let count = environment["SYNC_MODEL_SEEDS"].flatMap(UInt64.init) { return Array(1...count) }
    return Thoroughness.seeds(240)
  }

  /// The parts into which the seeds are divided, so that they run in parallel.
  private static let parts: ClosedRange<UInt64> = 0...3

  @Test("Views match the oracle, and replayed events lead to the same state", arguments: parts)
  func model(part: UInt64) {
    for seed in Self.seeds where seed % 4 == part {
      var model = SyncTreeModel(seed: seed, usesPriorities: seed.isMultiple(of: 2))
      if let problem = model.run(steps: 120) {
        Issue.record("\(problem)\nreplay: SYNC_MODEL_SEED=\(seed) \(Self.command)")
      }
    }
  }

  /// Judged by fixed seeds: how often the oracle knows something varies between them.
  @Test("The oracle knows often enough what to expect")
  func knowledge() {
    let seeds: ClosedRange<UInt64> = 1...24
    let comparisons = seeds.reduce(0) { sum, seed in
      var model = SyncTreeModel(seed: seed, usesPriorities: seed.isMultiple(of: 2))
      _ = model.run(steps: 120)
      return sum + model.comparisons
    }
    #expect(comparisons >= seeds.count * 5)
  }

  @Test(
    "Seeds that once exposed errors in the oracle pass",
    arguments: [1_158, 1_604, 1_892, 3_184] as [UInt64]
  )
  func regressions(seed: UInt64) {
    var model = SyncTreeModel(seed: seed, usesPriorities: seed.isMultiple(of: 2))
    #expect(model.run(steps: 120) == nil)
  }

  private static let command = "swift test --filter SyncTreeModelTests"
}

/// Drives a sync tree and a naive oracle with the same random events.
struct SyncTreeModel {
  private enum Request {
    case listen(ListenTarget)
    case unlisten(ListenTarget)
    case write([Change], id: Int64)
  }

  private var random: SplitMix64
  private var tree = SyncTree()
  private var server = ModelServer()
  private var requests: [Request] = []
  private var listeners: [Int64: ModelListener] = [:]
  /// The server's tree as of the last delivered message.
  private var seen = Node.empty
  private var pending: [(id: Int64, parts: [Change])] = []
  /// Whether a removal is pending, or was pending together with the current writes.
  private var hasRemoved = false
  private var openListens = 0
  private var lastID: Int64 = 0
  private(set) var comparisons = 0

  private let usesPriorities: Bool

  init(seed: UInt64, usesPriorities: Bool) {
    random = SplitMix64(seed: seed)
    self.usesPriorities = usesPriorities
  }

  /// Takes random steps and returns what went wrong, or nil.
  mutating func run(steps: Int) -> String? {
    server.write([Change("p", to: node(depth: 2)), Change("q", to: node(depth: 2))], id: nil)
    while server.takeGroup() != nil {}
    for step in 0..<steps {
      if let problem = self.step() ?? compare() { return "step \(step): \(problem)" }
    }
    while !requests.isEmpty || !server.sent.isEmpty {
      if let problem = requests.isEmpty ? deliver() : send() { return "at the end: \(problem)" }
    }
    return compare()
  }

  private mutating func step() -> String? {
    switch random.below(20) {
    case 0: return addListener()
    case 1: return random.once(in: 3) ? removeListener() : nil
    case 2...6: return writeByUser()
    case 7...8:
      server.write(parts(), id: nil)
      return nil
    case 9...13: return send()
    case _: return deliver()
    }
  }

  // MARK: Steps

  private mutating func addListener() -> String? {
    if listeners.count > 6 { return nil }
    lastID += 1
    let listener = ModelListener(
      id: ListenerID(lastID),
      path: random.pick([Path.root, "p", "p", "p", "q", "p/b"]),
      query: query()
    )
    listeners[lastID] = listener
    let kinds = Set(DataEventType.inOrder)
    let registration = Registration(owner: .listener(listener.id), kinds: kinds)
    let result = tree.add(registration, at: listener.path, query: listener.query)
    perform(result.actions)
    return raise(result.events)
  }

  private mutating func removeListener() -> String? {
    guard !listeners.isEmpty else { return nil }
    let id = random.pick(listeners.keys.sorted())
    guard let listener = listeners.removeValue(forKey: id) else { return nil }
    let result = tree.remove(.listener(listener.id), at: listener.path, query: listener.query)
    perform(result.actions)
    return raise(result.events)
  }

  private mutating func perform(_ actions: [ListenAction]) {
    for action in actions {
      switch action {
      case .start(let target):
        openListens += 1
        requests.append(.listen(target))
      case .stop(let target):
        openListens += 1
        requests.append(.unlisten(target))
      }
    }
  }

  private mutating func writeByUser() -> String? {
    let parts = parts()
    lastID += 1
    pending.append((lastID, parts))
    hasRemoved = hasRemoved || parts.contains { $0.node.isEmpty }
    requests.append(.write(parts, id: lastID))
    let operation: WriteOperation =
      parts.count == 1 ? .set(parts[0].node) : .merge(parts)
    return raise(
      tree.applyUserWrite(
        PendingWrite(
          id: lastID,
          path: parts.count == 1 ? parts[0].path : .root,
          operation: operation,
          isVisible: true
        )
      )
    )
  }

  private mutating func send() -> String? {
    guard !requests.isEmpty else { return nil }
    switch requests.removeFirst() {
    case .listen(let target):
      // A hash counts only while nothing in transit changes the data that it covers.
      let hash = server.sent.isEmpty ? tree.serverNode(of: target).hash : nil
      server.listen(target, hash: hash)
    case .unlisten(let target):
      server.unlisten(target)
      openListens -= 1
    case .write(let parts, let id):
      let isAccepted = !random.once(in: 4)
      let others = random.once(in: 4) ? self.parts() : []
      server.write(parts, id: id, isAccepted: isAccepted, beforeAnswer: others)
    }
    return nil
  }

  private mutating func deliver() -> String? {
    guard let group = server.takeGroup() else { return nil }
    seen = group.tree
    for message in group.messages {
      let events: [ViewEvent]
      switch message {
      case .data(let path, let node, let tag):
        events = tree.applyServerOverwrite(at: path, with: node, tag: tag)
      case .merge(let path, let changes, let tag):
        events = tree.applyServerMerge(at: path, changes: changes, tag: tag)
      case .listenComplete(let target):
        events = tree.applyListenComplete(at: target.path, tag: target.tag)
        openListens -= 1
      case .answer(let id, let isAccepted):
        pending.removeAll { $0.id == id }
        hasRemoved = hasRemoved && !pending.isEmpty
        events = tree.ackUserWrite(id, isAccepted: isAccepted)
      }
      if let problem = raise(events) { return problem }
    }
    return nil
  }

  private mutating func raise(_ events: [ViewEvent]) -> String? {
    var batches: [Int64: [DataEvent]] = [:]
    for event in events {
      guard case .listener(let id) = event.owner else { continue }
      batches[id.number, default: []].append(event.event)
    }
    for (id, batch) in batches {
      if let problem = listeners[id]?.children.replay(batch) {
        return
          "listener at \(listeners[id]?.path ?? .root) \(listeners[id]?.query.id ?? ""): \(problem)"
      }
    }
    return nil
  }

  // MARK: Oracle

  private mutating func compare() -> String? {
    for (_, listener) in listeners.sorted(by: { $0.key < $1.key }) {
      guard let shown = tree.cachedValue(at: listener.path, query: listener.query) else { continue }
      let name = "\(listener.path) \(listener.query.id)"
      if listener.children.value != shown {
        return "\(name): shows \(text(shown)), last told \(text(listener.children.value))"
      }
      let order = IndexedNode(shown, by: listener.query.index).ascending.map(\.key)
      if listener.children.keys != order {
        return "\(name): replayed \(listener.children.keys), is \(order)"
      }
      for key in order where listener.children.nodes[key] != shown[key] {
        return "\(name): child \(key) was told as \(text(listener.children.nodes[key]))"
      }
      if openListens > 0 { continue }
      guard let expected = expected(listener) else { continue }
      comparisons += 1
      if comparable(shown) != comparable(expected) {
        return "\(name): shows \(text(shown)), should be \(text(expected))"
      }
    }
    return nil
  }

  /// What the views may show; nil where that depends on earlier data.
  private func expected(_ listener: ModelListener) -> Node? {
    let isCovered = listeners.values.contains {
      $0.query.loadsAllData && $0.path.contains(listener.path)
    }
    let parts = laidOver
    if parts.contains(where: { isAmbiguous($0) }) { return nil }
    if hasRemoved, usesPriorities, listener.query.index == .priority,
      !listener.query.loadsAllData
    {
      return nil
    }
    if isCovered {
      var whole = seen
      for part in parts { whole.update(at: part.path, to: part.node) }
      return listener.query.evaluate(whole[listener.path])
    }
    // The server sends only the window.
    var window = listener.query.evaluate(seen[listener.path])
    for part in parts {
      if let above = listener.path.relative(to: part.path) {
        window = part.node[above].withPriority(nil)
      } else if let below = part.path.relative(to: listener.path), let key = below.first {
        if key == .priority { continue }
        if below.count > 1, !window.hasChild(key) { return nil }
        window.update(at: below, to: part.node)
      }
    }
    return listener.query.evaluate(window)
  }

  /// Whether the effect of a write depends on whether an earlier one created data at its path.
  ///
  /// Removing a path below a leaf does nothing, and neither does a priority on an empty node.
  private func isAmbiguous(_ part: Change) -> Bool {
    if part.path.isPriority { return true }
    return part.node.isEmpty
      && (0..<part.path.count).contains { seen[Path(part.path.keys.prefix($0))].leafValue != nil }
  }

  /// The parts of the data that can be compared.
  ///
  /// A path that is empty after one pending write but not after the next has lost its priority. A
  /// view that received the two writes one by one shows that; one that was created from both at
  /// once does not.
  private func comparable(_ node: Node) -> Node {
    guard hasRemoved, usesPriorities else { return node }
    var result = node.withPriority(nil)
    for (key, child) in node.children.map({ Array($0.map) }) ?? [] {
      result.update(at: Path([key]), to: comparable(child))
    }
    return result
  }

  /// The parts of pending writes, none of which covers another.
  private var laidOver: [Change] {
    var result: [Change] = []
    for part in pending.flatMap(\.parts) {
      if let index = result.firstIndex(where: {
        $0.path.contains(part.path) && $0.path != part.path
      }) {
        let below = Path(part.path.keys.dropFirst(result[index].path.count))
        result[index].node.update(at: below, to: part.node)
      } else {
        result.removeAll { part.path.contains($0.path) }
        result.append(part)
      }
    }
    return ordered(result)
  }

  private func text(_ node: Node?) -> String { node?.json(.export).text ?? "nothing" }

  // MARK: Random data

  private mutating func key() -> ChildKey { random.pick(["a", "b", "c", "d", "e", "10"]) }

  private mutating func node(depth: Int) -> Node {
    if random.once(in: 6) { return .empty }
    if depth == 0 || random.once(in: 3) {
      let value: LeafValue =
        random.once(in: 5) ? .string(random.pick(["x", "y"])) : .integer(Int64(random.below(6)))
      return .leaf(value, priority: priority())
    }
    var result = Node.empty
    for _ in 0..<(1 + random.below(4)) {
      let name = depth == 1 ? random.pick(["n", "m"]) : key()
      result.update(at: Path([name]), to: node(depth: depth - 1))
    }
    return result.withPriority(priority()?.value)
  }

  private mutating func priority() -> Priority? {
    usesPriorities && random.once(in: 4) ? Priority(.integer(Int64(random.below(3)))) : nil
  }

  private mutating func part() -> Change {
    let list: Path = random.pick(["p", "p", "p", "q"])
    switch usesPriorities ? random.below(12) : random.pick([0, 1, 2, 5, 6, 7, 8, 9, 10, 11]) {
    case 0: return Change(list, to: node(depth: 2))
    case 1...2: return Change(list.appending(key()).appending(ChildKey("n")), to: node(depth: 0))
    case 3:
      return Change(
        list.appending(key()).appending(ChildKey.priority),
        to: .integer(Int64(random.below(3)))
      )
    case 4: return Change(list.appending(ChildKey.priority), to: .integer(Int64(random.below(3))))
    case _: return Change(list.appending(key()), to: node(depth: 1))
    }
  }

  private mutating func parts() -> [Change] {
    var result = [part()]
    if random.once(in: 3) {
      for _ in 0..<random.below(4) {
        let next = part()
        if !result.contains(where: { $0.path.overlaps(next.path) }) { result.append(next) }
      }
    }
    return ordered(result)
  }

  /// Additions, then removals, then priorities: an arrangement in which the order has no effect.
  private func ordered(_ parts: [Change]) -> [Change] {
    let data = parts.filter { !$0.path.isPriority }
    return data.filter { !$0.node.isEmpty } + data.filter { $0.node.isEmpty }
      + parts.filter { $0.path.isPriority }
  }

  private mutating func query() -> Query {
    if random.once(in: 4) { return .all }
    var query = Query(index: random.pick([.priority, .key, .value, .child("n")]))
    if random.once(in: 3) { query.start = bound(query.index) }
    if random.once(in: 3) { query.end = bound(query.index) }
    if random.once(in: 2) {
      query.limit = Query.Limit(1 + random.below(3), side: random.pick([.first, .last]))
    }
    return query
  }

  private mutating func bound(_ index: Index) -> QueryBound {
    if index == .key { return QueryBound(.string(key().text), isInclusive: random.once(in: 2)) }
    let part: QueryBound.KeyPart? = random.once(in: 2) ? .key(key()) : nil
    return QueryBound(.integer(Int64(random.below(6))), key: part)
  }
}
