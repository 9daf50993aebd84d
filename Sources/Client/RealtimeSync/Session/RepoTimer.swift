package import RealtimeCore

/// A timer that the engine asks for; scheduling one again replaces it.
package enum RepoTimer: Hashable, Sendable {
  /// Ends the pause before the next attempt to connect.
  case reconnect
  /// Gives up an attempt to connect that takes too long, up to the server's greeting.
  case connectTimeout
  /// Looks whether the connection has been idle or silent for too long.
  case keepalive
  /// Gives up a read for which no connection came about.
  case getDeadline(RequestToken)
  /// Ends the pause before the transactions at a path are sent once more.
  case transactionRetry(Path)
}
