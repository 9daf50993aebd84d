/// Which request of which peer an answer belongs to.
struct RequestOrigin: Sendable {
  let peer: PeerID
  /// The number of the request.
  let request: Int64
}
