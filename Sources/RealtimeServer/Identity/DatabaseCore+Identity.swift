internal import RealtimeHub
internal import RealtimeTree

extension DatabaseCore {
  /// Ends what a user is doing with tokens that were issued before a second since 1970.
  func endSessions(of uid: String, before second: Int64) {
    guard phase != .closed else { return }
    perform(
      hub.endCredentials(at: context.clock()) { auth in
        auth["uid"]?.string == uid && auth["token"]?["iat"]?.integer ?? .min < second
      }
    )
    for (peer, session) in sessions where session.user != nil { identityChanged(peer) }
  }
}
