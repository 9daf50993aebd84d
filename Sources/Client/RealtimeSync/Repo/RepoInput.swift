package import RealtimeCore

/// Something that happened, which an engine has to deal with.
///
/// Paths and data must be legal (see `Validation`); the engine does not check them again.
package enum RepoInput: Sendable {
  // From the caller. The first of these also starts connecting.

  /// Raises events of these kinds for a query from now on.
  case observe(ListenerID, path: Path, query: Query, events: Set<EventKind>)
  /// Ends one listener; nothing is raised for it any more.
  case stopObserving(ListenerID)
  /// Ends all listeners of a query; with the default query, all listeners of the location.
  case stopObservingAll(path: Path, query: Query)
  /// Keeps the data of a query up to date without listeners, or stops doing so.
  case keepSynced(path: Path, query: Query, Bool)
  /// Reads the data of a query once, and keeps what it finds for later unless told otherwise.
  case get(RequestToken, path: Path, query: Query, isKept: Bool = true)
  /// Writes; server values are passed unresolved.
  case write(RequestToken, path: Path, WriteOperation)
  /// Replaces the data at a location by a function of the present data.
  case transaction(RequestToken, path: Path, appliesLocally: Bool, update: TransactionUpdate)
  /// Schedules a write for the end of the connection.
  case onDisconnect(RequestToken, path: Path, WriteOperation)
  /// Withdraws what is scheduled at a path and below.
  case cancelOnDisconnect(RequestToken, path: Path)
  /// Gives up every write that is not acknowledged, transactions included.
  case purgeOutstandingWrites
  /// Changes the user to whom writes belong; those of another user wait until that user is back.
  ///
  /// Comes before the credential of the user. Transactions of the previous user are given up.
  case actAs(user: String?)
  /// Presents a credential now and on every later connection.
  case authenticate(ClientRequest.Authentication)
  /// Gives up the credential.
  case unauthenticate
  /// Removes a reason not to be connected.
  case goOnline(InterruptReason)
  /// Adds a reason not to be connected.
  case goOffline(InterruptReason)
  /// Somebody would like to know whether the server is alive.
  case probe

  // From the transport and the clock.

  /// The socket of an attempt is open; the server's greeting is awaited.
  case transportOpened(ConnectionID)
  /// A whole message arrived.
  case message(ConnectionID, ServerMessage)
  /// Part of a long message arrived, or went out.
  case transportProgress(ConnectionID)
  /// The socket closed, or never opened.
  case transportClosed(ConnectionID, reason: String)
  /// The store now has this size in bytes.
  case storeSize(Int64)
  /// A timer came due.
  case timerFired(RepoTimer)
}

/// Identifies one attempt to connect; reports about an older attempt are ignored.
package struct ConnectionID: Hashable, Sendable {
  /// Numbers the attempts of one engine, from 1.
  package let number: Int64

  /// Makes an identifier.
  package init(_ number: Int64) {
    self.number = number
  }
}

/// A reason not to be connected; the engine connects only while there is none.
package enum InterruptReason: Hashable, Sendable {
  /// Nothing has asked for data yet; the first use of the engine ends it.
  case waitingForOpen
  /// The caller has gone offline.
  case user
  /// The server rejected the credential; presenting another, or giving it up, ends this.
  case tokenRefresh
  /// The server asked not to be connected to again.
  case serverKill
}

/// The outside world at the moment of an input: two clocks and a random number.
package struct RepoTime: Hashable, Sendable {
  /// Milliseconds since 1970 by the local clock, which may jump.
  package var wall: Int64
  /// Milliseconds of a clock that only moves forward.
  package var monotonic: Int64
  /// A random number from 0 up to but not including 1, which spreads reconnects.
  package var random: Double

  /// Makes a moment.
  package init(wall: Int64, monotonic: Int64, random: Double) {
    self.wall = wall
    self.monotonic = monotonic
    self.random = random
  }
}

/// What the update function of a transaction decides about the data it was given.
package enum TransactionDecision: Sendable {
  /// Write these data, with exactly the priorities that they have.
  case commit(Node)
  /// Write nothing.
  case abort
}

/// Computes the new data of a transaction from the present ones; runs again when those change.
///
/// It runs inside the engine, so it must be quick and must not call back into it.
package typealias TransactionUpdate = @Sendable (Node) -> TransactionDecision
