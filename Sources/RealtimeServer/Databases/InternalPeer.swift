internal import RealtimeHub
internal import RealtimeProtocol

/// A peer of the hub that lives in the server: what others say over a WebSocket, it says by calls.
protocol InternalPeer: AnyObject {
  /// Takes a message of the hub.
  func receive(_ message: ServerMessage)

  /// Takes the end that the hub wants; the peer closes itself.
  func disconnect(_ reason: DisconnectReason)
}
