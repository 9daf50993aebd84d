import RealtimeCore

@testable import RealtimeSync

/// A naive server for several clients: one tree, every write checked, applied and pushed at once.
struct SimulatedServer {
  private(set) var tree = Node.empty
  /// How often a write with a key was applied.
  private(set) var applied: [WriteKey: Int] = [:]
  private var listens: [Int: [ListenRequest]] = [:]
  private var ledger: [WriteKey: StatusCode] = [:]

  mutating func forget(_ client: Int) {
    listens[client] = nil
  }

  /// Handles a request and returns what is to be sent, in order.
  mutating func handle(
    _ id: Int64,
    _ request: ClientRequest,
    of client: Int
  ) -> [(client: Int, message: ServerMessage)] {
    func answer(_ status: StatusCode) -> (Int, ServerMessage) {
      (client, .response(id: id, ServerMessage.Response(status)))
    }
    switch request {
    case .listen(let listen):
      listens[client, default: []].append(listen)
      let value = listen.query.evaluate(tree[listen.path])
      if value.hash == listen.hash { return [answer(.ok)] }
      return [(client, .push(.data(path: listen.path, value, tag: listen.tag))), answer(.ok)]
    case .unlisten(let path, let query, let tag):
      listens[client]?.removeAll { $0.path == path && $0.query == query && $0.tag == tag }
      return [answer(.ok)]
    case .write(let write):
      let (status, pushes) = apply(write)
      return pushes + [answer(status)]
    case .stats, .authenticate, .unauthenticate, .appCheck, .get, .onDisconnect,
      .cancelOnDisconnect, .unknown:
      return [answer(.ok)]
    }
  }

  private mutating func apply(
    _ write: WriteRequest
  ) -> (StatusCode, [(client: Int, message: ServerMessage)]) {
    if let key = write.key, let status = ledger[key] { return (status, []) }
    if let hash = write.hash, hash != tree[write.path].hash { return (.dataStale, []) }
    if let key = write.key {
      ledger[key] = .ok
      applied[key, default: 0] += 1
    }
    let old = tree
    let parts: [Change]
    switch write.operation {
    case .set(let node): parts = [Change(write.path, node)]
    case .merge(let changes):
      parts = changes.map { Change(write.path.appending($0.path), $0.node) }
    }
    for part in parts {
      let node = part.node.resolvingDeferred(existing: tree[part.path], timestamp: 0)
      tree.update(at: part.path, to: node)
    }
    var pushes: [(client: Int, message: ServerMessage)] = []
    for (client, requests) in listens.sorted(by: { $0.key < $1.key }) {
      for listen in requests {
        let before = listen.query.evaluate(old[listen.path])
        let after = listen.query.evaluate(tree[listen.path])
        if before == after { continue }
        pushes.append((client, .push(.data(path: listen.path, after, tag: listen.tag))))
      }
    }
    return (.ok, pushes)
  }
}
