package import RealtimeCore
package import RealtimeDatabase

/// Replays the events of one listener, as a list on a screen would, and finds what is wrong with them.
package struct ReplayedChildren {
  /// The children in the order that the events tell.
  package private(set) var keys: [ChildKey] = []
  /// The contents of the children.
  package private(set) var nodes: [ChildKey: Node] = [:]
  /// The last value; nil before the first.
  package private(set) var value: Node?

  /// Begins with no children.
  package init() {}

  /// Replays the events of one operation, and returns what is wrong with them, or nil.
  package mutating func replay(_ events: [DataEvent]) -> String? {
    if zip(events, events.dropFirst()).contains(where: { $1.kind.precedes($0.kind) }) {
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

extension DataEventType {
  /// Whether events of this kind are raised before those of another.
  package func precedes(_ other: DataEventType) -> Bool {
    Self.inOrder.prefix { $0 != other }.contains(self)
  }
}
