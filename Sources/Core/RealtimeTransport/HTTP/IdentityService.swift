/// The service through which users sign in.
package enum IdentityService: Hashable, Sendable {
  case hosted
  /// An emulator, or a server of this package; both respond under the same paths.
  case server(ConnectionTarget)

  package enum Endpoint: Hashable, Sendable {
    /// A method of the accounts API, such as `signUp`.
    case accounts(String)
    /// The exchange of a refresh token for a new token.
    case token
  }

  /// Chooses the hosted service for a hosted database, else the database server itself.
  package init(of database: ConnectionTarget) {
    if case .tcp(let host, _) = database.endpoint, HostedService.isDatabaseHost(host) {
      self = .hosted
    } else {
      self = .server(database)
    }
  }

  /// Makes the request for an endpoint, which is always a POST.
  ///
  /// - Throws: ``HTTPClientError`` of kind `invalidURL`.
  package func request(
    _ endpoint: Endpoint,
    key: String,
    contentType: String = "application/json",
    body: [UInt8]
  ) throws(HTTPClientError) -> HTTPClientRequest {
    let parameter = PercentEncoding.encode(key)
    let (base, path) =
      switch endpoint {
      case .accounts(let call):
        (HostedService.accounts, "/v1/accounts:\(call)?key=\(parameter)")
      case .token: (HostedService.tokens, "/v1/token?key=\(parameter)")
      }
    let lines = [HTTPAnswer.HeaderLine("Content-Type", contentType)]
    switch self {
    case .hosted:
      return try HTTPClientRequest("POST", url: base + path, headerLines: lines, body: body)
    case .server(let target):
      // Both expect the host of the hosted service at the start of the path. Our server issues
      // tokens for one of its databases, named in the query.
      let host = base.dropFirst("https://".count)
      let database = target.namespace.map { "&ns=\(PercentEncoding.encode($0))" } ?? ""
      return HTTPClientRequest(
        "POST",
        to: target,
        path: "/\(host)\(path)\(database)",
        headerLines: lines,
        body: body
      )
    }
  }
}
