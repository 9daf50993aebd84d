import RealtimeCore

@testable import RealtimeDatabase

/// A naive server for one client: it keeps a whole tree and re-evaluates every listen.
struct ModelServer {
  enum Message {
    case data(Path, Node, tag: Int64?)
    case merge(Path, [Change], tag: Int64?)
    case listenComplete(ListenTarget)
    case answer(Int64, isAccepted: Bool)
  }

  /// Messages that belong together, and the tree that results from them.
  struct Group {
    var messages: [Message]
    let tree: Node
  }

  private(set) var tree = Node.empty
  private var listens: [ListenTarget] = []
  private(set) var sent: [Group] = []

  mutating func takeGroup() -> Group? { sent.isEmpty ? nil : sent.removeFirst() }

  mutating func listen(_ target: ListenTarget, hash: String?) {
    listens.removeAll { $0 == target }
    listens.append(target)
    var messages: [Message] = []
    let value = target.query.evaluate(tree[target.path])
    if value.hash != hash { messages.append(.data(target.path, value, tag: target.tag)) }
    sent.append(Group(messages: messages + [.listenComplete(target)], tree: tree))
  }

  /// Discards the listens of a connection and anything not yet sent on it.
  mutating func disconnect() {
    listens = []
    sent = []
  }

  mutating func unlisten(_ target: ListenTarget) {
    listens.removeAll { $0 == target }
  }

  /// Applies a write; other writes may precede its answer, as when a first answer was lost.
  mutating func write(
    _ parts: [Change],
    id: Int64?,
    isAccepted: Bool = true,
    beforeAnswer others: [Change] = []
  ) {
    var messages: [Message] = []
    for parts in isAccepted ? [parts, others] : [others] {
      let old = tree
      for part in parts { tree.update(at: part.path, to: part.node) }
      for listen in listens { messages += pushes(listen, from: old, parts) }
    }
    if let id { messages.append(.answer(id, isAccepted: isAccepted)) }
    sent.append(Group(messages: messages, tree: tree))
  }

  private func pushes(_ listen: ListenTarget, from old: Node, _ parts: [Change]) -> [Message] {
    if let tag = listen.tag {
      let before = listen.query.evaluate(old[listen.path])
      let after = listen.query.evaluate(tree[listen.path])
      let keys = Set(
        (before.children?.map.map(\.key) ?? []) + (after.children?.map.map(\.key) ?? [])
      )
      let changed = keys.sorted().filter { before[$0] != after[$0] }
      if changed.isEmpty { return [] }
      return [.merge(listen.path, changed.map { Change(Path([$0]), to: after[$0]) }, tag: tag)]
    }
    var changes: [Change] = []
    for part in parts where part.path.overlaps(listen.path) {
      let place = listen.path.contains(part.path) ? part.path : listen.path
      // A priority on an empty node, or of an ancestor, shows only in the whole.
      guard old[place] != tree[place] || place.isPriority else { continue }
      changes.append(Change(Path(place.keys.dropFirst(listen.path.count)), to: tree[place]))
    }
    if changes.count > 1 { return [.merge(listen.path, changes, tag: nil)] }
    return changes.map { .data(listen.path.appending($0.path), $0.node, tag: nil) }
  }
}

/// Replays the events of one listener.
struct ModelListener {
  let id: ListenerID
  let path: Path
  let query: Query
  private(set) var keys: [ChildKey] = []
  private(set) var nodes: [ChildKey: Node] = [:]
  private(set) var value: Node?

  init(id: ListenerID, path: Path, query: Query) {
    self.id = id
    self.path = path
    self.query = query
  }

  /// Replays the events of one operation and returns what is wrong with them, or nil.
  mutating func replay(_ events: [DataEvent]) -> String? {
    if zip(events, events.dropFirst()).contains(where: { $1.kind < $0.kind }) {
      return "kinds out of order: \(events.map(\.kind))"
    }
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
    while !placing.isEmpty {
      guard let next = placing.firstIndex(where: { isPlaced($0.previousKey) }) else {
        return "no place for \(placing.map { $0.key?.text ?? "" })"
      }
      let event = placing.remove(at: next)
      guard let key = event.key else { continue }
      let index = event.previousKey.flatMap { keys.firstIndex(of: $0) }.map { $0 + 1 } ?? 0
      keys.insert(key, at: index)
    }
    for event in events where event.kind != .childRemoved {
      guard let key = event.key, let index = keys.firstIndex(of: key) else { continue }
      let previous = index == 0 ? nil : keys[index - 1]
      if previous != event.previousKey {
        return "\(event.kind) \(key): previous \(event.previousKey?.text ?? "-"), is \(keys)"
      }
    }
    return nil
  }

  private func isPlaced(_ key: ChildKey?) -> Bool { key.map { keys.contains($0) } ?? true }
}
