internal import RealtimeProtocol

extension TreeHub {
  /// Whether anything waits to be stored.
  package var hasPendingCommits: Bool {
    hasOpenSteps || (!overdueDisconnects.isEmpty && now != nil)
  }

  /// Whether anyone is to be told something that waits for a batch.
  package var hasWaitingOutputs: Bool { !outbox.isEmpty }

  /// Whether anything has been done that no batch has taken.
  private var hasOpenSteps: Bool {
    !openCommits.isEmpty || sessions.hasUnsaved || unsavedRules != nil
  }

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
      sessions: changed.map {
        StoredSession(id: $0.id, identity: $0.identity, changes: $0.table.changes)
      },
      rules: unsavedRules
    )
    openCommits = []
    unsavedRules = nil
    inFlight = BatchInFlight(
      revision: appliedRevision,
      step: appliedStep,
      root: root,
      rules: rules,
      ledger: batch.ledger,
      scheduled: changed
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
    durableRules = batch.rules
    durableRevision = batch.revision
    durableStep = batch.step
    sessions.saved(batch.scheduled)
    firedDisconnects.removeAll { $0.step <= batch.step }
    return flush()
  }

  /// Says that nothing of the batch in flight has been stored.
  ///
  /// The tree and the rules go back to what is durable. Requests that waited are refused; peers with
  /// listens are disconnected, since what they see next must not build on what is gone.
  ///
  /// - Parameters:
  ///   - error: What is wrong.
  ///   - timestamp: The server's time in milliseconds since 1970.
  /// - Returns: The refusals and the ends of connections.
  package mutating func batchFailed(_ error: StoreError, at timestamp: Int64) -> [HubOutput] {
    now = timestamp
    guard let batch = inFlight else { return [] }
    inFlight = nil
    let reason = error.publicReason
    storageFailure = reason
    rollBack(batch)
    let refusal = Refusal(.unavailable, reason)
    var outputs: [HubOutput] = []
    var leaving = Set(peers.filter { !$0.value.listens.isEmpty }.keys)
    for entry in outbox.removeAll() {
      guard let peer = entry.peer else { continue }
      // The ledger must know of the writes of those who have gone, as they send them again.
      let output = fallback(of: entry, to: peer, refusal, at: timestamp)
      guard peers[peer] != nil else { continue }
      if case .disconnect = entry.fallback { leaving.insert(peer) }
      if let output { outputs.append(output) }
    }
    for peer in leaving.sorted() {
      peers[peer]?.listens = []
      peers[peer]?.isLeaving = true
      outputs.append(.disconnect(peer, .storageFailed(reason)))
    }
    return outputs
  }

  /// Goes back to what is durable.
  private mutating func rollBack(_ batch: BatchInFlight) {
    openCommits = []
    root = durableRoot
    rules = durableRules
    unsavedRules = nil
    appliedRevision = durableRevision
    appliedStep = durableStep
    ledger.putBack(batch.ledger)
    rollBackSessions()
    registry = ListenRegistry()
    conditionalListens = ConditionalListens()
    orders = OrderShelf(limits)
  }

  /// What is sent instead of an output whose commits are gone, or nil for nothing.
  private mutating func fallback(
    of entry: Outbox.Entry,
    to peer: PeerID,
    _ refusal: Refusal,
    at timestamp: Int64
  ) -> HubOutput? {
    switch entry.fallback {
    case .drop, .disconnect: return nil
    case .keep: return entry.output
    case .refuse(let request, let key):
      // A later write of the client must not make this one count as done.
      if let key { ledger.record(key, refusal.status, at: timestamp) }
      return output(.response(id: request, refusal.response), to: peer)
    case .repeatOutcome(let request, let key):
      let response = repeated(ledger.outcome(of: key) ?? refusal.status)
      return output(.response(id: request, response), to: peer)
    }
  }
}
