/// When the credential of a peer ends.
struct CredentialDeadline: Comparable, Sendable {
  /// In milliseconds since 1970.
  let time: Int64
  let peer: PeerID

  static func < (left: CredentialDeadline, right: CredentialDeadline) -> Bool {
    (left.time, left.peer) < (right.time, right.peer)
  }
}
