/// Where a server listens.
package enum ListenAddress: Hashable, Sendable, CustomStringConvertible {
  /// A Unix socket, for processes of this user.
  case unix(path: String)
  /// A port of TCP, of one address of this machine or, with `0.0.0.0` or `::`, of all.
  ///
  /// A port of 0 lets the system choose.
  case tcp(host: String, port: Int, isSecure: Bool)

  /// A port that only this machine can reach, without encryption.
  package static func loopback(port: Int) -> ListenAddress {
    .tcp(host: "127.0.0.1", port: port, isSecure: false)
  }

  /// Whether a host can only be this machine.
  package static func isLoopback(_ host: String) -> Bool {
    guard let authority = Authority(host: host) else { return false }
    return authority.isLoopback || authority.isAddress && host.hasPrefix("127.")
  }

  /// Whether the connections are encrypted.
  package var isSecure: Bool {
    switch self {
    case .unix: false
    case .tcp(_, _, let isSecure): isSecure
    }
  }

  /// Whether no other machine can reach the address.
  package var isLoopback: Bool {
    switch self {
    case .unix: true
    case .tcp(let host, _, _): Self.isLoopback(host)
    }
  }

  /// The URL that a client uses, without a namespace.
  package var description: String {
    switch self {
    case .unix(let path): "unix:\(PercentEncoding.encodeSocket(path))"
    case .tcp(let host, let port, let isSecure):
      "\(isSecure ? "https" : "http")://\(host.contains(":") ? "[\(host)]" : host):\(port)"
    }
  }
}
