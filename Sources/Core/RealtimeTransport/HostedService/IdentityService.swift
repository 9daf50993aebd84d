/// Where people sign in.
package enum IdentityService: Hashable, Sendable {
  /// The hosted service.
  case hosted
  /// An emulator of it, or a server of this package, which answer under the same paths.
  case server(ConnectionTarget)

  /// What is asked for.
  package enum Endpoint: Hashable, Sendable {
    /// A call on accounts, such as `signUp`.
    case accounts(String)
    /// A new token for a refresh token.
    case token
  }

  /// Those that belong to a database: the hosted service's for its own, otherwise its server's.
  package init(of database: ConnectionTarget) {
    if case .tcp(let host, _) = database.endpoint, HostedService.isDatabaseHost(host) {
      self = .hosted
    } else {
      self = .server(database)
    }
  }

  /// The request for an endpoint, which is always a POST.
  ///
  /// - Parameters:
  ///   - endpoint: What is asked for.
  ///   - key: The API key of the project.
  ///   - contentType: The type of the body.
  ///   - body: The body.
  /// - Returns: The request.
  /// - Throws: ``HTTPClientError`` of kind `invalidURL` when the address is none.
  package func request(
    _ endpoint: Endpoint,
    key: String,
    contentType: String = "application/json",
    body: [UInt8]
  ) throws(HTTPClientError) -> HTTPClientRequest {
    let parameter = PercentEncoding.encode(key)
    let base: String
    let path: String
    switch endpoint {
    case .accounts(let call):
      (base, path) = (HostedService.accounts, "/v1/accounts:\(call)?key=\(parameter)")
    case .token: (base, path) = (HostedService.tokens, "/v1/token?key=\(parameter)")
    }
    let lines = [HTTPAnswer.HeaderLine("Content-Type", contentType)]
    switch self {
    case .hosted:
      return try HTTPClientRequest("POST", url: base + path, headerLines: lines, body: body)
    case .server(let target):
      // Both of them have the host of the hosted service as the start of the path. Our server makes
      // tokens for one of its databases.
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
