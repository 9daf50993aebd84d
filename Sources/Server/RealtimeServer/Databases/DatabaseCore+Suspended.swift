internal import NIOCore
internal import RealtimeTransport

/// The sessions of clients that have reached another server, while they have no connection here.
///
/// The connection to that server was lost, or this one has just begun to lead. Their scheduled
/// disconnect writes wait until their server resumes them, reports that it does not, or ends.
extension DatabaseCore {
  private static let suspensionInterval = TimeAmount.seconds(1)
  /// How many checks a session waits while its server is alive.
  private static let mostSuspensionChecks = 45
  /// Longer than a server keeps its clients without a leader.
  static let suspension = suspensionInterval * mostSuspensionChecks
  /// Why a connection ends when its client has opened another one.
  static let replacement = "a newer connection took its place"

  /// Resumes the session of a client that another server has forwarded to a leader that is lost.
  ///
  /// The client is disconnected if it has reconnected elsewhere meanwhile, and sent again what had
  /// no answer; or if its scheduled writes have been carried out, since only it knows what to
  /// schedule next.
  func resume(_ session: Session, from origin: HTTPRequest.Origin) {
    let isThere = hub.resumeScheduled(of: session.peer)
    if peers.isReplaced(session.name) {
      turnAway(session, code: CloseCode.normal, because: Self.replacement)
    } else if origin.hasScheduled, !isThere {
      let reason = "what it had scheduled for its disconnect has been carried out"
      turnAway(session, code: CloseCode.tryAgainLater, because: reason)
    }
  }

  /// Disconnects a client without reading its messages.
  private func turnAway(_ session: Session, code: UInt16, because reason: String) {
    pause(session, for: .leaving)
    end(session, code: code, reason: reason)
  }

  /// Ends the sessions of a server that has resumed all others.
  ///
  /// - Returns: Whether the database is still led here.
  func settle(_ server: String) -> Bool {
    guard isAnswering else { return false }
    endSuspended { $0.server == server }
    return true
  }

  /// Carries out what sessions that are not resumed have scheduled.
  func endSuspended(where isOver: (RemoteSession) -> Bool) {
    guard hub.hasSuspended else { return }
    perform(hub.endSuspended(at: context.clock(), where: isOver))
  }

  /// Ends the sessions whose server has ended, as long as there are any.
  func watchSuspended() {
    guard hub.hasSuspended, checks.suspended == nil else { return }
    checks.suspended = eventLoop.assumeIsolated().scheduleTask(in: Self.suspensionInterval) {
      [weak self] in
      guard let self else { return }
      checks.suspended = nil
      guard phase == .running else { return }
      perform(
        hub.endSuspended(at: context.clock(), after: Self.mostSuspensionChecks) {
          term?.isAlive($0.server) != true
        }
      )
      watchSuspended()
    }
  }
}
