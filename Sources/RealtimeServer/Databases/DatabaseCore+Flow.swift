internal import NIOCore
internal import RealtimeHub
internal import RealtimeTransport

extension DatabaseCore {
  // MARK: Reading

  /// Lets a client wait that has sent much since the last batch was stored.
  func slowDown(_ peer: PeerID) {
    guard batcher.isBusy, sessions[peer] != nil else { return }
    sessions[peer]?.unsettledMessages += 1
    if let count = sessions[peer]?.unsettledMessages, count >= options.limits.requests {
      pause(peer, .unsettled)
    }
  }

  /// Lets everyone go on who waited for a batch.
  func settleSessions() {
    for (peer, session) in sessions where session.unsettledMessages > 0 {
      sessions[peer]?.unsettledMessages = 0
      resume(peer, .unsettled)
    }
  }

  /// Reads no more from a client for a reason.
  func pause(_ peer: PeerID, _ reason: Session.Pause) {
    guard sessions[peer]?.pauses.insert(reason).inserted == true,
      sessions[peer]?.pauses.count == 1
    else { return }
    sessions[peer]?.connection.setReading(false)
  }

  /// Reads from a client again, unless there is another reason not to.
  func resume(_ peer: PeerID, _ reason: Session.Pause) {
    guard sessions[peer]?.pauses.remove(reason) != nil, sessions[peer]?.pauses.isEmpty == true
    else { return }
    sessions[peer]?.connection.setReading(true)
  }

  // MARK: Writing

  /// Sends a client a message of the hub, or holds it back while the client does not keep up.
  func send(_ bytes: [UInt8], to peer: PeerID) {
    guard let session = sessions[peer] else { return }
    if session.backlog == nil, session.connection.isCongested, OutgoingKind(bytes) == .change {
      beginBacklog(of: peer)
    }
    guard sessions[peer]?.backlog != nil else {
      return transmit(bytes, over: session.connection)
    }
    if sessions[peer]?.backlog?.hold(bytes) == false { metrics.coalesced += 1 }
  }

  private func beginBacklog(of peer: PeerID) {
    sessions[peer]?.backlog = Backlog()
    // What it asks for meanwhile would only make it worse.
    pause(peer, .congested)
    sessions[peer]?.connection.whenRelieved { [weak self] in self?.endBacklog(of: peer) }
  }

  /// Brings a client up to date that has caught up.
  private func endBacklog(of peer: PeerID) {
    guard let session = sessions[peer], let backlog = session.backlog else { return }
    sessions[peer]?.backlog = nil
    for message in backlog.readings { transmit(message, over: session.connection) }
    for message in hub.currentData(of: peer) { transmit(message, over: session.connection) }
    for message in backlog.others { transmit(message, over: session.connection) }
    resume(peer, .congested)
  }

  /// Sends a client that is disconnected what was held back, but no data.
  func releaseBacklog(of peer: PeerID) {
    guard let session = sessions[peer], let backlog = session.backlog else { return }
    sessions[peer]?.backlog = nil
    for message in backlog.readings + backlog.others {
      transmit(message, over: session.connection)
    }
  }
}
