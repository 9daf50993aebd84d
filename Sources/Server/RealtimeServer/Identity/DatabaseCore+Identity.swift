internal import RealtimeCore
internal import RealtimeHub

extension DatabaseCore {
  /// Ends what a user is doing with tokens that do not count any more, and, if the user is shut out,
  /// what was to be written later.
  func endSessions(_ note: TokenAuthority.Revocation) {
    guard phase != .closed else { return }
    func isEnded(_ auth: JSONValue) -> Bool {
      auth["uid"]?.string == note.uid && auth["token"]?["iat"]?.integer ?? .min < note.validSince
    }
    perform(hub.endCredentials(at: context.clock(), where: isEnded))
    if note.isShutOut { perform(hub.withdrawScheduled(at: context.clock(), where: isEnded)) }
    for (peer, session) in sessions where session.user != nil { identityChanged(peer) }
  }
}
