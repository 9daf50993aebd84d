internal import NIOCore
internal import RealtimeHub
internal import RealtimeTransport

extension DatabaseCore {
  // MARK: Reading

  /// Lets a client wait that has sent much since the last batch was stored.
  func slowDown(_ session: Session) {
    guard batcher.isBusy else { return }
    if session.unsettledMessages == 0 { unsettled.append(session) }
    session.unsettledMessages += 1
    if session.unsettledMessages >= options.limits.requests { pause(session, .unsettled) }
  }

  /// Lets everyone go on who waited for a batch.
  func settleSessions() {
    let settled = unsettled
    unsettled.removeAll(keepingCapacity: true)
    for session in settled {
      session.unsettledMessages = 0
      resume(session, .unsettled)
    }
  }

  /// Reads no more from a client for a reason.
  func pause(_ session: Session, _ reason: Session.Pause) {
    guard session.pauses.insert(reason).inserted, session.pauses.count == 1 else { return }
    session.connection.setReading(false)
  }

  /// Reads from a client again, unless there is another reason not to.
  func resume(_ session: Session, _ reason: Session.Pause) {
    guard session.pauses.remove(reason) != nil, session.pauses.isEmpty else { return }
    session.connection.setReading(true)
  }

  // MARK: Writing

  /// Sends a client a message of the hub, or holds it back while the client does not keep up.
  func send(_ bytes: [UInt8], to session: Session) {
    if session.backlog == nil {
      guard session.connection.isCongested, OutgoingKind(bytes) == .change else {
        return transmit(bytes, over: session.connection)
      }
      beginBacklog(of: session)
    }
    if session.backlog?.hold(bytes) == false { metrics.coalesced += 1 }
  }

  private func beginBacklog(of session: Session) {
    session.backlog = Backlog()
    // What it asks for meanwhile would only make it worse.
    pause(session, .congested)
    session.connection.whenRelieved { [weak self] in self?.endBacklog(of: session) }
  }

  /// Brings a client up to date that has caught up.
  private func endBacklog(of session: Session) {
    guard let backlog = session.backlog else { return }
    session.backlog = nil
    for message in backlog.readings { transmit(message, over: session.connection) }
    for message in hub.currentData(of: session.peer) {
      transmit(message, over: session.connection)
    }
    for message in backlog.others { transmit(message, over: session.connection) }
    resume(session, .congested)
  }

  /// Sends a client that is disconnected what was held back, but no data.
  func releaseBacklog(of session: Session) {
    guard let backlog = session.backlog else { return }
    session.backlog = nil
    for message in backlog.readings + backlog.others {
      transmit(message, over: session.connection)
    }
  }
}
