package enum ListenAddress: Hashable, Sendable, CustomStringConvertible {
  /// A Unix socket, which only processes of this user and root can use.
  case unix(path: String)
  /// A TCP port at one address of this machine, or at all of them with `0.0.0.0` or `::`.
  ///
  /// Port 0 lets the system choose.
  case tcp(host: String, port: Int, isSecure: Bool)

  /// An unencrypted port that only this machine can reach.
  package static func loopback(port: Int) -> ListenAddress {
    .tcp(host: "127.0.0.1", port: port, isSecure: false)
  }

  /// Whether a host is certainly this machine.
  package static func isLoopback(_ host: String) -> Bool {
    guard let authority = Authority(host: host) else { return false }
    return authority.isLoopback || authority.isAddress && host.hasPrefix("127.")
  }

  package var isSecure: Bool {
    switch self {
    case .unix: false
    case .tcp(_, _, let isSecure): isSecure
    }
  }

  package var isLoopback: Bool {
    switch self {
    case .unix: true
    case .tcp(let host, _, _): Self.isLoopback(host)
    }
  }

  /// The URL for clients, without a namespace.
  package var description: String {
    switch self {
    case .unix(let path): "unix:\(PercentEncoding.encodeSocket(path))"
    case .tcp(let host, let port, let isSecure):
      "\(isSecure ? "https" : "http")://\(host.contains(":") ? "[\(host)]" : host):\(port)"
    }
  }
}

/// The other end of a server's connection.
package enum Peer: Hashable, Sendable, CustomStringConvertible {
  /// A process on this machine, identified by the kernel.
  case local(PeerCredentials)
  /// A client connected over TCP.
  case network(address: String)

  /// Whether it is a process on this machine, connected through a Unix socket.
  package var isLocal: Bool {
    if case .local = self { true } else { false }
  }

  package var description: String {
    switch self {
    case .local(let credentials): "process \(credentials.process) of user \(credentials.user)"
    case .network(let address): address
    }
  }
}

/// The kernel's information about the process at the other end of a Unix socket.
///
/// The layout is that of `struct ucred`: three numbers of four bytes each.
package struct PeerCredentials: Hashable, Sendable {
  package let process: Int32
  package let user: UInt32
  package let group: UInt32

  package init(process: Int32, user: UInt32, group: UInt32) {
    self.process = process
    self.user = user
    self.group = group
  }

  /// Whether a server that runs as this user accepts the process: it accepts its own user and root.
  package func isAllowed(byServerOf user: UInt32) -> Bool {
    self.user == user || self.user == 0
  }
}
