import RealtimeTransport

extension ListenAddress {
  var target: ConnectionTarget {
    switch self {
    case .unix(let path): ConnectionTarget(unixSocket: path, namespace: "hearth")
    case .tcp(let host, let port, let isSecure):
      ConnectionTarget(host: host, port: port, isSecure: isSecure, namespace: "hearth")
    }
  }
}
