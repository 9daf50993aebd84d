/// How far the engine is with its connection.
package enum ConnectionPhase: Hashable, Sendable {
  /// There is a reason not to connect.
  case interrupted
  /// The next attempt starts at this time of the monotonic clock.
  case waiting(until: Int64)
  /// An attempt is under way, up to the server's greeting.
  case connecting(ConnectionID)
  /// The server has greeted; requests and answers flow.
  case connected(ConnectionID)
}
