import RealtimeTransport

extension ListenAddress {
  /// What a client connects to.
  var target: ConnectionTarget {
    switch self {
    case .unix(let path): ConnectionTarget(unixSocket: path, namespace: "hearth")
    case .loopback(let port):
      ConnectionTarget(host: "127.0.0.1", port: port, namespace: "hearth")
    }
  }
}
