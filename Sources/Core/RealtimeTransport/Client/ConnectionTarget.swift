/// Where a client connects to: an endpoint, and what the handshake says there.
package struct ConnectionTarget: Hashable, Sendable, CustomStringConvertible {
  /// A place that listens.
  package enum Endpoint: Hashable, Sendable {
    /// A host and a port of TCP.
    case tcp(host: String, port: Int)
    /// A Unix socket.
    case unix(path: String)
  }

  /// What to connect to.
  package var endpoint: Endpoint
  /// Whether the connection is encrypted.
  package var isSecure: Bool
  /// The value of the Host header: the host, with the port where it is not the usual one.
  package var host: String
  /// The name of the database, or nil where the server is to choose.
  package var namespace: String?
  /// Where the connection really goes, when that is not what the name says, or nil.
  ///
  /// The certificate and the handshake are still those of the endpoint.
  package var detour: Endpoint?

  /// Makes a target of TCP.
  package init(host: String, port: Int, isSecure: Bool = false, namespace: String? = nil) {
    endpoint = .tcp(host: host, port: port)
    self.isSecure = isSecure
    let name = host.contains(":") ? "[\(host)]" : host
    self.host = port == (isSecure ? 443 : 80) ? name : "\(name):\(port)"
    self.namespace = namespace
  }

  /// Makes a target of a Unix socket, whose Host header is "localhost".
  package init(unixSocket path: String, namespace: String? = nil) {
    endpoint = .unix(path: path)
    isSecure = false
    host = "localhost"
    self.namespace = namespace
  }

  /// The target that a server asks for in its greeting; a Unix socket stays what it is.
  ///
  /// - Parameter host: A host with or without a port.
  /// - Returns: The new target, or nil when the text is not a host.
  package func redirected(to host: String) -> ConnectionTarget? {
    switch endpoint {
    case .unix: return self
    case .tcp:
      guard let authority = Authority(host) else { return nil }
      return ConnectionTarget(
        host: authority.host,
        port: authority.port ?? (isSecure ? 443 : 80),
        isSecure: isSecure,
        namespace: namespace
      )
    }
  }

  /// The request target of the handshake.
  ///
  /// - Parameter lastSession: The session that the new connection takes the place of, if any.
  /// - Returns: The path with its parameters.
  package func requestTarget(lastSession: String?) -> String {
    var text = "/.ws?v=5"
    if let lastSession, lastSession.utf8.allSatisfy(DatabaseURL.isParameterByte) {
      text += "&ls=\(lastSession)"
    }
    if let namespace { text += "&ns=\(namespace)" }
    return text
  }

  /// The URL of a location, in the form that `DatabaseURL` reads, without the namespace.
  ///
  /// - Parameter path: The keys of the location.
  /// - Returns: The URL, escaped; that of the root has no slash at its end.
  package func url(at path: [String]) -> String {
    guard !path.isEmpty else { return description }
    let location = path.map(PercentEncoding.encode).joined(separator: "/")
    return switch endpoint {
    case .tcp: "\(self)/\(location)"
    case .unix: "\(self)#/\(location)"
    }
  }

  package var description: String {
    switch endpoint {
    // A URL without a port means TLS, so that of plain TCP is always written.
    case .tcp(_, 80) where !isSecure: "http://\(host):80"
    case .tcp: "\(isSecure ? "https" : "http")://\(host)"
    case .unix(let path): "unix:\(PercentEncoding.encodeSocket(path))"
    }
  }
}
