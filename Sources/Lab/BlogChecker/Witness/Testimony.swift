package import RealtimeCore
package import RealtimeHub

/// What a witness saw of the database, by a way that does not go through the clients.
package struct Testimony: Sendable {
  /// One thing that the witness saw.
  package enum Entry: Sendable {
    /// The next commit, and when the witness had it: at its time or after it.
    case commit(Commit, seen: Moment)
    /// Commits were missed, and all was read anew.
    case jump(Node, revision: Int64, seen: Moment)
    /// The server has ended between two moments; what was seen so far is all that it had committed.
    case crash(after: Moment, before: Moment)
  }

  /// All data at the beginning.
  package var root: Node
  /// The last commit before the beginning.
  package var revision: Int64
  /// What was seen, in its order.
  package var entries: [Entry]
  /// All data at the end, read as a whole and not put together from the commits.
  package var finalRoot: Node
  /// The last commit that is in them, or nil when that is not known.
  package var finalRevision: Int64?
  /// The security rules that were in force at some time.
  package var rules: [String]
  /// Whether the numbers of the commits are those of the server; a stream of events has none.
  package var hasRevisions: Bool

  /// Makes a testimony.
  package init(
    root: Node = .empty,
    revision: Int64 = 0,
    entries: [Entry] = [],
    finalRoot: Node,
    finalRevision: Int64? = nil,
    rules: [String] = [],
    hasRevisions: Bool = true
  ) {
    self.root = root
    self.revision = revision
    self.entries = entries
    self.finalRoot = finalRoot
    self.finalRevision = finalRevision
    self.rules = rules
    self.hasRevisions = hasRevisions
  }

  /// The number of commits that were seen one by one.
  package var commitCount: Int {
    entries.count { if case .commit = $0 { true } else { false } }
  }

  /// The number of times that commits were missed.
  package var gapCount: Int {
    entries.count { if case .jump = $0 { true } else { false } }
  }
}
