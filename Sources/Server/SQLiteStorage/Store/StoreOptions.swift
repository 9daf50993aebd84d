package import DurableFiles

/// When a store tidies up, and how large it may grow.
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
  /// How far somebody reads the log, who must find all of the rest in it; nil for nobody.
  package var logMark: LogMark?
  /// Takes what happens, on any thread; the caller adds the time.
  package var report: @Sendable (StoreEvent) -> Void = { _ in }

  /// Makes the options that suit a server.
  package init() {}
}
