import RealtimeCore

/// A transaction under way.
///
/// States: `ready` → `sent` → done; a stale answer leads back to `ready`. A local write over a sent
/// one makes it `sentNeedsAbort`; a refusal makes it `needsAbort`, which the next run carries out.
struct Transaction: Sendable {
  enum Status: Sendable, Equatable {
    /// Its output is computed and waits to be sent.
    case ready
    /// Its output is on the way, in the write of this number.
    case sent
    /// As sent, but a stale answer ends it with this status.
    case sentNeedsAbort(StatusCode, reason: String)
    /// It ends with this status when the queue is run again.
    case needsAbort(StatusCode, reason: String)
  }

  let token: RequestToken
  let path: Path
  let update: TransactionUpdate
  let appliesLocally: Bool
  /// Counts the transactions of an engine.
  let order: Int64
  var status = Status.ready
  /// How often it was sent.
  var tries = 0
  /// The time of the monotonic clock before which it is not sent once more.
  var earliestRetry = Int64.min
  /// The number of the write it was sent with, or nil.
  var put: Int64?
  /// The pending write that it shows as.
  var writeID: Int64
  /// What its function was last given.
  var input: Node
  /// What its function made of that, values of the server undecided.
  var output: Node
  /// The output with those values estimated.
  var estimate: Node
}
