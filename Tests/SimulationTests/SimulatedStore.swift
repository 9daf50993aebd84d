import RealtimeCore
import RealtimeHub

/// A store that keeps every revision, and fails when it is told to.
struct SimulatedStore {
  private(set) var stored: StoredTree
  private(set) var commits: [Commit] = []
  /// The data after each revision, from 0.
  private(set) var roots: [Node]
  /// Until when every batch fails.
  var failsUntil: Int64 = 0

  init(_ root: Node) {
    stored = StoredTree(root: root)
    roots = [root]
  }

  /// The number of the last commit.
  var revision: Int64 { stored.revision }

  /// Stores a batch; returns what is wrong with it, or nil.
  mutating func commit(_ batch: CommitBatch) -> String? {
    for commit in batch.commits {
      guard commit.revision == stored.revision + 1 else {
        return "commit \(commit.revision) after \(stored.revision)"
      }
      for change in commit.changes { stored.root.update(at: change.path, to: change.node) }
      stored.revision = commit.revision
      commits.append(commit)
      roots.append(stored.root)
    }
    let names = Set(batch.ledger.map(\.name))
    stored.ledger.removeAll { names.contains($0.name) }
    stored.ledger += batch.ledger.filter { $0.upTo >= 0 }
    for update in batch.sessions {
      let before = stored.sessions.first { $0.id == update.id }
      stored.sessions.removeAll { $0.id == update.id }
      if let after = update.applied(to: before) { stored.sessions.append(after) }
    }
    stored.sessions.sort { $0.id < $1.id }
    return nil
  }
}
