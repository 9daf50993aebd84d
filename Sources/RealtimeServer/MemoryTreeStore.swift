internal import NIOConcurrencyHelpers
package import RealtimeHub
internal import RealtimeProtocol
internal import RealtimeTree

/// A store that keeps its data until the end of the process.
package final class MemoryTreeStore: TreeStore {
  private let stored: NIOLockedValueBox<StoredTree>

  /// Makes a store.
  package init(_ stored: StoredTree = StoredTree()) {
    self.stored = NIOLockedValueBox(stored)
  }

  package func load() -> StoredTree {
    stored.withLockedValue { $0 }
  }

  package func commit(_ batch: CommitBatch) {
    stored.withLockedValue { stored in
      for commit in batch.commits {
        for change in commit.changes { stored.root.update(at: change.path, to: change.node) }
        stored.revision = commit.revision
      }
      for entry in batch.ledger {
        stored.ledger.removeAll { $0.client == entry.client }
        stored.ledger.append(entry)
      }
    }
  }

  package func close() {}
}
