/// A bug that a run puts in on purpose, to see that the checks find it.
enum Fault: CaseIterable, Sendable {
  /// A write is answered and not applied.
  case lostUpdate
  /// A push never leaves.
  case droppedEvent
  /// A write is applied a second time, without the key that would tell.
  case doubledWrite
  /// A read is answered with data that were replaced long ago.
  case staleRead
  /// Only the first place of a multi-path update is written.
  case halfUpdate
  /// Outputs leave before the store has their batch.
  case earlyAcknowledgement
  /// A completion is called twice.
  case doubledCompletion
  /// A listener does not hear of a child.
  case missingChildEvent
  /// What was scheduled for the end of a connection is forgotten when the server restarts.
  case forgottenDisconnect
  /// The server goes on as if nothing of a batch were stored, when nobody knows whether it is.
  case presumedFailure
}
