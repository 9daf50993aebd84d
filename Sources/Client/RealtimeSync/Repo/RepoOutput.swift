package import RealtimeCore

/// Something that an engine wants done; the caller performs the outputs in order.
package enum RepoOutput: Sendable {
  /// Open a connection, to the host that a server named or, if nil, to the database's own.
  ///
  /// There may be another one, which is silent.
  case connect(ConnectionID, host: String?)
  /// Close a connection; its later reports are ignored.
  case disconnect(ConnectionID, DisconnectCause)
  /// Send a message.
  case send(ConnectionID, ClientMessage)
  /// Send the text frame `0`.
  case sendKeepalive(ConnectionID)
  /// Start a timer of so many milliseconds; replaces the timer if it is running.
  case schedule(RepoTimer, after: Int64)
  /// Cancel a timer.
  case cancelTimer(RepoTimer)
  /// Call a listener.
  case raise(ListenerID, DataEvent)
  /// A listener ended because the server rejected it; nothing more is raised for it.
  case listenerCancelled(ListenerID, StatusCode, reason: String)
  /// A write was answered, or one for the end of the connection, or its withdrawal.
  case writeCompleted(RequestToken, StatusCode, reason: String)
  /// A read ended.
  case getCompleted(RequestToken, GetResult)
  /// A transaction ended; if its function aborted it, the status is ok and nothing is committed.
  case transactionCompleted(RequestToken, StatusCode, reason: String, committed: Bool, node: Node)
  /// The server rejected the credential; the engine is offline until `authenticate` brings another
  /// one or `unauthenticate` gives it up.
  case credentialRejected(StatusCode, reason: String)
  /// The server accepted the credential.
  case credentialAccepted
  /// Hand these changes to the store.
  case persist([OfflineChange])
  /// A line for the log.
  case log(String)
}

/// Why an engine closes a connection, or gives up an attempt to make one.
package enum DisconnectCause: Hashable, Sendable {
  /// The caller or the server wants it so.
  case intended
  /// The server has not answered for too long.
  case noAnswer
}

/// The state of the engine's connection.
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
  /// The data of the query and where they come from.
  case value(Node, DataMetadata)
  /// The read failed, with the status and its reason.
  case failure(StatusCode, reason: String)
}

/// A timer of the engine; scheduling one again replaces it.
package enum RepoTimer: Hashable, Sendable {
  /// The pause before the next attempt to connect is over.
  case reconnect
  /// An attempt to connect took too long, up to the server's greeting.
  case connectTimeout
  /// It is time to check whether the connection is idle or dead.
  case keepalive
  /// The pause before the next attempt beside a silent server is over, or the attempt took too long.
  case spare
  /// A read has waited too long for a connection.
  case getDeadline(RequestToken)
  /// The pause before the transactions at a path are sent again is over.
  case transactionRetry(Path)
}
