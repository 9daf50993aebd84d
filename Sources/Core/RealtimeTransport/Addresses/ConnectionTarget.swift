/// The target of a client's connection: an endpoint and the parameters of the handshake.
package struct ConnectionTarget: Hashable, Sendable, CustomStringConvertible {
  /// A network address.
  package enum Endpoint: Hashable, Sendable {
    case tcp(host: String, port: Int)
    case unix(path: String)
  }

  package var endpoint: Endpoint
  package var isSecure: Bool
  /// The value of the Host header: the host, with the port unless it is the default.
  package var host: String
  /// The name of the database, or nil to let the server choose.
  package var namespace: String?
  /// The address to connect to instead of the endpoint, or nil.
  ///
  /// The certificate and the handshake are still those of the endpoint.
  package var detour: Endpoint?
  /// How many addresses of the host to move to the end of the list, because an earlier attempt may
  /// have reached a machine that accepts connections and then hangs.
  package var turns = 0

  package init(host: String, port: Int, isSecure: Bool = false, namespace: String? = nil) {
    endpoint = .tcp(host: host, port: port)
    self.isSecure = isSecure
    let name = host.contains(":") ? "[\(host)]" : host
    self.host = port == (isSecure ? 443 : 80) ? name : "\(name):\(port)"
    self.namespace = namespace
  }

  /// Whether a text can be the host of a TCP target: it has no scheme, no port and no brackets.
  package static func isHost(_ text: String) -> Bool { Authority(host: text) != nil }

  /// Makes a Unix socket target with "localhost" as its Host header.
  package init(unixSocket path: String, namespace: String? = nil) {
    endpoint = .unix(path: path)
    isSecure = false
    host = "localhost"
    self.namespace = namespace
  }

  /// The target that a server requests in its hello message; a Unix socket stays the same.
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

  package var isNetwork: Bool {
    if case .tcp = endpoint { true } else { false }
  }

  package var isLoopback: Bool {
    switch endpoint {
    case .tcp(let host, _): ListenAddress.isLoopback(host)
    case .unix: true
    }
  }

  /// The request target of the handshake.
  ///
  /// - Returns: The path with its parameters.
  package func requestTarget(lastSession: String?) -> String {
    var text = "/.ws?v=5"
    if let lastSession, lastSession.utf8.allSatisfy(DatabaseURL.isParameterByte) {
      text += "&ls=\(lastSession)"
    }
    if let namespace { text += "&ns=\(namespace)" }
    return text
  }

  /// The URL of a location without the namespace, in the form that `DatabaseURL` parses.
  ///
  /// - Returns: The URL, escaped; the URL of the root has no trailing slash.
  package func url(at path: [String]) -> String {
    guard !path.isEmpty else { return description }
    let location = path.map(PercentEncoding.encode).joined(separator: "/")
    return switch endpoint {
    case .tcp: "\(self)/\(location)"
    case .unix: "\(self)#/\(location)"
    }
  }

  /// The address as people write it, such as `blog.example.org:9000`, or the path of the socket.
  package var address: String {
    switch endpoint {
    case .tcp(_, let port): host.hasSuffix(":\(port)") ? host : "\(host):\(port)"
    case .unix(let path): path
    }
  }

  package var description: String {
    switch endpoint {
    // A URL without a port implies TLS, so the port of plain TCP is always included.
    case .tcp(_, 80) where !isSecure: "http://\(host):80"
    case .tcp: "\(isSecure ? "https" : "http")://\(host)"
    case .unix(let path): "unix:\(PercentEncoding.encodeSocket(path))"
    }
  }
}
