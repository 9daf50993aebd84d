import RealtimeCore

/// Locations that describe the client itself.
enum InfoPath {
  static let root = ChildKey(".info")
  static let connected = Path([root, "connected"])
  static let serverTimeOffset = Path([root, "serverTimeOffset"])
}

extension Path {
  /// Whether this location describes the client and is never sent.
  var isInfo: Bool { first == InfoPath.root }
}

/// The data below `.info`, which never leaves the client.
struct InfoTree: Sendable {
  private var tree = SyncTree()
  private var node = Node.empty
    .setting(InfoPath.connected, to: .bool(false))
    .setting(InfoPath.serverTimeOffset, to: .integer(0))

  func value(of spec: QuerySpec) -> Node { spec.query.evaluate(node[spec.path]) }

  mutating func add(_ registration: Registration, spec: QuerySpec) -> [ViewEvent] {
    let result = tree.add(registration, at: spec.path, query: spec.query)
    return result.events + fill(result.actions)
  }

  mutating func remove(_ owner: Registration.Owner, spec: QuerySpec) -> [ViewEvent] {
    fill(tree.remove(owner, at: spec.path, query: spec.query).actions)
  }

  mutating func set(_ path: Path, to value: Node) -> [ViewEvent] {
    guard node[path] != value else { return [] }
    node.update(at: path, to: value)
    return tree.applyServerOverwrite(at: path, with: value)
  }

  /// Answers listens as a server would.
  private mutating func fill(_ actions: [ListenAction]) -> [ViewEvent] {
    var events: [ViewEvent] = []
    for case .start(let target) in actions where !node[target.path].isEmpty {
      events += tree.applyServerOverwrite(
        at: target.path,
        with: node[target.path],
        tag: target.tag
      )
    }
    return events
  }
}
