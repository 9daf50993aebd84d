internal import NIOConcurrencyHelpers
internal import RealtimeCore

/// The stores of a server's databases, as the server uses them.
///
/// The server calls it on threads of its own: one call at a time for the same name, possibly
/// several at once for different names. Every function throws a ``StoreError`` when it fails.
package protocol TreeStores: Sendable {
  /// The names of the databases that exist, in order.
  func names() throws -> [String]

  /// Opens the store of a database, or returns nil when there is no such database.
  func open(_ name: String) throws -> (any TreeStore)?

  /// Creates an empty database, unless one of this name exists, and returns whether it did.
  func create(_ name: String) throws -> Bool
}

/// The databases of a storage, with the operations that command-line tools use.
package protocol StoredDatabases: TreeStores {
  /// A database by its name, which need not exist yet.
  func database(_ name: String) -> any StoredDatabase
}

/// Existing stores, and new ones in memory; a new one that is empty when it is closed is discarded.
package final class MemoryTreeStores: TreeStores {
  private let stores: NIOLockedValueBox<[String: any TreeStore]>

  package init(_ stores: [String: any TreeStore] = [:]) {
    self.stores = NIOLockedValueBox(stores)
  }

  package func names() -> [String] { stores.withLockedValue { $0.keys.sorted() } }

  package func open(_ name: String) -> (any TreeStore)? { stores.withLockedValue { $0[name] } }

  package func create(_ name: String) -> Bool {
    stores.withLockedValue { stores in
      guard stores[name] == nil else { return false }
      stores[name] = MemoryTreeStore { [weak self] in self?.closed($0, named: name) }
      return true
    }
  }

  private func closed(_ store: MemoryTreeStore, named name: String) {
    guard store.isBlank else { return }
    stores.withLockedValue { stores in
      if (stores[name] as? MemoryTreeStore) === store { stores[name] = nil }
    }
  }
}

/// A store that keeps its data in memory until the end of the process.
package final class MemoryTreeStore: TreeStore {
  private struct State {
    var root: Node
    var revision: Int64
    var ledger: [LedgerName: LedgerEntry] = [:]
    var sessions: [Int64: StoredSession] = [:]
    var rules: String?
  }

  private let state: NIOLockedValueBox<State>
  private let onClose: @Sendable (MemoryTreeStore) -> Void

  package init(
    _ stored: StoredTree = StoredTree(),
    onClose: @escaping @Sendable (MemoryTreeStore) -> Void = { _ in }
  ) {
    var state = State(root: stored.root, revision: stored.revision, rules: stored.rules)
    for entry in stored.ledger { state.ledger[entry.name] = entry }
    for session in stored.sessions { state.sessions[session.id] = session }
    self.state = NIOLockedValueBox(state)
    self.onClose = onClose
  }

  /// Whether it differs from a new store at most in the number of its last commit.
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
