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
    if let storageFailure, !inFlight.isEmpty || hasOpenSteps {
      return Refusal(.unavailable, storageFailure)
    }
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
  /// While the store fails, the next batch is not taken before the outcome of the last one is known.
  /// After a batch that is in doubt the next one may change nothing, as storing it ends the doubt.
  ///
  /// - Returns: The batch, or nil when nothing waits.
  package mutating func takeBatch() -> CommitBatch? {
    guard inFlight.isEmpty || storageFailure == nil else { return nil }
    if let now { fireOverdueDisconnects(at: now) }
    guard hasOpenSteps || doubtful != nil else { return nil }
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
    storageFailure = nil
    doubtful = nil
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

  /// Says that nothing of the first batches in flight has been stored, or that it is not known.
  ///
  /// The others are gone with them, and must not be stored. The tree and the rules go back to what is
  /// durable. Requests that waited are refused; peers with listens are disconnected, since what they
  /// see next must not build on what is gone. Peers whose writes may be stored are disconnected without
  /// an answer.
  ///
  /// - Parameters:
  ///   - error: What is wrong.
  ///   - count: How many were to be stored as one; nothing of the others has come to the store.
  ///   - timestamp: The server's time in milliseconds since 1970.
  /// - Returns: The refusals and the ends of connections.
  package mutating func batchFailed(
    _ error: StoreError,
    _ count: Int = 1,
    at timestamp: Int64
  ) -> [HubOutput] {
    now = timestamp
    guard let tried = inFlight.prefix(count).last?.step else { return [] }
    let reason = error.publicReason
    storageFailure = reason
    rollBack()
    let entries = outbox.removeAll()
    doubtful = writesInDoubt(after: error, upTo: tried, entries)
    var outputs: [HubOutput] = []
    var leaving = Set(peers.filter { !$0.value.listens.isEmpty }.keys)
    for entry in entries {
      guard let peer = entry.peer else { continue }
      let isUnknown = error.doubt == .thisBatch && entry.step <= tried
      let refusal = Refusal(
        .unavailable,
        isUnknown ? "\(reason); whether this was stored is not known" : reason
      )
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

  /// What may be stored after a failure: of what was tried, or still of what was in doubt before.
  private func writesInDoubt(
    after error: StoreError,
    upTo tried: Int64,
    _ entries: ArraySlice<Outbox.Entry>
  ) -> DoubtfulWrites? {
    switch error.doubt {
    case nil: return nil
    case .earlierBatch: return doubtful ?? DoubtfulWrites()
    case .thisBatch:
      var writes = DoubtfulWrites()
      for entry in entries where entry.step <= tried {
        if case .refuse(_, let key?) = entry.fallback { writes.insert(key) }
      }
      return writes
    }
  }

  /// Whether a write may be the repetition of one that is stored, so that it must not be refused.
  ///
  /// Without a key it cannot be told. A peer in the server never says anything twice.
  func isInDoubt(_ key: LedgerKey?, of peer: PeerID) -> Bool {
    guard let doubtful else { return false }
    if let key { return doubtful.contains(key) }
    return peers[peer]?.isInternal == false
  }

  /// Disconnects a peer whose request is not answered, as nobody knows what to say.
  mutating func disconnectInDoubt(_ peer: PeerID) {
    for key in peers[peer]?.listens ?? [] { endListen(key, of: peer) }
    let reason = storageFailure ?? "the disk does not work"
    append(ending(peer, reason), to: peer, .disconnect)
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
      guard !isInDoubt(key, of: peer) else {
        if let key { ledger.forget(key) }
        return .disconnect
      }
      // A later write of the client must not make this one count as done.
      if let key { undo(key, refusal.status, of: peer) }
      return .output(output(.response(id: request, refusal.response), to: peer))
    case .repeatOutcome(let request, let key):
      guard !isInDoubt(key, of: peer) else { return .disconnect }
      let status = ledger.outcome(of: key) ?? refusal.status
      let response = repeated(status)
      return .output(output(.response(id: request, response), to: peer))
    }
  }
}
