/// How much was done in a run.
package struct Activity: Hashable, Sendable {
  /// The clients, without the driver.
  package let clients: Int
  /// The operations that began.
  package let operations: Int
  /// Those that were acknowledged.
  package let acknowledged: Int
  /// Those that were refused.
  package let refused: Int
  /// Those of which nobody knows.
  package let unknown: Int
  /// Acknowledged comments.
  package let comments: Int
  /// Acknowledged stars, set or taken away.
  package let stars: Int
  /// What listeners have shown.
  package let shown: Int
  /// Commits seen one by one.
  package let commits: Int
  /// Times that commits were missed.
  package let gaps: Int
  /// Times that the server was killed.
  package let crashes: Int

  init(_ evidence: Evidence) {
    let operations = evidence.history.operations
    clients = evidence.history.clients.count { $0.header.role != .driver }
    self.operations = operations.count
    acknowledged = operations.count(where: \.isAcknowledged)
    refused = operations.count(where: \.isRefused)
    unknown = operations.count(where: \.isUnknown)
    comments = operations.count { operation in
      if case .comment = operation.intent { operation.isAcknowledged } else { false }
    }
    stars = operations.count { operation in
      switch operation.intent {
      case .star, .unstar: operation.isAcknowledged
      case .post, .editPost, .deletePost, .comment, .deleteComment, .increment, .read, .starAs,
        .editOther, .administer:
        false
      }
    }
    shown = evidence.history.clients.reduce(0) { sum, client in
      sum + client.lines.count { if case .shown = $0.event { true } else { false } }
    }
    commits = evidence.testimony.commitCount
    gaps = evidence.testimony.gapCount
    crashes = evidence.testimony.entries.count { if case .crash = $0 { true } else { false } }
  }

  /// What there was too little of, in words; empty when the run means something.
  func shortages(_ least: CheckOptions.Least) -> [String] {
    [
      (acknowledged, least.acknowledged, "acknowledged operations"),
      (commits, least.commits, "commits"),
      (comments, least.comments, "acknowledged comments"),
      (stars, least.stars, "acknowledged stars"),
      (shown, least.shown, "things shown"),
    ].filter { $0.0 < $0.1 }.map { "\($0.0) \($0.2) of at least \($0.1)" }
  }
}
