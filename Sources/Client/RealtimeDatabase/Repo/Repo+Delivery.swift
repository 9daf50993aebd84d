import NIOCore
import RealtimeCore
import RealtimeSync

/// Telling observers and completions what the engine says.
extension Repo {
  func raise(_ id: ListenerID, _ event: DataEvent) {
    guard let listener = listeners[id] else { return }
    let reference = DatabaseReference(
      database: listener.query.database,
      path: event.path
    )
    let snapshot = DataSnapshot(
      event.node,
      at: event.key.map { reference.child(of: $0) } ?? reference,
      by: event.kind == .value ? listener.query.query.index : .priority,
      metadata: SnapshotMetadata(event.metadata)
    )
    let previousKey = event.previousKey?.text
    let type = DataEventType(event.kind)
    let isOnce = listener.isOnce
    enqueue {
      guard isOnce ? self.deactivate(id.number) : self.isActive(id.number) else { return }
      listener.block.call(type, snapshot, previousKey)
    }
    if isOnce { stop(id) }
  }

  /// Takes an observer out of the engine.
  func stop(_ id: ListenerID) {
    guard listeners.removeValue(forKey: id) != nil else { return }
    handle(.stopObserving(id))
  }

  func cancel(_ id: ListenerID, _ status: StatusCode, _ reason: String) {
    guard let listener = listeners.removeValue(forKey: id) else { return }
    let error = DatabaseError(status, path: listener.query.path.description, reason: reason)
    enqueue {
      if self.deactivate(id.number) { listener.cancel.call?(error) }
    }
  }

  func finishWrite(_ token: RequestToken, _ status: StatusCode, _ reason: String) {
    guard case .write(let path, let block)? = completions.removeValue(forKey: token) else { return }
    let error: DatabaseError? =
      status == .ok ? nil : DatabaseError(status, path: path.description, reason: reason)
    enqueue { block(error) }
  }

  func finishGet(_ token: RequestToken, _ result: GetResult) {
    guard case .get(let query, let block)? = completions.removeValue(forKey: token) else { return }
    readDeadlines.removeValue(forKey: token)?.cancel()
    switch result {
    case .value(let node, let metadata):
      let snapshot = DataSnapshot(node, of: query, metadata)
      enqueue { block(.success(snapshot)) }
    case .failure(let status, let reason):
      let path = query.path.description
      enqueue { block(.failure(DatabaseError(status, path: path, reason: reason))) }
    }
  }

  func finishTransaction(
    _ token: RequestToken,
    _ status: StatusCode,
    _ reason: String,
    _ committed: Bool,
    _ node: Node
  ) {
    guard case .transaction(let reference, let block)? = completions.removeValue(forKey: token)
    else { return }
    let error: DatabaseError? =
      status == .ok ? nil : DatabaseError(status, path: reference.path.description, reason: reason)
    let metadata = SnapshotMetadata(DataMetadata(isFromCache: !committed))
    let snapshot = DataSnapshot(node, at: reference, metadata: metadata)
    enqueue { block(error, committed, snapshot) }
  }

  /// Ends a read that is still unanswered after the deadline, with what is known here if there is any.
  func startReadDeadline(_ token: RequestToken) {
    guard let deadline = options.readDeadline, completions[token] != nil else { return }
    readDeadlines[token] = eventLoop.scheduleTask(in: TimeAmount(deadline)) {
      self.assumeIsolated { repo in
        repo.readDeadlines[token] = nil
        guard case .get(let query, let block)? = repo.completions.removeValue(forKey: token)
        else { return }
        if let (node, metadata) = repo.core.knownValue(at: query.path, query: query.query) {
          let snapshot = DataSnapshot(node, of: query, metadata)
          return repo.deliver { block(.success(snapshot)) }
        }
        let error = DatabaseError(
          DatabaseError.Code.timedOut,
          path: query.path.description,
          reason: "the server did not answer in time"
        )
        repo.deliver { block(.failure(error)) }
      }
    }
  }
}

extension DataSnapshot {
  fileprivate convenience init(_ node: Node, of query: DatabaseQuery, _ metadata: DataMetadata) {
    self.init(
      node,
      at: query.ref,
      by: query.query.index,
      metadata: SnapshotMetadata(metadata)
    )
  }
}

extension DataEventType {
  fileprivate init(_ kind: EventKind) {
    switch kind {
    case .childAdded: self = .childAdded
    case .childRemoved: self = .childRemoved
    case .childChanged: self = .childChanged
    case .childMoved: self = .childMoved
    case .value: self = .value
    }
  }
}
