package import DurableFiles
package import RealtimeHub
package import TreeStorage

/// How a store uses PostgreSQL.
package struct PostgresStoreOptions: Sendable {
  /// How long a commit may take, with all attempts to reach PostgreSQL again while it is away.
  package var commitLimit: Duration = .seconds(10)
  /// How long PostgreSQL may be silent while it gives or takes a whole tree.
  package var silenceLimit: Duration = .seconds(60)
  /// How long one question about servers and leases may take.
  package var leaseLimit: Duration = .seconds(3)
  /// How long a lease counts that a store renews by itself, without a server that does it.
  package var ownLease: Duration = .seconds(10)
  /// How long to wait for another server to give a database up.
  package var patience: Duration = .zero
  /// The batches in the log beyond which it is folded into the nodes.
  package var foldBatches = 2_000
  /// The bytes in the log beyond which it is folded into the nodes.
  package var foldBytes = 16 * 1_024 * 1_024
  /// How many changes a transaction of a fold makes.
  package var foldChanges = 1_000
  /// The age in milliseconds at which the ledger forgets a client that has not written since.
  package var ledgerAge: Int64 = 30 * 24 * 60 * 60 * 1_000
  /// How far an observer has read the log, which keeps the rest for it; nil without an observer.
  package var logMark: LogMark?
  /// Writes a copy of a whole database into a file; nil where copies are not made.
  package var copy: (@Sendable (StoredRows, String) throws -> StoreCheck)?
  /// Called with events, on any thread.
  package var report: @Sendable (PostgresStoreEvent) -> Void = { _ in }

  /// Makes the options that suit a server.
  package init() {}
}

/// Something that takes a store long, or that happens without a caller who could be told.
package enum PostgresStoreEvent: Sendable {
  /// Reading the tree of a database has begun.
  case loading(database: String, rows: Int)
  /// The tree of a database has been read.
  case loaded(database: String, revision: Int64)
  /// The log could not be folded; it stays as it is, and nothing is lost.
  case foldFailed(StoreError)
  /// The connection of a database was lost in a commit, and another one has settled what became of it.
  case reconnected(database: String, wasStored: Bool)
  /// A lease that the store renews by itself could not be renewed.
  case renewalFailed(StoreError)
}
