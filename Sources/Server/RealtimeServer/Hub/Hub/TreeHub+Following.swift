internal import RealtimeCore

/// Following another hub, which leads the database: its commits are made here as they were stored.
extension TreeHub {
  /// Makes the next commits of the database, in ascending order, which are durable already.
  ///
  /// - Returns: The pushes to listeners; nil if a commit is missing or fits another tree, and then
  ///   the hub must be discarded.
  mutating func follow(_ commits: some Collection<Commit>) -> [HubOutput]? {
    for step in commits {
      guard step.revision == durability.revision + 1, let first = step.changes.first else {
        return nil
      }
      now = step.timestamp
      let isReplacement = step.changes.count == 1 && first.isReplacement
      let after = isReplacement ? nil : tree(with: step.changes)
      commit(
        TreeStep(changes: step.changes, after: after),
        isMerge: false,
        at: step.timestamp
      )
      guard durability.revision == step.revision else { return nil }
    }
    return settled()
  }

  /// Puts rules in force that are durable already.
  ///
  /// If they do not compile here, everything is denied.
  mutating func follow(rules source: String, at timestamp: Int64) -> [HubOutput] {
    let outputs = setRules((try? RuleSet(source: source)) ?? .closed, at: timestamp)
    return outputs + settled()
  }

  /// Takes everything that has been applied as durable.
  private mutating func settled() -> [HubOutput] {
    takeBatch() == nil ? flush() : batchCommitted()
  }

  // MARK: Clients that change their server

  /// What a peer has open, which another server will answer from now on; nil if it must stay here.
  ///
  /// Its listens end without a message. It must not wait for any answer.
  mutating func giveUp(_ peer: PeerID) -> SessionState? {
    guard durability.outbox.hasNone(for: peer), let state = access.state(of: peer),
      !state.isExplained, !state.isLocal
    else { return nil }
    let keys = listens.accounts.keys(of: peer)
    guard keys.count <= SessionState.mostListens else { return nil }
    let open = keys.sorted().map { key in
      let tag = listens.registry.tag(of: key, peer: peer)
      return ListenRequest(path: key.path, query: key.query, tag: tag)
    }
    listens.endAll(of: peer)
    return SessionState(
      identity: state.identity,
      expires: state.expires,
      hasDoneNothing: access.hasDoneNothing(peer),
      listens: open
    )
  }

  /// Continues the listens that a peer, which has their data, had open at another server.
  ///
  /// - Returns: What it may no longer listen to.
  mutating func takeOver(
    _ state: SessionState,
    as peer: PeerID,
    at timestamp: Int64
  ) -> [HubOutput] {
    now = timestamp
    if state.identity != access.base(of: peer) {
      access.become(AuthState(identity: state.identity, expires: state.expires), peer: peer)
      writes.setOwner(state.identity, of: peer)
    }
    if !state.hasDoneNothing { access.markAuthorized(peer) }
    for listen in state.listens { resume(listen, of: peer) }
    endCredentials(at: timestamp)
    return flush()
  }

  /// Records that the rules have allowed a peer something elsewhere.
  mutating func noteAllowed(_ peer: PeerID) { access.markAuthorized(peer) }
}
