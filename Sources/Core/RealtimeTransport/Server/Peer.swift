/// Who is at the other end of a server's connection.
package enum Peer: Hashable, Sendable, CustomStringConvertible {
  /// A process of this machine, known by the kernel.
  case local(PeerCredentials)
  /// Somebody on TCP.
  case network(address: String)

  package var description: String {
    switch self {
    case .local(let credentials): "process \(credentials.process) of user \(credentials.user)"
    case .network(let address): address
    }
  }
}
