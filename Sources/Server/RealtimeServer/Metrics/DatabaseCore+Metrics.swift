internal import RealtimeCore
internal import RealtimeHub

extension DatabaseCore {
  /// Where administrators read the numbers over a WebSocket.
  private static let metricsPath = Path(wire: ".info/metrics")

  /// The answer to a `g` for the server's numbers, or nil for any other request.
  ///
  /// It comes at once, since the numbers have no place in the order of writes.
  func metrics(for request: ClientRequest, of peer: PeerID) -> ServerMessage.Response? {
    guard case .get(Self.metricsPath, _) = request else { return nil }
    guard hub.identity(of: peer) == .administrator else {
      return ServerMessage.Response(.permissionDenied, .json(.string("Permission denied")))
    }
    return ServerMessage.Response(.ok, .json(context.metrics()))
  }
}
