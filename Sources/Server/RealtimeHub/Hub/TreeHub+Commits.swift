internal import RealtimeCore

extension TreeHub {
  /// Whether anything waits to be stored.
  package var hasPendingCommits: Bool {
    hasOpenSteps || (disconnects.hasOverdue && now != nil)
  }

  /// What the owner has to see to.
  ///
  /// Mutating though it changes nothing: an owner that holds the hub in a class asks after every
  /// message, and reading a property there copies the hub.
  package mutating func agenda() -> HubAgenda {
    HubAgenda(hasPendingCommits: hasPendingCommits, nextDeadline: access.nextDeadline)
  }

  /// Whether anything has been done that no batch has taken.
  private var hasOpenSteps: Bool {
    durability.hasOpenCommits || disconnects.hasUnsaved || access.hasUnsavedRules
  }

  /// Why no write can be taken in now, or nil when one can.
  var admissionError: RequestError? {
    let waiting = durability.waitingCommits
    guard waiting >= limits.pendingCommits else { return nil }
    return RequestError(.unavailable, reason: "\(waiting) writes wait for the disk already")
  }

  /// Counts changes that are no commits and must become durable as well.
  mutating func addSteps(_ count: Int) {
    for _ in 0..<count { durability.addStep() }
  }

  /// Makes changes the next commit and queues what listeners are to be told.
  ///
  /// - Parameters:
  ///   - step: What changes.
  ///   - isMerge: Whether the changes belong together for clients.
  ///   - timestamp: The time of the commit.
  mutating func commit(
    _ step: borrowing TreeStep,
    isMerge: Bool,
    at timestamp: Int64
  ) {
    guard !step.changes.isEmpty else { return }
    let before = durability.apply(step.changes, makingOf: step.after, at: timestamp)
    let effect = CommitEffect(of: step, from: before, isMerge: isMerge)
    reviewConditionalListens(effect)
    for push in listens.update(effect, revision: durability.revision) { append(push) }
  }

  // MARK: Batches

  /// Takes all commits that wait, to be stored as one, or as one with batches before it and behind it.
  ///
  /// What ended peers have scheduled and could not be applied before is applied now.
  ///
  /// - Returns: The batch, or nil when nothing waits.
  package mutating func takeBatch() -> CommitBatch? {
    if let now { fireOverdueDisconnects(at: now) }
    guard hasOpenSteps else { return nil }
    let changed = disconnects.takeUnsaved()
    let ledger = writes.takeUnsaved()
    let commits = durability.take(
      rules: access.rules,
      ledger: ledger,
      scheduled: changed.map(\.writes)
    )
    return CommitBatch(
      commits: commits,
      ledger: ledger,
      sessions: changed.map(\.update),
      rules: access.takeUnsavedRules()
    )
  }

  /// Says that the first batches in flight are durable.
  ///
  /// - Parameter count: How many, all of which have been stored as one.
  /// - Returns: Everything that waited for them, in order.
  package mutating func batchCommitted(_ count: Int = 1) -> [HubOutput] {
    let stored = durability.committed(count)
    guard let last = stored.last else { return [] }
    access.saved(last.rules)
    for batch in stored { disconnects.saved(batch.scheduled, upTo: batch.step) }
    return flush()
  }

  /// Says that nothing of the batches in flight has been stored, nor ever will be.
  ///
  /// The tree and the rules go back to what is durable. Requests that waited are refused; peers with
  /// listens are disconnected, since what they see next must not build on what is gone. The next write
  /// is tried as usual.
  ///
  /// - Parameters:
  ///   - error: Why they could not be stored.
  ///   - timestamp: The server's time in milliseconds since 1970.
  /// - Returns: The refusals and the ends of connections.
  package mutating func batchFailed(
    _ error: StoreError,
    at timestamp: Int64
  ) -> [HubOutput] {
    now = timestamp
    guard let lost = durability.rollBack() else { return [] }
    for batch in lost.batches { writes.putBack(batch.ledger) }
    access.rollBack()
    addSteps(disconnects.rollBack())
    var leaving = Set(listens.peers)
    listens.removeAll()
    let reason = error.publicReason
    let refusal = RequestError(.unavailable, reason: reason)
    var outputs: [HubOutput] = []
    for entry in lost.outputs {
      guard let peer = entry.peer else { continue }
      // The ledger must know the writes of closed connections too: their clients resend them.
      let fallback = fallback(for: entry, to: peer, refusal: refusal)
      guard connections[peer] != nil else { continue }
      switch fallback {
      case .nothing: continue
      case .disconnect: leaving.insert(peer)
      case .output(let output): outputs.append(output)
      }
    }
    for peer in leaving.sorted() {
      connections[peer]?.isLeaving = true
      outputs.append(.disconnect(peer, .storageFailed(reason)))
    }
    return outputs
  }

  /// What becomes of an output whose commits are gone.
  private enum Substitute {
    case nothing
    case disconnect
    case output(HubOutput)
  }

  private mutating func fallback(
    for entry: Outbox.Entry,
    to peer: PeerID,
    refusal: RequestError
  ) -> Substitute {
    switch entry.fallback {
    case .drop: return .nothing
    case .disconnect: return .disconnect
    case .keep: return .output(entry.output)
    case .refuse(let request, let key):
      // A later write of the client must not make this one count as done.
      if let key { writes.undo(key, status: refusal.status, from: peer) }
      return .output(output(.response(id: request, refusal.response), to: peer))
    case .repeatOutcome(let request, let key):
      let response = Self.repeated(writes.outcome(of: key) ?? refusal.status)
      return .output(output(.response(id: request, response), to: peer))
    }
  }

  /// The answer to a write that has come before.
  static func repeated(_ outcome: StatusCode) -> ServerMessage.Response {
    outcome == .ok
      ? ServerMessage.Response(.ok)
      : RequestError(outcome, reason: "this write was refused when it came first").response
  }
}
