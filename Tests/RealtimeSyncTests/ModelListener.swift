import RealtimeCore

@testable import RealtimeSync

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
