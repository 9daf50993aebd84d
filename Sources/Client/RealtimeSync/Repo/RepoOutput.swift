package import RealtimeCore

/// Something that an engine wants done; the caller performs outputs in their order.
package enum RepoOutput: Sendable {
  /// Open a connection, to the host a server named or (nil) the one of the database.
  case connect(ConnectionID, host: String?)
  /// Close a connection; what it still reports is ignored.
  case disconnect(ConnectionID)
  /// Send a message.
  case send(ConnectionID, ClientMessage)
  /// Send the text frame `0`.
  case sendKeepalive(ConnectionID)
  /// Tell me this timer after so many milliseconds; replaces the timer if it runs.
  case schedule(RepoTimer, after: Int64)
  /// Forget a timer.
  case cancelTimer(RepoTimer)
  /// Call a listener.
  case raise(ListenerID, DataEvent)
  /// A listener ended because the server refused it; nothing more is raised for it.
  case listenerCancelled(ListenerID, StatusCode, reason: String)
  /// A write (or a scheduled one, or its withdrawal) was answered.
  case writeCompleted(RequestToken, StatusCode, reason: String)
  /// A read ended.
  case getCompleted(RequestToken, GetResult)
  /// A transaction ended; an abort by its function is status ok without commit.
  case transactionCompleted(RequestToken, StatusCode, reason: String, committed: Bool, node: Node)
  /// The server does not take the credential; the engine is offline until `authenticate` brings
  /// another one or `unauthenticate` gives it up.
  case credentialRejected(StatusCode, reason: String)
  /// The server accepted the credential.
  case credentialAccepted
  /// Hand these changes to the store.
  case persist([OfflineChange])
  /// A line for the log.
  case log(String)
}

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

/// How a single read ended.
package enum GetResult: Sendable, Equatable {
  /// The data of the query, and where they come from.
  case value(Node, DataMetadata)
  /// The read failed, with the status and its reason.
  case failure(StatusCode, reason: String)
}

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
