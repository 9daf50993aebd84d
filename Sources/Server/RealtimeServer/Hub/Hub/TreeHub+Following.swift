internal import RealtimeCore

/// Following another hub, which leads the database: its commits are made here as they were stored.
extension TreeHub {
  /// Makes commits that are durable already.
  ///
  /// - Parameter commits: Commits in ascending order, the next ones of the database.
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

  /// Notes that the rules have allowed a peer something elsewhere.
  mutating func noteAllowed(_ peer: PeerID) { access.markAuthorized(peer) }
}
