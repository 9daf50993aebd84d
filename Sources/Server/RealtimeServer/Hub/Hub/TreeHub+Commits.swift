internal import RealtimeCore

extension TreeHub {
  /// Whether anything waits to be stored.
  package var hasPendingCommits: Bool {
    hasOpenSteps || (disconnects.hasOverdue && now != nil)
  }

  /// What the owner must attend to.
  ///
  /// An owner that holds the hub in a class calls this after every message.
  package mutating func agenda() -> HubAgenda {
    HubAgenda(
      hasPendingCommits: hasPendingCommits,
      nextDeadline: access.nextDeadline,
      exhaustedPath: access.takeExhaustedPath()
    )
  }

  /// Whether there are steps that no batch has taken.
  private var hasOpenSteps: Bool {
    durability.hasOpenCommits || disconnects.hasUnsaved || access.hasUnsavedRules
  }

  /// Why no write can be accepted at the moment, or nil when one can.
  var admissionError: RequestError? {
    let waiting = durability.waitingCommits
    guard waiting >= limits.pendingCommits else { return nil }
    return RequestError(.unavailable, reason: "\(waiting) writes are already waiting for the disk")
  }

  /// Counts changes that are not commits but must become durable as well.
  mutating func addSteps(_ count: Int) {
    for _ in 0..<count { durability.addStep() }
  }

  /// Makes a step the next commit as ``Durability`` does, and queues the pushes to listeners.
  mutating func commit(_ step: borrowing TreeStep, isMerge: Bool, at timestamp: Int64) {
    guard let effect = durability.apply(step, isMerge: isMerge, at: timestamp) else { return }
    reviewConditionalListens(effect)
    for push in listens.update(effect, revision: durability.revision) { append(push) }
  }

  // MARK: Batches

  /// Takes all open commits as one batch.
  ///
  /// It is stored alone or joined with batches before and after it.
  ///
  /// Disconnect writes of closed peers that could not be applied earlier are applied first.
  ///
  /// - Returns: The batch, or nil when nothing waits.
  package mutating func takeBatch() -> CommitBatch? {
    if let now { fireOverdueDisconnects(at: now) }
    guard hasOpenSteps else { return nil }
    let (scheduled, sessions) = disconnects.takeUnsaved()
    let ledger = writes.takeUnsaved()
    let commits = durability.take(
      rules: access.rules,
      ledger: ledger,
      scheduled: scheduled
    )
    return CommitBatch(
      commits: commits,
      ledger: ledger,
      sessions: sessions,
      rules: access.takeUnsavedRules()
    )
  }

  /// Reports that the first batches in flight are durable.
  ///
  /// - Returns: All outputs that waited for them, in order.
  package mutating func batchCommitted(_ count: Int = 1) -> [HubOutput] {
    let stored = durability.committed(count)
    guard let last = stored.last else { return [] }
    access.saved(last.rules)
    for batch in stored { disconnects.saved(batch.scheduled, upTo: batch.step) }
    return flush()
  }

  /// Reports that nothing of the batches in flight has been stored, nor ever will be.
  ///
  /// The tree and the rules revert to their durable state. Waiting requests are refused. Peers with
  /// listens are disconnected, since what they see next must not build on lost data. The next write
  /// is tried as usual.
  package mutating func batchFailed(
    _ error: StoreError,
    at timestamp: Int64
  ) -> [HubOutput] {
    now = timestamp
    guard let lost = durability.rollBack() else { return [] }
    for batch in lost.batches { writes.putBack(batch.ledger) }
    access.rollBack()
    addSteps(disconnects.rollBack())
    var leaving = Set(listens.accounts.peers)
    listens.removeAll()
    let reason = error.publicReason
    let refusal = RequestError(.unavailable, reason: reason)
    var outputs: [HubOutput] = []
    for entry in lost.outputs {
      guard let peer = entry.peer else { continue }
      // The ledger must know the writes of closed connections as well: their clients resend them.
      let substitute = substitute(for: entry, to: peer, refusal: refusal)
      guard connections[peer] != nil else { continue }
      if case .disconnect = entry.fallback { leaving.insert(peer) }
      if let substitute { outputs.append(substitute) }
    }
    for peer in leaving.sorted() {
      connections[peer]?.isLeaving = true
      outputs.append(.disconnect(peer, .storageFailed(reason)))
    }
    return outputs
  }

  /// What replaces an output whose commits are lost; nil if nothing does.
  private mutating func substitute(
    for entry: Outbox.Entry,
    to peer: PeerID,
    refusal: RequestError
  ) -> HubOutput? {
    switch entry.fallback {
    case .drop, .disconnect: return nil
    case .keep: return entry.output
    case .refuse(let request, let key):
      // Otherwise a later write of the client would make this one count as applied.
      if let key { writes.undo(key, status: refusal.status, from: peer) }
      return output(.response(id: request, refusal.response), to: peer)
    case .repeatOutcome(let request, let key):
      let response = Self.repeated(writes.outcome(of: key) ?? refusal.status)
      return output(.response(id: request, response), to: peer)
    }
  }

  /// The response to a write that has been handled before.
  static func repeated(_ outcome: StatusCode) -> ServerMessage.Response {
    outcome == .ok
      ? ServerMessage.Response(.ok)
      : RequestError(outcome, reason: "this write was refused the first time").response
  }
}
