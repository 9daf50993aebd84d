internal import RealtimeCore
internal import SecurityRules

extension TreeHub {
  /// Why someone may not read what a query selects, or nil; administrators read everything.
  func refusal(toRead path: Path, _ query: Query, as standing: Standing) -> Refusal? {
    guard let decision = decision(toRead: path, query, as: standing), !decision.isAllowed else {
      return nil
    }
    guard standing.isExplained else { return Self.refusal(nil) }
    return Self.refusal(self.decision(toRead: path, query, as: standing, explaining: true))
  }

  /// What the rules say of a read, or nil where they are not asked.
  private func decision(
    toRead path: Path,
    _ query: Query,
    as standing: Standing,
    explaining: Bool = false
  ) -> Decision? {
    guard let subject = standing.subject else { return nil }
    return rules.canRead(
      path,
      query: query,
      by: subject,
      now: now ?? 0,
      root: root,
      steps: limits.ruleSteps,
      explaining: explaining
    )
  }

  /// Asks whether someone may turn the tree into another; administrators may do everything.
  ///
  /// - Parameters:
  ///   - paths: Where something was asked to be written, whether or not it changes anything: who
  ///     may not write must not learn by trying what is there.
  ///   - after: The tree with everything written, server values decided.
  ///   - standing: Who asks.
  ///   - timestamp: What server timestamps have become.
  /// - Returns: Why not, or nil.
  func refusal(
    toWrite paths: [Path],
    makingOf after: Node,
    as standing: Standing,
    at timestamp: Int64
  ) -> Refusal? {
    guard let subject = standing.subject else { return nil }
    let decision = rules.canWrite(
      paths,
      by: subject,
      now: timestamp,
      from: root,
      to: after,
      steps: limits.ruleSteps
    )
    if decision.isAllowed { return nil }
    guard standing.isExplained else { return Self.refusal(nil) }
    return Self.refusal(
      rules.canWrite(
        paths,
        by: subject,
        now: timestamp,
        from: root,
        to: after,
        steps: limits.ruleSteps,
        explaining: true
      )
    )
  }

  /// Why a write is refused before anything is built for it, or nil when that takes a closer look.
  ///
  /// A large write takes long to check and to apply: who may not make it must not be able to make
  /// others wait for that.
  ///
  /// - Parameters:
  ///   - operation: What is to be written.
  ///   - path: Where.
  ///   - standing: Who asks.
  ///   - timestamp: The time for the rules.
  /// - Returns: The refusal.
  /// - Complexity: O(places · depth), times the cost of the rules, for a large write
  func earlyRefusal(
    of operation: WriteOperation,
    at path: Path,
    as standing: Standing,
    at timestamp: Int64
  ) -> Refusal? {
    guard let subject = standing.subject else { return nil }
    let changes: [Change] =
      switch operation {
      case .set(let node): [Change(.root, node)]
      case .merge(let changes): changes
      }
    if changes.count > limits.updatePlaces {
      return Refusal(
        .tooBig,
        "an update may change \(limits.updatePlaces) places at most, not \(changes.count)"
      )
    }
    var measure = NodeMeasure(values: limits.writeValues)
    for change in changes { measure.add(change.node) }
    if measure.isExceeded {
      return Refusal(.tooBig, "a write may have \(limits.writeValues) values at most")
    }
    // Who may know the rules is told which of them it is.
    guard max(changes.count, measure.values) > Self.fewPlaces, !standing.isExplained else {
      return nil
    }
    let isPossible = rules.couldWrite(
      changes.lazy.map { path.appending($0.path) },
      by: subject,
      now: timestamp,
      from: root,
      steps: limits.ruleSteps
    )
    return isPossible ? nil : Self.refusal(nil)
  }

  /// Up to how many places, or values, it is not worth while to ask twice.
  private static let fewPlaces = 32

  /// The refusal of a request, with the reason for those who may know the rules.
  private static func refusal(_ explained: Decision?) -> Refusal {
    let reason = explained.map { ": \($0.explanation)" } ?? ""
    return Refusal(.permissionDenied, "Permission denied\(reason)")
  }

  /// Looks again at what a peer listens to, after it or the rules have changed, and ends what it may
  /// no longer read.
  mutating func reviewListens(of peer: PeerID) {
    guard let state = peers[peer], !state.listens.isEmpty else { return }
    let revoked = state.listens.filter { !grantsListen($0, to: peer, as: state.standing) }
    for key in revoked.sorted() { revoke(key, of: peer) }
  }

  /// Whether a peer may listen, remembering when the answer depends on data or the time.
  mutating func grantsListen(_ key: ListenKey, to peer: PeerID, as standing: Standing) -> Bool {
    guard let decision = decision(toRead: key.path, key.query, as: standing) else {
      conditionalListens.remove(peer, key)
      return true
    }
    if decision.isAllowed, !decision.isLasting {
      conditionalListens.insert(peer, key)
    } else {
      conditionalListens.remove(peer, key)
    }
    return decision.isAllowed
  }

  /// Ends the listens that a commit is about to be told to, and that its data no longer allow.
  ///
  /// A listen whose rule reads data or the time is looked at again whenever there is something to
  /// tell: until then it gets nothing, so that there is nothing to withhold. The price is one
  /// evaluation for each such listener of a place that changes, and none for all other listens.
  mutating func reviewConditionalListens(_ effect: CommitEffect) {
    guard !conditionalListens.isEmpty else { return }
    for (peer, key) in conditionalListens.affected(by: effect) {
      guard let standing = peers[peer]?.standing else { continue }
      if !grantsListen(key, to: peer, as: standing) { revoke(key, of: peer) }
    }
  }

  /// Ends a listen and tells its peer.
  private mutating func revoke(_ key: ListenKey, of peer: PeerID) {
    endListen(key, of: peer)
    // Only some clients look at the query, so it is named only where there is one.
    let queries = key.query.loadsAllData ? nil : [key.query]
    append(.push(.listenRevoked(path: key.path, queries: queries)), to: peer, .disconnect)
  }

  /// Forgets a listen; one that does not exist, or was never granted, is no error.
  mutating func endListen(_ key: ListenKey, of peer: PeerID) {
    conditionalListens.remove(peer, key)
    guard peers[peer]?.listens.remove(key) != nil else { return }
    registry.remove(peer, key, &orders)
  }
}
