package import DurableFiles
package import RealtimeHub

/// When a store folds its log, and how large it may grow.
package struct StoreOptions: Sendable {
  /// The batches in the log beyond which it is folded into the node table.
  package var foldBatches = 2_000
  /// The bytes in the log beyond which it is folded into the node table.
  package var foldBytes = 16 * 1_024 * 1_024
  /// How many rows a fold changes, about, before commits get a turn.
  package var foldChangesPerTurn = 128
  /// The age in milliseconds at which the ledger forgets a client that has not written since.
  package var ledgerAge: Int64 = 30 * 24 * 60 * 60 * 1_000
  /// The most pages of 4 KiB that the file may have, or nil for as many as the disk has.
  package var pageLimit: Int?
  /// How long to wait for another process to give the directory up.
  package var lockPatience: Duration = .zero
  /// How far an observer has read the log, which keeps the rest for it; nil without an observer.
  package var logMark: LogMark?
  /// Called with events, on any thread.
  package var report: @Sendable (StoreEvent) -> Void = { _ in }

  /// Makes the options that suit a server.
  package init() {}
}

/// Something that takes a store long, or that happens without a caller who could be told.
package enum StoreEvent: Sendable {
  /// Reading the tree of a directory has begun; about a million rows take half a second.
  case loading(directory: String, rows: Int)
  /// The tree of a directory has been read.
  case loaded(directory: String, revision: Int64)
  /// The log could not be folded; it stays as it is, and nothing is lost.
  case foldFailed(StoreError)
  /// Other users had access to a directory, which was revoked.
  case madePrivate(directory: String)
  /// The mark of what has been acknowledged could not be written; commits go on.
  case markFailed(StoreError)
}
