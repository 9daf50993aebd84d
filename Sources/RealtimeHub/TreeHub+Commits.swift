internal import RealtimeProtocol

extension TreeHub {
  /// Whether anything waits to be stored.
  package var hasPendingCommits: Bool {
    hasOpenSteps || (!overdueDisconnects.isEmpty && now != nil)
  }

  /// Whether anything has been done that no batch has taken.
  private var hasOpenSteps: Bool { !openCommits.isEmpty || sessions.hasUnsaved }

  /// Why a write cannot be taken in now, or nil when it can.
  var admissionRefusal: Refusal? {
    if let storageFailure, inFlight != nil || hasOpenSteps {
      return Refusal(.unavailable, storageFailure)
    }
    if openCommits.count >= limits.pendingCommits {
      return Refusal(.unavailable, "\(openCommits.count) writes wait for the disk already")
    }
    return nil
  }

  /// Takes all commits that wait, to be stored as one.
  ///
  /// What ended peers have scheduled and could not be applied before is applied now.
  ///
  /// - Returns: The batch, or nil when nothing waits or the last batch is still in flight.
  package mutating func takeBatch() -> CommitBatch? {
    guard inFlight == nil else { return nil }
    if let now { fireOverdueDisconnects(at: now) }
    guard hasOpenSteps else { return nil }
    let changed = sessions.takeUnsaved()
    let batch = CommitBatch(
      commits: openCommits,
      ledger: ledger.takeUnsaved(),
      sessions: changed.map { StoredSession(id: $0.id, changes: $0.table.changes) }
    )
    openCommits = []
    inFlight = BatchInFlight(
      revision: appliedRevision,
      step: appliedStep,
      root: root,
      ledger: batch.ledger,
      sessions: changed
    )
    return batch
  }

  /// Says that the batch in flight is durable.
  ///
  /// - Returns: Everything that waited for it, in order.
  package mutating func batchCommitted() -> [HubOutput] {
    guard let batch = inFlight else { return [] }
    inFlight = nil
    storageFailure = nil
    durableRoot = batch.root
    durableRevision = batch.revision
    durableStep = batch.step
    sessions.saved(batch.sessions)
    firedDisconnects.removeAll { $0.step <= batch.step }
    return flush()
  }

  /// Says that nothing of the batch in flight has been stored.
  ///
  /// The tree goes back to what is durable. Requests that waited are refused; peers with listens
  /// are disconnected, since what they see next must not build on what is gone.
  ///
  /// - Parameters:
  ///   - error: What is wrong.
  ///   - timestamp: The server's time in milliseconds since 1970.
  /// - Returns: The refusals and the ends of connections.
  package mutating func batchFailed(_ error: StoreError, at timestamp: Int64) -> [HubOutput] {
    now = timestamp
    guard let batch = inFlight else { return [] }
    inFlight = nil
    storageFailure = error.description
    openCommits = []
    root = durableRoot
    appliedRevision = durableRevision
    appliedStep = durableStep
    ledger.putBack(batch.ledger)
    rollBackSessions()
    let refusal = Refusal(.unavailable, error.description)
    var outputs: [HubOutput] = []
    for entry in outbox.removeAll() {
      guard let bytes = fallbackBytes(entry, refusal, at: timestamp) else { continue }
      if peers[entry.peer] != nil { outputs.append(.send(entry.peer, bytes)) }
    }
    registry = ListenRegistry()
    for (peer, state) in peers.sorted(by: { $0.key < $1.key }) where !state.listens.isEmpty {
      peers[peer]?.listens = []
      peers[peer]?.isLeaving = true
      outputs.append(.disconnect(peer, .storageFailed(error.description)))
    }
    return outputs
  }

  /// What is sent instead of an output whose commits are gone, or nil for nothing.
  private mutating func fallbackBytes(
    _ entry: Outbox.Entry,
    _ refusal: Refusal,
    at timestamp: Int64
  ) -> [UInt8]? {
    switch entry.fallback {
    case .drop: return nil
    case .keep: return entry.bytes
    case .refuse(let request, let key):
      // A later write of the client must not make this one count as done.
      if let key { ledger.record(key, refusal.status, at: timestamp) }
      return ServerMessage.response(id: request, refusal.response).encoded()
    case .repeatOutcome(let request, let key):
      let response = repeated(ledger.outcome(of: key) ?? refusal.status)
      return ServerMessage.response(id: request, response).encoded()
    }
  }
}
