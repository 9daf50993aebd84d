import RealtimeCore

extension View {
  /// The events of an operation, by kind; within a kind, in the order of the query.
  func events(since old: KnownData, changes: ChangeSet) -> [ViewEvent] {
    guard !registrations.isEmpty else { return [] }
    var events: [ViewEvent] = []
    var kinds = Set<DataEventType>()
    for registration in registrations { kinds.formUnion(registration.kinds) }
    if !changes.isEmpty, kinds.contains(where: { $0 != .value }) {
      let changes = Array(changes.changes)
      let entries = changes.map { query.index.entry(for: $0.key, node: $0.value.node) }
      // Sorting indices is cheaper, because changes are large and would be moved at each step.
      let order = entries.indices.sorted { entries[$0] < entries[$1] }
      for kind in DataEventType.inOrder where kind != .value && kinds.contains(kind) {
        for index in order where isRaised(kind, for: changes[index].value) {
          let (key, change) = changes[index]
          raise(kind, key: key, node: change.node, into: &events)
        }
      }
    }
    if kinds.contains(.value), hasNewValue(since: old, changes: changes) {
      raiseValue(into: &events)
    }
    return events
  }

  /// The events of a new registration: the present children, then the value if it is complete.
  func initialEvents(for registration: Registration) -> [ViewEvent] {
    var events: [ViewEvent] = []
    if registration.kinds.contains(.childAdded) {
      var previous: ChildKey?
      for (key, node) in cache.event.indexed.ascending {
        let event = DataEvent(
          kind: .childAdded,
          path: path,
          key: key,
          node: node,
          previousKey: previous
        )
        events.append(ViewEvent(owner: registration.owner, event: event))
        previous = key
      }
    }
    if registration.kinds.contains(.value), cache.event.isComplete {
      events.append(ViewEvent(owner: registration.owner, event: valueEvent))
    }
    return events
  }

  private var valueEvent: DataEvent {
    DataEvent(kind: .value, path: path, node: cache.event.node)
  }

  private func raiseValue(into events: inout [ViewEvent]) {
    for registration in registrations where registration.kinds.contains(.value) {
      events.append(ViewEvent(owner: registration.owner, event: valueEvent))
    }
  }

  private func raise(
    _ kind: DataEventType,
    key: ChildKey,
    node: Node,
    into events: inout [ViewEvent]
  ) {
    let previous = kind == .childRemoved ? nil : cache.event.indexed.keyBefore(key, child: node)
    let event = DataEvent(kind: kind, path: path, key: key, node: node, previousKey: previous)
    for registration in registrations where registration.kinds.contains(kind) {
      events.append(ViewEvent(owner: registration.owner, event: event))
    }
  }

  private func isRaised(_ kind: DataEventType, for change: ChildChange) -> Bool {
    switch (kind, change) {
    case (.childRemoved, .removed), (.childAdded, .added), (.childChanged, .changed): true
    case (.childMoved, .changed(let old, let new)):
      query.index.value(of: old) != query.index.value(of: new)
    case (.childRemoved, _), (.childAdded, _), (.childMoved, _), (.childChanged, _), (.value, _):
      false
    }
  }

  private func hasNewValue(since old: KnownData, changes: ChangeSet) -> Bool {
    let event = cache.event
    guard event.isComplete else { return false }
    if !changes.isEmpty || !old.isComplete { return true }
    if event.node.children == nil, event.node != old.node { return true }
    return event.node.priority != old.node.priority
  }
}

extension ChildChange {
  /// The data of the child after the change, or before it was removed.
  var node: Node {
    switch self {
    case .added(let node), .removed(let node): node
    case .changed(_, let node): node
    }
  }
}
