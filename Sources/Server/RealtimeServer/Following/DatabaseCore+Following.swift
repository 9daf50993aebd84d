internal import NIOCore
internal import RealtimeCore
internal import RealtimeTransport

/// A database that another server leads: see ``Replica``.
extension DatabaseCore {
  /// Applies the next commits of the database, which the leader has stored, and tells clients.
  ///
  /// - Returns: Whether they fit what is here; if not, the copy must be discarded.
  func follow(_ commits: [Commit]) -> Bool {
    guard let outputs = hub.follow(commits) else { return false }
    perform(outputs)
    return true
  }

  /// Enforces rules that the leader has stored.
  func follow(rules source: String) {
    perform(hub.follow(rules: source, at: context.clock()))
    rulesChanged()
  }

  /// Takes over a client that has been served by the leader.
  func takeOver(
    _ connection: any MessageConnection,
    _ state: SessionState,
    writingTo leader: any LeaderSession
  ) -> ServerHandlers.Callbacks {
    let session = open(connection, leader: leader, readsElsewhere: false)
    perform(hub.takeOver(state, as: session.peer, at: context.clock()))
    identityChanged(session.peer)
    return callbacks(of: session.peer)
  }

  /// Returns a request to the inbox, once the leader has confirmed that it is answered from here.
  func putBack(_ message: ClientMessage, length: Int, of session: Session) {
    guard phase == .running, sessions[session.peer] === session else { return }
    session.inbox.append(.current(message, length: length))
    context.scheduler.request(by: session)
  }

  /// Forwards a message of the leader, after everything that was put back before.
  func pass(_ message: [UInt8], to session: Session) {
    guard !session.inbox.isEmpty || session.work != .none else {
      return deliver(.message(HubMessage(bytes: message, kind: .other)), to: session)
    }
    session.inbox.append(.answer(message))
    context.scheduler.request(by: session)
  }

  /// Signs a client in or out as the leader has done, and returns whether it is signed in.
  func signIn(_ peer: PeerID, by request: ClientRequest) -> Bool {
    let time = context.clock()
    var isSignedIn = false
    if case .authenticate(let authentication) = request {
      do throws(RequestError) {
        try hub.signIn(peer, with: authentication, at: time)
        isSignedIn = true
      } catch {
        hub.signOut(peer)
      }
    } else {
      hub.signOut(peer)
    }
    // What the client may no longer listen to ends now.
    perform(hub.tick(at: time))
    identityChanged(peer)
    return isSignedIn
  }

  /// Gives the data to the clients that have received all of it, before the copy ends.
  func leaveCopies() {
    let data = CopiedData(hub.snapshot)
    for session in sessions.values
    where session.output.backlog == nil && !session.output.isComposing {
      (session.connection as? ResumableClient)?.copy = data
    }
    // A client that is told nothing more would otherwise keep all of the data for good.
    eventLoop.assumeIsolated().scheduleTask(in: Replica.keeping) { withExtendedLifetime(data) {} }
  }
}
