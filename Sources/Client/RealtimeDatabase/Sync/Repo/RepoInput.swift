package import RealtimeCore

/// An event that an engine handles.
///
/// Paths and data must be valid (see `Validation`); the engine does not check them again.
package enum RepoInput: Sendable {
  // From the caller. Those that need the server also start connecting on the first use.

  /// Raises events of these kinds for a query from now on.
  case observe(ListenerID, path: Path, query: Query, events: Set<DataEventType>)
  /// Removes one listener; no more events are raised for it.
  case stopObserving(ListenerID)
  /// Keeps the data of a query up to date without listeners, or stops doing so.
  case keepSynced(path: Path, query: Query, Bool)
  /// Reads the data of a query once, and by default keeps the result.
  case get(RequestToken, path: Path, query: Query, isKept: Bool = true)
  /// Writes; server values are passed unresolved.
  case write(RequestToken, path: Path, WriteOperation)
  /// Replaces the data at a location with the result of a function of the current data.
  case transaction(RequestToken, path: Path, appliesLocally: Bool, update: TransactionUpdate)
  /// Schedules a write for the end of the connection.
  case onDisconnect(RequestToken, path: Path, WriteOperation)
  /// Cancels the operations that are scheduled at and below a path.
  case cancelOnDisconnect(RequestToken, path: Path)
  /// Discards all unacknowledged writes, including transactions.
  case purgeOutstandingWrites
  /// Changes the user who owns new writes; another user's pending writes wait for that user.
  ///
  /// It must precede the user's credential. Transactions of the previous user are cancelled.
  case actAs(user: String?)
  /// Presents a credential now and on every later connection.
  case authenticate(ClientRequest.Authentication)
  case unauthenticate
  /// Removes a reason not to connect.
  case goOnline(InterruptReason)
  /// Adds a reason not to connect.
  case goOffline(InterruptReason)
  /// Asks whether the server is alive.
  case probe

  // From the transport and the clock.

  /// The socket of an attempt is open; the server's greeting comes next.
  case transportOpened(ConnectionID)
  case message(ConnectionID, ServerMessage)
  /// Part of a long message was received or sent.
  case transportProgress(ConnectionID)
  /// The socket closed, or could not be opened.
  case transportClosed(ConnectionID, reason: String)
  /// The store now has this size in bytes.
  case storeSize(Int64)
  case timerFired(RepoTimer)
}

/// Identifies one connection attempt; reports about an earlier attempt are ignored.
package struct ConnectionID: Hashable, Sendable {
  /// The number of the attempt, counted from 1 in each engine.
  package let number: Int64

  package init(_ number: Int64) {
    self.number = number
  }
}

/// A reason not to connect; the engine connects only while there is none.
package enum InterruptReason: Hashable, Sendable {
  /// The engine has not been used yet; its first use removes this reason.
  case waitingForOpen
  /// The caller has gone offline.
  case user
  /// The server rejected the credential; presenting another, or dropping it, removes this reason.
  case tokenRefresh
  /// The server asked the client not to reconnect.
  case serverKill
}

/// The environment at the time of an input: two clocks and a random number.
package struct RepoTime: Hashable, Sendable {
  /// Milliseconds since 1970 by the local clock, which may jump.
  package var wall: Int64
  /// Milliseconds on a clock that only moves forward.
  package var monotonic: Int64
  /// A random number from 0 up to but not including 1, which spreads reconnection attempts.
  package var random: Double

  package init(wall: Int64, monotonic: Int64, random: Double) {
    self.wall = wall
    self.monotonic = monotonic
    self.random = random
  }
}

/// The decision of a transaction's update function about the data it was given.
package enum TransactionDecision: Sendable {
  /// Write this data, with exactly the priorities that it has.
  case commit(Node)
  case abort
}

/// Computes a transaction's new data from the current data; runs again when that changes.
///
/// It runs inside the engine, so it must be quick and must not call back into the engine.
package typealias TransactionUpdate = @Sendable (Node) -> TransactionDecision
