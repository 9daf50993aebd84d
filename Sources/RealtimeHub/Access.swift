internal import RealtimeProtocol
internal import RealtimeTree

/// Decides who may read and write: the one place where security rules belong.
///
/// Without rules everything is allowed.
struct Access: Sendable {
  /// Why a peer may not read what a query selects, or nil when it may.
  func refusal(
    toRead path: Path,
    _ query: Query,
    of root: Node,
    as credentials: ClientRequest.Authentication?
  ) -> Refusal? {
    nil
  }

  /// Why a peer may not make changes, whose server values are decided, or nil when it may.
  func refusal(
    toApply changes: [Change],
    to root: Node,
    as credentials: ClientRequest.Authentication?
  ) -> Refusal? {
    nil
  }
}
