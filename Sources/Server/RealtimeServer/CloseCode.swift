/// Why the server ends a WebSocket, as the two bytes of its goodbye say.
///
/// What a client sends after a handshake that was refused is not read: the refusal is an HTTP answer,
/// and the connection closes behind it.
enum CloseCode {
  /// A newer connection of the same client has taken its place.
  static let normal: UInt16 = 1_000
  /// The server is stopping.
  static let goingAway: UInt16 = 1_001
  /// A message or frame cannot be understood.
  static let protocolError: UInt16 = 1_002
  /// The client did not sign in where it must, took too long for a message, or its user has too many
  /// connections.
  static let policyViolation: UInt16 = 1_008
  /// The store has failed, and what the client has been shown may be gone.
  static let tryAgainLater: UInt16 = 1_013
}
