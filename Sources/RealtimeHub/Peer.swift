internal import RealtimeProtocol

/// One connection as the hub knows it.
struct Peer: Sendable {
  /// What it listens to.
  var listens: Set<ListenKey> = []
  /// What is to be written when it ends.
  var disconnects = DisconnectTable()
  /// The number under which that is stored, once there was anything.
  var session: Int64?
  /// What it has authenticated with last.
  var credentials: ClientRequest.Authentication?
  /// Whether its connection is to be closed, so that nothing it says counts any more.
  var isLeaving = false
}
