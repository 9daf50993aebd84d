package import DurableFiles

/// When a store folds its log, and how large it may grow.
package struct StoreOptions: Sendable {
  /// The number of batches in the log beyond which it is folded into the node table.
  package var foldBatches = 2_000
  /// The number of bytes in the log beyond which it is folded into the node table.
  package var foldBytes = 16 * 1_024 * 1_024
  /// The approximate number of rows that a fold changes before commits get a turn.
  var foldChangesPerTurn = 128
  /// The number of pages that a fold looks at for each row, from which it moves long rows away.
  var foldPagesPerChange = 128
  /// The time in milliseconds after which the ledger forgets a client that has not written.
  package var ledgerAge: Int64 = 30 * 24 * 60 * 60 * 1_000
  /// How long to wait for another process to release the directory.
  var lockPatience: Duration = .zero
  /// How far an observer has read the log, which keeps the rest for it; nil without an observer.
  package var logMark: LogMark?
  /// Called with each event, on any thread.
  package var report: @Sendable (StoreEvent) -> Void = { _ in }

  package init() {}
}

/// An operation that takes a store long, or an event without a caller to report it to.
package enum StoreEvent: Sendable {
  /// Reading the tree of a directory has begun; about a million rows take half a second.
  case loading(directory: String, rows: Int)
  /// The tree of a directory has been read.
  case loaded(directory: String, revision: Int64)
  /// The log could not be folded. It is kept, and nothing is lost.
  case foldFailed(StoreError)
  /// The log could be folded, after that had failed.
  case foldedAgain
  /// Other users had access to a directory; it has been revoked.
  case madePrivate(directory: String)
  /// The mark of acknowledged commits could not be written; commits continue.
  case markFailed(StoreError)
  /// The mark could be written, after that had failed.
  case markedAgain
}
