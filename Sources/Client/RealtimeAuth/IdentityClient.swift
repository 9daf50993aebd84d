internal import RealtimeCore
internal import RealtimeTransport

/// Calls the account endpoints: JSON in, JSON out.
///
/// Requests and responses are secret: errors and logs contain none of their contents, except the
/// code with which a server rejects a request.
struct IdentityClient: Sendable {
  let service: IdentityService
  let apiKey: String?
  let http: HTTPClient

  /// Sends a request about an account.
  func call(
    _ method: AccountMethod,
    with members: [JSONMember]
  ) async throws(AuthError) -> JSONValue {
    try await send(
      to: .accounts(method.rawValue),
      contentType: "application/json",
      body: JSONValue.object(members).text
    )
  }

  /// Gets new tokens for a refresh token.
  ///
  /// - Returns: The members of the response, named as by this endpoint.
  /// - Throws: ``AuthError``.
  func refresh(_ refreshToken: String) async throws(AuthError) -> JSONValue {
    try await send(
      to: .token,
      contentType: "application/x-www-form-urlencoded",
      body: "grant_type=refresh_token&refresh_token=\(PercentEncoding.encode(refreshToken))"
    )
  }

  private func send(
    to endpoint: IdentityService.Endpoint,
    contentType: String,
    body: String
  ) async throws(AuthError) -> JSONValue {
    let key = try key()
    let answer: HTTPClientAnswer
    do throws(HTTPClientError) {
      let request = try service.request(
        endpoint,
        key: key,
        contentType: contentType,
        body: Array(body.utf8)
      )
      answer = try await http.send(request)
    } catch {
      throw AuthError(error)
    }
    let json = try? JSONParser.parse(answer.body)
    guard answer.status == 200 else {
      let error = json?["error"]
      throw AuthError(
        serverMessage: error?["message"]?.string ?? error?.string ?? "",
        status: error?["status"]?.string,
        code: answer.status
      )
    }
    guard let json, json.members != nil else {
      throw AuthError(.internalError, message: "the response is not a JSON object")
    }
    return json
  }

  /// The project's key; servers other than the hosted service accept any value.
  private func key() throws(AuthError) -> String {
    if let apiKey, !apiKey.isEmpty { return apiKey }
    guard service != .hosted else {
      throw AuthError(.invalidAPIKey, message: "the hosted service needs the project's API key")
    }
    return "none"
  }
}

/// The account requests, by their names in the service.
enum AccountMethod: String, Sendable {
  case signUp
  case signInWithPassword
  case signInWithCustomToken
  case update
  case lookup
  case delete
  case sendOobCode
  case resetPassword
}
