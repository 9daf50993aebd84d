/// Where a server listens.
package enum ListenAddress: Hashable, Sendable, CustomStringConvertible {
  /// A Unix socket, for processes of this user.
  case unix(path: String)
  /// A port of 127.0.0.1; 0 lets the system choose.
  case loopback(port: Int)

  /// The URL that a client of this machine uses, without a namespace.
  package var description: String {
    switch self {
    case .unix(let path): "unix:\(PercentEncoding.encodeSocket(path))"
    case .loopback(let port): "http://127.0.0.1:\(port)"
    }
  }
}
