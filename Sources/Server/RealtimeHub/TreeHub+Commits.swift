internal import RealtimeCore

extension TreeHub {
  /// Whether anything waits to be stored.
  package var hasPendingCommits: Bool {
    hasOpenSteps || (!overdueDisconnects.isEmpty && now != nil)
  }

  /// What the owner has to see to.
  ///
  /// Mutating though it changes nothing: an owner that holds the hub in a class asks after every
  /// message, and reading a property there copies the hub.
  package mutating func agenda() -> HubAgenda {
    HubAgenda(hasPendingCommits: hasPendingCommits, nextDeadline: nextDeadline)
  }

  /// Whether anyone is to be told something that waits for a batch.
  package var hasWaitingOutputs: Bool { !outbox.isEmpty }

  /// Whether anything has been done that no batch has taken.
  private var hasOpenSteps: Bool {
    !openCommits.isEmpty || sessions.hasUnsaved || unsavedRules != nil
  }

  /// Why a write cannot be taken in now, or nil when it can.
  var admissionRefusal: Refusal? {
    let waiting = openCommits.count + commitsInFlight
    if waiting >= limits.pendingCommits {
      return Refusal(.unavailable, "\(waiting) writes wait for the disk already")
    }
    return nil
  }

  /// Takes all commits that wait, to be stored as one, or as one with batches before it and behind it.
  ///
  /// What ended peers have scheduled and could not be applied before is applied now.
  ///
  /// - Returns: The batch, or nil when nothing waits.
  package mutating func takeBatch() -> CommitBatch? {
    if let now { fireOverdueDisconnects(at: now) }
    guard hasOpenSteps else { return nil }
    let changed = sessions.takeUnsaved()
    let batch = CommitBatch(
      commits: openCommits,
      ledger: ledger.takeUnsaved(),
      sessions: changed.map(\.update),
      rules: unsavedRules
    )
    openCommits = []
    unsavedRules = nil
    inFlight.append(
      BatchInFlight(
        commits: batch.commits.count,
        revision: appliedRevision,
        step: appliedStep,
        root: root,
        rules: rules,
        ledger: batch.ledger,
        scheduled: changed.map(\.writes)
      )
    )
    commitsInFlight += batch.commits.count
    return batch
  }

  /// Says that the first batches in flight are durable.
  ///
  /// - Parameter count: How many, all of which have been stored as one.
  /// - Returns: Everything that waited for them, in order.
  package mutating func batchCommitted(_ count: Int = 1) -> [HubOutput] {
    let stored = inFlight.prefix(count)
    guard let last = stored.last else { return [] }
    durableRoot = last.root
    durableRules = last.rules
    durableRevision = last.revision
    durableStep = last.step
    for batch in stored {
      sessions.saved(batch.scheduled)
      commitsInFlight -= batch.commits
    }
    firedDisconnects.removeAll { $0.step <= last.step }
    inFlight.removeFirst(stored.count)
    return flush()
  }

  /// Says that nothing of the batches in flight has been stored, nor ever will be.
  ///
  /// The tree and the rules go back to what is
  /// durable. Requests that waited are refused; peers with listens are disconnected, since what they
  /// see next must not build on what is gone. The next write is tried as usual.
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
    guard !inFlight.isEmpty else { return [] }
    let reason = error.publicReason
    let refusal = Refusal(.unavailable, reason)
    rollBack()
    var outputs: [HubOutput] = []
    var leaving = Set(peers.filter { !$0.value.listens.isEmpty }.keys)
    for entry in outbox.removeAll() {
      guard let peer = entry.peer else { continue }
      // The ledger must know of the writes of those who have gone, as they send them again.
      let result = fallback(of: entry, to: peer, refusal)
      guard peers[peer] != nil else { continue }
      switch result {
      case .nothing: continue
      case .disconnect: leaving.insert(peer)
      case .output(let output): outputs.append(output)
      }
    }
    for peer in leaving.sorted() { outputs.append(ending(peer, reason)) }
    return outputs
  }

  /// Lets nothing count any more that a peer says, whose listens are forgotten.
  private mutating func ending(_ peer: PeerID, _ reason: String) -> HubOutput {
    peers[peer]?.listens = []
    peers[peer]?.isLeaving = true
    return .disconnect(peer, .storageFailed(reason))
  }

  /// Goes back to what is durable.
  private mutating func rollBack() {
    for batch in inFlight { ledger.putBack(batch.ledger) }
    inFlight = []
    commitsInFlight = 0
    openCommits = []
    root = durableRoot
    rules = durableRules
    unsavedRules = nil
    appliedRevision = durableRevision
    appliedStep = durableStep
    rollBackSessions()
    registry = ListenRegistry()
    conditionalListens = ConditionalListens()
    orders = OrderShelf(limits)
  }

  /// What becomes of an output whose commits are gone.
  private enum FallbackResult {
    case nothing
    case disconnect
    case output(HubOutput)
  }

  /// What happens instead of an output whose commits are gone.
  private mutating func fallback(
    of entry: Outbox.Entry,
    to peer: PeerID,
    _ refusal: Refusal
  ) -> FallbackResult {
    switch entry.fallback {
    case .drop: return .nothing
    case .disconnect: return .disconnect
    case .keep: return .output(entry.output)
    case .refuse(let request, let key):
      // A later write of the client must not make this one count as done.
      if let key { undo(key, refusal.status, of: peer) }
      return .output(output(.response(id: request, refusal.response), to: peer))
    case .repeatOutcome(let request, let key):
      let status = ledger.outcome(of: key) ?? refusal.status
      let response = repeated(status)
      return .output(output(.response(id: request, response), to: peer))
    }
  }
}
