import NIOCore
import RealtimeCore

/// Calling observers and completions.
extension Repo {
  /// An observer; its query keeps the database open.
  struct Listener {
    let query: DatabaseQuery
    let block: Callback<(DataEventType, DataSnapshot, String?) -> Void>
    let cancel: Callback<((any Error) -> Void)?>
    let isOnce: Bool
  }

  /// The callback for the answer to a request.
  enum Completion {
    case write(path: Path, @Sendable ((any Error)?) -> Void)
    case get(DatabaseQuery, @Sendable (Result<DataSnapshot, DatabaseError>) -> Void)
    case transaction(DatabaseReference, TransactionCompletion)

    var path: Path {
      switch self {
      case .write(let path, _): path
      case .get(let query, _): query.path
      case .transaction(let reference, _): reference.path
      }
    }
  }

  typealias TransactionCompletion =
    @Sendable ((any Error)?, Bool, DataSnapshot) -> Void

  /// The observers and completions that wait to be called.
  struct Callers {
    var listeners: [ListenerID: Listener] = [:]
    private var completions: [RequestToken: Completion] = [:]
    private var readDeadlines: [RequestToken: Scheduled<Void>] = [:]

    /// The unanswered writes.
    var writes: [(token: RequestToken, path: Path)] {
      completions.compactMap { token, completion in
        if case .write(let path, _) = completion { (token, path) } else { nil }
      }
    }

    mutating func add(_ completion: Completion, for token: RequestToken) {
      completions[token] = completion
    }

    /// Whether a request is a read that waits for its answer.
    func isReading(_ token: RequestToken) -> Bool {
      if case .get? = completions[token] { true } else { false }
    }

    mutating func setDeadline(_ deadline: Scheduled<Void>, for token: RequestToken) {
      readDeadlines[token] = deadline
    }

    /// Removes and returns the completion of a request, and cancels the request's deadline.
    mutating func take(_ token: RequestToken) -> Completion? {
      readDeadlines.removeValue(forKey: token)?.cancel()
      return completions.removeValue(forKey: token)
    }

    /// Removes everything; returns the completions in the order of their requests.
    mutating func removeAll() -> [Completion] {
      for (_, deadline) in readDeadlines { deadline.cancel() }
      defer { self = Callers() }
      return completions.sorted { $0.key.number < $1.key.number }.map(\.value)
    }
  }

  func raise(_ event: DataEvent, for id: ListenerID) {
    guard let listener = callers.listeners[id] else { return }
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
    let (type, isOnce) = (event.kind, listener.isOnce)
    guard isActive(id.number) else { return }
    enqueue {
      guard isOnce ? self.deactivate(id.number) : self.mayCall(id.number) else { return }
      listener.block.call(type, snapshot, previousKey)
    }
    if isOnce { stop(id) }
  }

  func stop(_ id: ListenerID) {
    guard callers.listeners.removeValue(forKey: id) != nil else { return }
    handle(.stopObserving(id))
  }

  func cancel(_ id: ListenerID, with outcome: Outcome) {
    guard let listener = callers.listeners.removeValue(forKey: id) else { return }
    let path = listener.query.path
    // Whoever observes all of a location asks for it in no order.
    let query = listener.query.query.loadsAllData ? Query.all : listener.query.query
    let error = DatabaseError(outcome, at: path)
      .naming(.read(path: path.description, query: query))
    guard isActive(id.number) else { return }
    enqueue {
      if self.deactivate(id.number) || self.mayCall(id.number) { listener.cancel.call?(error) }
    }
  }

  func finishWrite(_ token: RequestToken, with outcome: Outcome) {
    guard case .write(let path, let block)? = callers.take(token) else { return }
    let error = outcome.error(at: path)
    enqueueCompletion({ block(error) }, isRefusal: error != nil)
  }

  func finishGet(_ token: RequestToken, with result: GetResult) {
    guard case .get(let query, let block)? = callers.take(token) else { return }
    switch result {
    case .value(let node, let metadata):
      let snapshot = DataSnapshot(node, of: query, metadata: metadata)
      enqueue { block(.success(snapshot)) }
    case .failure(let outcome):
      let error = DatabaseError(explained(outcome), at: query.path)
        .naming(.read(path: query.path.description, query: query.query))
      enqueue { block(.failure(error)) }
    }
  }

  /// Why there is no connection; nil while there is one, and if it is not wanted.
  var obstacle: String? { core.phase == .interrupted ? nil : problem?.reason }

  /// The outcome of a read with the reason why there is no connection, if that was the obstacle.
  private func explained(_ outcome: Outcome) -> Outcome {
    guard outcome.status == .unavailable, let obstacle else { return outcome }
    return Outcome(.unavailable, reason: "Client is offline: \(obstacle)")
  }

  func finishTransaction(
    _ token: RequestToken,
    with outcome: Outcome,
    committed: Bool,
    node: Node
  ) {
    guard case .transaction(let reference, let block)? = callers.take(token)
    else { return }
    let error = outcome.error(at: reference.path)
    let metadata = SnapshotMetadata(DataMetadata(isFromCache: !committed))
    let snapshot = DataSnapshot(node, at: reference, metadata: metadata)
    enqueue { block(error, committed, snapshot) }
  }

  /// Ends a read that has no answer by the deadline, with locally known data if there is any.
  func startReadDeadline(_ token: RequestToken) {
    guard let deadline = options.readDeadline, callers.isReading(token) else { return }
    let timer = eventLoop.scheduleTask(in: TimeAmount(deadline)) {
      self.assumeIsolated { repo in
        guard case .get(let query, let block)? = repo.callers.take(token) else { return }
        if let (node, metadata) = repo.core.knownValue(at: query.path, query: query.query) {
          let snapshot = DataSnapshot(node, of: query, metadata: metadata)
          return repo.deliver { block(.success(snapshot)) }
        }
        let reason = "the server did not answer in time"
        let error = DatabaseError(.timedOut, at: query.path, reason: reason)
        repo.deliver { block(.failure(error)) }
      }
    }
    callers.setDeadline(timer, for: token)
  }

  /// Tells an observer that the database has been closed.
  func fail(_ listener: Listener, number: Int64) {
    let error = Self.closed(at: listener.query.path)
    deliver {
      if self.deactivate(number) { listener.cancel.call?(error) }
    }
  }

  private static func closed(at path: Path) -> DatabaseError {
    DatabaseError(.unavailable, at: path, reason: "the database has been closed")
  }

  /// Tells a caller that no answer will come.
  func fail(_ completion: Completion) {
    let error = Self.closed(at: completion.path)
    switch completion {
    case .write(_, let block): deliver { block(error) }
    case .get(_, let block): deliver { block(.failure(error)) }
    case .transaction(let reference, let block):
      let none = DataSnapshot(.empty, at: reference)
      deliver { block(error, false, none) }
    }
  }
}

extension Outcome {
  /// The error for the caller; nil after a success.
  fileprivate func error(at path: Path) -> DatabaseError? {
    status == .ok ? nil : DatabaseError(self, at: path)
  }
}

extension DataSnapshot {
  fileprivate convenience init(_ node: Node, of query: DatabaseQuery, metadata: DataMetadata) {
    self.init(
      node,
      at: query.ref,
      by: query.query.index,
      metadata: SnapshotMetadata(metadata)
    )
  }
}
