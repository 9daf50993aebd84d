internal import NIOCore
internal import RealtimeCore
internal import RealtimeTransport

/// The sessions of clients that have reached another server, while no connection stands for them.
///
/// The way to that server was lost, or this one has just begun to lead. What they have scheduled for
/// their disconnect waits until their server goes on with them, says that it does not, or ends.
extension DatabaseCore {
  private static let suspensionInterval = TimeAmount.seconds(1)
  /// How many checks a session waits while its server lives: longer than that one keeps its clients
  /// without a leader.
  private static let mostSuspensionChecks = 45

  /// Goes on with what a client has scheduled.
  ///
  /// If that has been carried out, the client is let go: only it knows what to schedule next.
  func resumeScheduled(of session: Session, isExpected: Bool) {
    guard !hub.resumeScheduled(of: session.peer), isExpected else { return }
    pause(session, for: .leaving)
    end(
      session,
      code: CloseCode.tryAgainLater,
      reason: "what it had scheduled for its disconnect has been carried out"
    )
  }

  /// Ends the sessions of a server that has gone on with all others.
  func settle(_ server: String) {
    endSuspended { $0.server == server }
  }

  /// Carries out what sessions have scheduled that do not go on.
  func endSuspended(where isOver: (RemoteSession) -> Bool) {
    guard hub.hasSuspended else { return }
    perform(hub.endSuspended(at: context.clock(), where: isOver))
  }

  /// Ends the sessions whose server has ended, as long as there are any.
  func watchSuspended() {
    guard hub.hasSuspended, suspensionCheck == nil else { return }
    suspensionCheck = eventLoop.assumeIsolated().scheduleTask(in: Self.suspensionInterval) {
      [weak self] in
      guard let self else { return }
      suspensionCheck = nil
      guard phase == .running else { return }
      perform(
        hub.endSuspended(at: context.clock(), after: Self.mostSuspensionChecks) {
          !isAlive($0.server)
        }
      )
      watchSuspended()
    }
  }
}
