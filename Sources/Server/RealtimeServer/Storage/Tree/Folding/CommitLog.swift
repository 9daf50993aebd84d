package import RealtimeCore

/// How far the log has been folded into the rows of the tree.
package struct FoldProgress: Equatable, Sendable {
  /// The last commit that is entirely in the rows of the tree.
  package let revision: Int64
  /// The last commit of the fold in progress; equal to ``revision`` when there is none.
  package let target: Int64
  /// How many changes of that fold are in the rows of the tree, in the order of
  /// ``CoalescedChanges``.
  package let applied: Int

  /// Describes a fold in progress.
  package init(revision: Int64, target: Int64, applied: Int) {
    self.revision = revision
    self.target = target
    self.applied = applied
  }

  /// Describes a state in which no fold is in progress.
  package init(revision: Int64) {
    self.init(revision: revision, target: revision, applied: 0)
  }
}

/// The log of a store: a row for each batch of commits that is not yet in the rows of the tree.
package protocol CommitLog {
  /// Passes on the number and the payload of each row whose last commit comes after one commit, and
  /// not after another, in order.
  func forEachLogRow(
    after revision: Int64,
    through last: Int64,
    _ body: (_ revision: Int64, _ payload: [UInt8]) throws -> Void
  ) throws
}

extension CommitLog {
  /// Passes on each batch that ends after a commit, whichever commit it begins with.
  ///
  /// - Throws: ``DamagedData`` when a batch is damaged, or any error of the body.
  package func forEachStoredBatch(
    after revision: Int64,
    through last: Int64 = .max,
    _ body: ([Commit]) throws -> Void
  ) throws {
    try forEachLogRow(after: revision, through: last) { revision, payload in
      try body(BatchCoding.commits(of: payload, endingWith: revision))
    }
  }

  /// Passes on the commits of each batch after a commit, in order, the first of which comes next.
  ///
  /// - Throws: ``DamagedData`` when a commit is damaged or missing, or any error of the body.
  package func forEachBatch(
    after revision: Int64,
    through last: Int64 = .max,
    _ body: ([Commit]) throws -> Void
  ) throws {
    var known = revision
    try forEachStoredBatch(after: revision, through: last) { commits in
      guard let first = commits.first, let last = commits.last else { return }
      guard first.revision == known + 1 else {
        throw DamagedData("commit \(known + 1) is missing")
      }
      known = last.revision
      try body(commits)
    }
  }

  /// The commits after one, in order; nil if the log does not reach back that far.
  ///
  /// - Throws: ``DamagedData`` when one of them is damaged or missing.
  package func commits(after revision: Int64) throws -> [Commit]? {
    var commits: [Commit] = []
    try forEachStoredBatch(after: revision) { batch in
      for commit in batch where commit.revision > revision {
        if let last = commits.last, commit.revision != last.revision + 1 {
          throw DamagedData("commit \(last.revision + 1) is missing")
        }
        commits.append(commit)
      }
    }
    return commits.first?.revision == revision + 1 ? commits : nil
  }

  /// All changes of a fold in progress, including those that have been applied.
  package func changes(of progress: FoldProgress) throws -> [Change] {
    guard progress.revision < progress.target else { return [] }
    var coalesced = CoalescedChanges()
    try forEachBatch(after: progress.revision, through: progress.target) { commits in
      for commit in commits { coalesced.add(commit.changes) }
    }
    return coalesced.changes
  }

  /// Passes on the changes that are not in the rows of the tree, in order.
  ///
  /// - Returns: The last commit.
  /// - Throws: ``DamagedData`` when a commit is damaged or missing, or any error of the body.
  @discardableResult
  package func forEachUnfolded(
    after progress: FoldProgress,
    _ body: (Change) throws -> Void
  ) throws -> Int64 {
    for change in try changes(of: progress).dropFirst(progress.applied) { try body(change) }
    var last = progress.target
    try forEachBatch(after: last) { commits in
      for change in commits.lazy.flatMap(\.changes) { try body(change) }
      last = commits.last?.revision ?? last
    }
    return last
  }
}
