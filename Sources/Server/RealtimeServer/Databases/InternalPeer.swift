internal import RealtimeCore
internal import RealtimeHub

/// A peer of the hub that lives in the server: what others say over a WebSocket, it says by calls.
protocol InternalPeer: AnyObject {
  /// Takes a message of the hub.
  func receive(_ message: ServerMessage)

  /// Takes the end that the hub wants; the peer closes itself.
  func disconnect(_ reason: DisconnectReason)

  /// Takes that the server stops: what the hub has not been asked for yet is asked for no more.
  func serverStops()
}

extension InternalPeer {
  func serverStops() {}
}
