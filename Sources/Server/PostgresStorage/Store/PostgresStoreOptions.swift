package import DurableFiles
package import NIOConcurrencyHelpers
package import RealtimeServer

/// How a store uses PostgreSQL.
package struct PostgresStoreOptions: Sendable {
  /// How long a commit may take, including all attempts to reconnect to PostgreSQL.
  package var commitLimit: Duration = .seconds(10)
  /// How many connections to PostgreSQL a server has at most.
  ///
  /// All its databases share them, except one that renews the leases and one for accounts. With 30,
  /// three servers leave some of PostgreSQL's usual 100.
  package var connections = 30
  /// How long one connection may take for a small commit before another one settles the outcome.
  package var attemptLimit: Duration = .seconds(1)
  /// How many batches of a database may be under way; within that, as many as the distance to
  /// PostgreSQL is worth.
  package var batchesUnderWay: ClosedRange<Int> = 1...8
  /// How long one query about servers and leases may take.
  package var leaseLimit: Duration = .seconds(3)
  /// The duration of a lease that a store renews itself, without a server that does so.
  package var ownLease: Duration = .seconds(10)
  /// How long a lease that PostgreSQL has lost may still be valid: the lease of a server.
  package var settling: Duration = .seconds(4)
  /// How long to wait for another server to release a database.
  package var patience: Duration = .zero
  /// The number of batches in the log beyond which it is folded into the nodes.
  package var foldBatches = 2_000
  /// The number of bytes in the log beyond which it is folded into the nodes.
  package var foldBytes = 16 * 1_024 * 1_024
  /// The number of changes in each transaction of a fold.
  package var foldChanges = 1_000
  /// The time in milliseconds after which the ledger forgets a client that has not written.
  package var ledgerAge: Int64 = 30 * 24 * 60 * 60 * 1_000
  /// How far an observer has read the log, which keeps the rest for it; nil without an observer.
  package var logMark: LogMark?
  /// Copies a whole database into a file; nil if copies are not supported.
  package var copy: (@Sendable (StoredRows, String) throws -> StoreCheck)?
  /// Whether to make the schema if it is missing.
  package var changesSchema = true
  /// Where the stores count what they do.
  package let activity = NIOLockedValueBox(StorageActivity())
  /// The version of the program, which other programs may see; without spaces.
  package var version = "unknown"
  /// Called with each event, on any thread.
  package var report: @Sendable (PostgresStoreEvent) -> Void = { _ in }

  package init() {}

  /// The least number of connections: one each for commits, reading and folding, leases, accounts.
  package static let leastConnections = 4
}

/// An operation that takes a store long, or an event without a caller to report it to.
package enum PostgresStoreEvent: Sendable {
  /// Reading the tree of a database has begun.
  case loading(database: String, rows: Int)
  /// The tree of a database has been read.
  case loaded(database: String, revision: Int64)
  /// The log of a database could not be folded. It is kept, and nothing is lost.
  case foldFailed(database: String, StoreError)
  /// The log of a database could be folded, after that had failed.
  case foldedAgain(database: String)
  /// A connection was lost during a commit, and another one has determined the outcome.
  case reconnected(database: String, wasStored: Bool)
  /// A lease that the store renews itself could not be renewed.
  case renewalFailed(StoreError)
  /// That lease could be renewed, after that had failed.
  case renewedAgain
}
