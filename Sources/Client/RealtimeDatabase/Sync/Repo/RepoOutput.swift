package import RealtimeCore

/// Work that an engine requests; the caller performs the outputs in order.
package enum RepoOutput: Sendable {
  /// Open a connection, to the host that a server named or, if nil, to the database's own.
  ///
  /// Another connection may be open, whose server is silent.
  case connect(ConnectionID, host: String?)
  /// Close a connection; later reports about it are ignored.
  case disconnect(ConnectionID, DisconnectCause)
  case send(ConnectionID, ClientMessage)
  /// Send the text frame `0`.
  case sendKeepalive(ConnectionID)
  /// Start a timer with this many milliseconds, replacing a running one.
  case schedule(RepoTimer, after: Int64)
  case cancelTimer(RepoTimer)
  case raise(ListenerID, DataEvent)
  /// A listener ended because the server rejected it; nothing more is raised for it.
  case listenerCancelled(ListenerID, Outcome)
  /// A write, an onDisconnect operation or its cancellation has been answered.
  case writeCompleted(RequestToken, Outcome)
  case getCompleted(RequestToken, GetResult)
  /// A transaction has ended; if its function aborted, the status is ok and nothing is committed.
  case transactionCompleted(RequestToken, Outcome, committed: Bool, node: Node)
  /// The server rejected the credential; the engine stays offline until `authenticate` provides
  /// another one or `unauthenticate` drops it.
  case credentialRejected(Outcome)
  case credentialAccepted
  case persist([OfflineChange])
  case log(String)
}

/// Why an engine closes a connection or gives up an attempt.
package enum DisconnectCause: Hashable, Sendable {
  /// The caller or the server requested it.
  case intended
  /// The server has not answered for too long.
  case noAnswer
}

/// The state of the engine's connection.
package enum ConnectionPhase: Hashable, Sendable {
  case interrupted
  /// The next attempt starts at this time of the monotonic clock.
  case waiting(until: Int64)
  /// An attempt is under way, until the server's greeting.
  case connecting(ConnectionID)
  /// The server has greeted; requests and answers are exchanged.
  case connected(ConnectionID)
}

package enum GetResult: Sendable, Equatable {
  /// The data of the query and its origin.
  case value(Node, DataMetadata)
  case failure(Outcome)
}

/// How a request ended: its status, and the reason if it failed.
package struct Outcome: Sendable, Equatable, CustomStringConvertible {
  package let status: StatusCode
  /// The reason for a failure; empty if there is none.
  package let reason: String

  init(_ status: StatusCode, reason: String = "") {
    self.status = status
    self.reason = reason
  }

  package var description: String { "\(status) \(reason)" }

  /// The rejection of a write below `.info`.
  static let readOnly = Outcome(.invalidData, reason: "/.info cannot be written")
  /// The connection ended, and the request is not sent again.
  static let connectionLost = Outcome(
    .disconnect,
    reason: "the connection was lost before the response arrived"
  )
}

/// A timer of the engine; scheduling one again replaces it.
package enum RepoTimer: Hashable, Sendable {
  /// The pause before the next connection attempt is over.
  case reconnect
  /// A connection attempt took too long to reach the server's greeting.
  case connectTimeout
  /// It is time for a liveness check.
  case keepalive
  /// The pause before the next spare attempt is over, or that attempt took too long.
  case spare
  /// A read has waited too long for a connection.
  case getDeadline(RequestToken)
  /// The pause before the transactions at a path are resent is over.
  case transactionRetry(Path)
}
