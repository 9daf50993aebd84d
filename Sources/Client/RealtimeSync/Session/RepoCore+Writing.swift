import RealtimeCore

extension RepoCore {
  mutating func write(_ token: RequestToken, at path: Path, _ operation: WriteOperation) {
    guard !path.isInfo else {
      return complete(token, .permissionDenied, "nothing can be written below /.info")
    }
    let raw = operation.withPrioritiesLast
    if case .merge(let changes) = raw, changes.isEmpty { return complete(token, .ok, "") }
    let estimate = resolve(raw, at: path)
    let number = makeNumber()
    let request = WriteRequest(path: path, operation: raw)
    save(number, request, estimate)
    raise(
      sync.write(PendingWrite(id: number, path: path, operation: estimate, isVisible: true))
    )
    enqueue(request, as: number, for: .caller(token))
    for place in raw.places(at: path) {
      overrideTransactions(at: place)
    }
  }

  /// Estimates the values that the server will decide, from what this client would see.
  private mutating func resolve(_ operation: WriteOperation, at path: Path) -> WriteOperation {
    switch operation {
    case .set(let node): return .set(resolve(node, at: path))
    case .merge(let changes):
      var resolved: [Change] = []
      for change in changes {
        resolved.append(Change(change.path, resolve(change.node, at: path.appending(change.path))))
      }
      return .merge(resolved)
    }
  }

  mutating func resolve(_ node: Node, at path: Path) -> Node {
    guard node.hasDeferredValues else { return node }
    return node.resolvingDeferred(existing: latest(at: path), timestamp: estimatedServerTime)
  }

  /// Queues a write behind all others, whose numbers are lower, and sends it if it can be sent.
  mutating func enqueue(
    _ request: WriteRequest,
    as number: Int64,
    for purpose: OutstandingWrite.Purpose
  ) {
    let write = OutstandingWrite(request: request, purpose: purpose, owner: user)
    writes.updateValue(write, forKey: number)
    sendWrite(number)
  }

  /// Sends a write; with the extension it gets a key at its first sending and keeps it.
  ///
  /// Keys are numbered as writes are, since writes are sent in the order of their numbers.
  mutating func sendWrite(_ number: Int64) {
    guard isSettled, var write = writes[number], !write.isHeld(from: user) else { return }
    let isOnce = connection.extensions.contains(.writeOnce)
    // A transaction that may have been applied is not sent again without its key.
    if write.wasSent, write.request.hash != nil, !isOnce { return }
    if isOnce, write.request.key == nil {
      write.request.key = key(of: number, ownedBy: write.owner)
    }
    write.wasSent = true
    writes.updateValue(write, forKey: number)
    if !isOnce { write.request.key = nil }
    send(.write(write.request), for: .write(number: number))
  }

  /// The name of a write for servers that apply it once.
  ///
  /// What nobody in particular has written is sent for whoever signs in, and must have one name then.
  func key(of number: Int64, ownedBy owner: String?) -> WriteKey {
    let client = configuration.clientID
    return WriteKey(
      client: owner == nil ? WriteKey.bearerName(client) : client,
      number: number
    )
  }

  mutating func writeAnswered(_ number: Int64, _ status: StatusCode, _ reason: String) {
    guard let write = writes.removeValue(forKey: number) else { return }
    switch write.purpose {
    case .caller(let token):
      offline?.append(.removeWrite(number))
      if status == .ok, let parts = sync.parts(of: number) {
        offline?.acknowledge(parts, now: now.wall)
      }
      let events = sync.answer(number, isAccepted: status == .ok)
      raise(events)
      if let token {
        complete(token, status, reason)
      } else if status != .ok {
        log("a write at \(write.request.path) of an earlier run was given up: \(status) \(reason)")
      }
      if !events.isEmpty { rerunTransactions(at: write.request.path) }
    case .transactions:
      transactionsAnswered(number, at: write.request.path, status, reason)
    }
  }

  mutating func purgeOutstandingWrites() {
    let reason = "the write was taken back before it was acknowledged"
    raise(sync.removeAllWrites())
    cancelTransactions(reason)
    for (number, _) in writes { writeAnswered(number, .writeCanceled, reason) }
    for (number, action) in disconnectActions {
      disconnectActions.removeValue(forKey: number)
      complete(action.token, .writeCanceled, "taken back before it was acknowledged")
    }
  }

  mutating func complete(_ token: RequestToken, _ status: StatusCode, _ reason: String) {
    outputs.append(.writeCompleted(token, status, reason: reason))
  }
}

extension WriteOperation {
  /// The same with priorities after the data they belong to.
  var withPrioritiesLast: WriteOperation {
    guard case .merge(let changes) = self else { return self }
    return .merge(changes.filter { !$0.path.isPriority } + changes.filter { $0.path.isPriority })
  }

  /// The places that it replaces when it is applied at a path.
  func places(at path: Path) -> [Path] {
    switch self {
    case .set: [path]
    case .merge(let changes): changes.map { path.appending($0.path) }
    }
  }
}
