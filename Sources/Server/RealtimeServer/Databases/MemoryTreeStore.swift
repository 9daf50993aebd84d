internal import NIOConcurrencyHelpers
internal import RealtimeCore
package import RealtimeHub

/// A store that keeps its data until the end of the process.
package final class MemoryTreeStore: TreeStore {
  private struct State {
    var root: Node
    var revision: Int64
    var ledger: [LedgerName: LedgerEntry] = [:]
    var sessions: [Int64: StoredSession] = [:]
    var rules: String?
  }

  private let state: NIOLockedValueBox<State>
  /// Called when it is closed.
  private let onClose: @Sendable (MemoryTreeStore) -> Void

  /// Makes a store with data; without arguments an empty one.
  package convenience init(_ stored: StoredTree = StoredTree()) {
    self.init(stored) { _ in }
  }

  init(
    _ stored: StoredTree = StoredTree(),
    onClose: @escaping @Sendable (MemoryTreeStore) -> Void
  ) {
    var state = State(root: stored.root, revision: stored.revision, rules: stored.rules)
    for entry in stored.ledger { state.ledger[entry.name] = entry }
    for session in stored.sessions { state.sessions[session.id] = session }
    self.state = NIOLockedValueBox(state)
    self.onClose = onClose
  }

  /// Whether it differs from a new one in nothing but the number of its last commit.
  var isBlank: Bool {
    state.withLockedValue { state in
      state.root.isEmpty && state.ledger.isEmpty && state.sessions.isEmpty && state.rules == nil
    }
  }

  package func load() -> StoredTree {
    state.withLockedValue { state in
      StoredTree(
        root: state.root,
        revision: state.revision,
        ledger: state.ledger.values.sorted { $0.name < $1.name },
        sessions: state.sessions.values.sorted { $0.id < $1.id },
        rules: state.rules
      )
    }
  }

  package func commit(_ batch: CommitBatch) {
    state.withLockedValue { state in
      for commit in batch.commits {
        for change in commit.changes { state.root.update(at: change.path, to: change.node) }
        state.revision = commit.revision
      }
      state.rules = batch.rules ?? state.rules
      for entry in batch.ledger { state.ledger[entry.name] = entry.upTo < 0 ? nil : entry }
      for update in batch.sessions {
        state.sessions[update.id] = update.applied(to: state.sessions[update.id])
      }
    }
  }

  package func close() { onClose(self) }
}
