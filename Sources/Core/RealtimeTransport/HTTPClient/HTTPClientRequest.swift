/// A plain HTTP request of a client.
package struct HTTPClientRequest: Hashable, Sendable {
  /// The method, such as "POST".
  package var method: String
  /// Where the request is sent.
  package var target: ConnectionTarget
  /// The path with its parameters, escaped; it starts with a slash.
  package let path: String
  /// Lines of the header beside those that HTTP itself needs.
  package var headerLines: [HTTPAnswer.HeaderLine]
  /// The body.
  package var body: [UInt8]

  /// Makes a request.
  ///
  /// - Parameters:
  ///   - method: The method.
  ///   - url: An absolute URL of http or https, escaped; what follows a `#` is left out.
  ///   - headerLines: Lines such as `Content-Type`; `Host` and the length of the body are added.
  ///   - body: The body.
  /// - Throws: ``HTTPClientError`` of kind `invalidURL`.
  package init(
    _ method: String,
    url: String,
    headerLines: [HTTPAnswer.HeaderLine] = [],
    body: [UInt8] = []
  ) throws(HTTPClientError) {
    let refusal = HTTPClientError(.invalidURL, "\"\(url)\" is not a URL of http or https")
    guard let colon = url.firstIndex(of: ":"), url[colon...].hasPrefix("://") else { throw refusal }
    let isSecure: Bool
    switch url[..<colon].lowercased() {
    case "https": isSecure = true
    case "http": isSecure = false
    default: throw refusal
    }
    let rest = url[colon...].dropFirst(3).prefix { $0 != "#" }
    let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
    guard let authority = Authority(rest[..<end]),
      rest[end...].utf8.allSatisfy({ (0x21...0x7E).contains($0) })
    else { throw refusal }
    self.method = method
    target = ConnectionTarget(
      host: authority.host,
      port: authority.port ?? (isSecure ? 443 : 80),
      isSecure: isSecure
    )
    path = rest[end...].hasPrefix("/") ? String(rest[end...]) : "/\(rest[end...])"
    self.headerLines = headerLines
    self.body = body
  }

  /// Makes a request to a server, which may listen at a Unix socket.
  ///
  /// It is a programmer error to pass a path that does not start with a slash: it traps.
  ///
  /// - Parameters:
  ///   - method: The method.
  ///   - target: The server; the name of its database does not matter.
  ///   - path: The path of the resource with its parameters, escaped.
  ///   - headerLines: Lines such as `Content-Type`; `Host` and the length of the body are added.
  ///   - body: The body.
  package init(
    _ method: String,
    to target: ConnectionTarget,
    path: String,
    headerLines: [HTTPAnswer.HeaderLine] = [],
    body: [UInt8] = []
  ) {
    precondition(path.hasPrefix("/"), "the path of a resource starts with a slash")
    self.method = method
    self.target = target
    self.path = path
    self.headerLines = headerLines
    self.body = body
  }
}
