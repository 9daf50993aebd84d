import Foundation
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import RealtimeCore

@testable import RealtimeServer
@testable import RealtimeTransport

/// Stands in for the hosted service: it answers the account endpoints with the documented bytes.
///
/// Its paths have the form used by the emulator, since it is one server for both hosts.
final class StandIn: Sendable {
  /// A request as it was received.
  struct Request: Sendable, Equatable {
    let method: String
    let path: String
    let key: String?
    let contentType: String?
    let body: String
  }

  struct Account: Sendable {
    var uid: String
    var email: String?
    var password: String?
    var displayName: String?
    var photoURL: String?
    var isDisabled = false
    var provider: String
  }

  struct State: Sendable {
    var accounts: [Account] = []
    /// The owners of ID tokens and refresh tokens, and the expiry of ID tokens in milliseconds.
    var idTokens: [String: (uid: String, expires: Int64)] = [:]
    var refreshTokens: [String: String] = [:]
    var lifetime = 3_600
    var lastNumber = 0
    var requests: [Request] = []
    /// Responses that replace the usual ones, by the end of the path.
    var planned: [String: [HTTPAnswer]] = [:]
    /// Called with the end of the path before a request is answered.
    var willAnswer: (@Sendable (String) -> Void)?
  }

  let state = NIOLockedValueBox(State())
  let port: Int
  private let listener: ServerListener

  private init(_ listener: ServerListener, port: Int, reference: Reference) {
    self.listener = listener
    self.port = port
    reference.standIn.withLockedValue { $0.standIn = self }
  }

  /// Breaks the reference cycle between the handler and the stand-in.
  private final class Reference: Sendable {
    struct Weak: Sendable {
      weak var standIn: StandIn?
    }

    let standIn = NIOLockedValueBox(Weak())
  }

  /// Starts the service on a local port.
  static func start() async throws -> StandIn {
    let reference = Reference()
    let handlers = ServerHandlers(
      answer: { request, eventLoop in
        let standIn = reference.standIn.withLockedValue(\.standIn)
        let answer = standIn?.answer(request)
        return eventLoop.makeSucceededFuture(
          .answer(answer ?? HTTPAnswer(status: 503, error: "not there yet"))
        )
      },
      accept: { _ in ServerHandlers.Callbacks(onMessage: { _ in }, onClose: { _ in }) }
    )
    let eventLoop = MultiThreadedEventLoopGroup.singleton.next()
    let listener = try await ServerListener.listen(
      at: .loopback(port: 0),
      on: eventLoop,
      handlers: handlers
    ).get()
    guard case .tcp(_, let port, _) = listener.address else { throw CancellationError() }
    return StandIn(listener, port: port, reference: reference)
  }

  func stop() async throws {
    try await listener.close().get()
  }

  /// All requests so far.
  var requests: [Request] { state.withLockedValue(\.requests) }

  /// Replaces the usual responses to the next requests whose paths end like this.
  func plan(_ end: String, _ answers: HTTPAnswer...) {
    state.withLockedValue { $0.planned[end, default: []] += answers }
  }

  /// The owner and the expiry of an ID token, or nil if the token is unknown or has expired.
  func owner(of token: String, at now: Int64) -> (uid: String, expires: Int64)? {
    state.withLockedValue { $0.idTokens[token] }.flatMap { $0.expires > now ? $0 : nil }
  }

  static func now() -> Int64 { Int64(Date().timeIntervalSince1970 * 1_000) }

  private func answer(_ request: HTTPRequest) -> HTTPAnswer {
    let body = String(decoding: request.body, as: UTF8.self)
    let end = String(request.path.split(separator: "/").last ?? "")
    state.withLockedValue(\.willAnswer)?(end)
    return state.withLockedValue { state in
      state.requests.append(
        Request(
          method: request.method,
          path: request.path,
          key: request.parameter("key"),
          contentType: request.header("Content-Type"),
          body: body
        )
      )
      if let planned = state.planned[end]?.first {
        state.planned[end]?.removeFirst()
        return planned
      }
      guard request.parameter("key")?.isEmpty == false else { return Self.missingKey }
      if end == "token" { return state.refresh(body) }
      guard let json = try? JSONParser.parse(body) else { return Self.error("INVALID_JSON") }
      switch end {
      case "accounts:signUp": return state.signUp(json)
      case "accounts:signInWithPassword": return state.signIn(json)
      case "accounts:signInWithCustomToken": return state.signInWithCustomToken(json)
      case "accounts:lookup": return state.lookup(json)
      case "accounts:update": return state.update(json)
      case "accounts:delete": return state.delete(json)
      case "accounts:sendOobCode": return state.sendCode(json)
      case "accounts:resetPassword": return state.resetPassword(json)
      default: return HTTPAnswer(status: 404, error: "no such endpoint")
      }
    }
  }
}

/// Accepts the tokens of a stand-in until they expire.
struct StandInVerifier: CredentialVerifier {
  let standIn: StandIn

  func verify(
    _ authentication: ClientRequest.Authentication,
    at timestamp: Int64
  ) throws(RequestError) -> VerifiedCredential {
    guard let owner = standIn.owner(of: authentication.credential, at: timestamp) else {
      throw RequestError(.expiredToken, reason: "Auth token is expired.")
    }
    let auth = JSONValue.object(("uid", .string(owner.uid)))
    return VerifiedCredential(identity: .user(auth), expires: owner.expires)
  }
}

/// Responses in the service's format.
extension StandIn {
  static func json(_ text: String, status: Int = 200) -> HTTPAnswer {
    HTTPAnswer(
      status: status,
      contentType: "application/json; charset=UTF-8",
      body: Array(text.utf8)
    )
  }

  /// A response with these members, apart from those without a value.
  static func json(_ members: (String, JSONValue?)..., status: Int = 200) -> HTTPAnswer {
    let members = members.compactMap { name, value in value.map { JSONMember(name, $0) } }
    let text = PrettyJSON.text(.object(members))
    return json(String(decoding: text, as: UTF8.self) + "\n", status: status)
  }

  static func error(
    _ message: String,
    status: Int = 400,
    reason: String = "invalid",
    name: String? = nil
  ) -> HTTPAnswer {
    var members: [JSONMember] = [
      JSONMember("code", .integer(Int64(status))), JSONMember("message", .string(message)),
      JSONMember(
        "errors",
        .array([
          .object(
            ("message", .string(message)),
            ("domain", .string("global")),
            ("reason", .string(reason))
          )
        ])
      ),
    ]
    if let name { members.append(JSONMember("status", .string(name))) }
    return json(("error", .object(members)), status: status)
  }

  static let missingKey = error(
    "The request is missing a valid API key.",
    status: 403,
    reason: "forbidden",
    name: "PERMISSION_DENIED"
  )

  /// An ID token in the service's format, with a placeholder as its signature.
  static func idToken(_ account: Account, number: Int, lifetime: Int) -> String {
    let issued = now() / 1_000
    var members: [JSONMember] = [
      JSONMember("iss", .string("https://securetoken.google.com/demo")),
      JSONMember("aud", .string("demo")), JSONMember("auth_time", .integer(issued)),
      JSONMember("user_id", .string(account.uid)), JSONMember("sub", .string(account.uid)),
      JSONMember("iat", .integer(issued)), JSONMember("exp", .integer(issued + Int64(lifetime))),
      JSONMember("jti", .integer(Int64(number))),
    ]
    if let email = account.email { members.append(JSONMember("email", .string(email))) }
    members.append(
      JSONMember("firebase", .object(("sign_in_provider", .string(account.provider))))
    )
    return [#"{"alg":"RS256","kid":"k","typ":"JWT"}"#, JSONValue.object(members).text, "signature"]
      .map { Data($0.utf8).base64EncodedString() }
      .map { $0.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "") }
      .joined(separator: ".")
  }
}

extension StandIn.State {
  mutating func makeTokens(_ account: StandIn.Account) -> (id: String, refresh: String) {
    lastNumber += 1
    let token = StandIn.idToken(account, number: lastNumber, lifetime: lifetime)
    idTokens[token] = (account.uid, StandIn.now() + Int64(lifetime) * 1_000)
    let refresh = "refresh/\(lastNumber)+\(account.uid)"
    refreshTokens[refresh] = account.uid
    return (token, refresh)
  }

  func account(_ uid: String) -> StandIn.Account? { accounts.first { $0.uid == uid } }

  func account(ofToken json: JSONValue) -> StandIn.Account? {
    json["idToken"]?.string.flatMap { idTokens[$0] }.flatMap { account($0.uid) }
  }

  mutating func add(_ account: StandIn.Account) {
    accounts.removeAll { $0.uid == account.uid }
    accounts.append(account)
  }

  mutating func signUp(_ json: JSONValue) -> HTTPAnswer {
    if let password = json["password"]?.string, password.utf8.count < 6 {
      return StandIn.error("WEAK_PASSWORD : Password should be at least 6 characters")
    }
    let email = json["email"]?.string
    if let email, accounts.contains(where: { $0.email == email }) {
      return StandIn.error("EMAIL_EXISTS")
    }
    lastNumber += 1
    var account =
      account(ofToken: json) ?? StandIn.Account(uid: "uid\(lastNumber)", provider: "anonymous")
    account.email = email
    account.password = json["password"]?.string
    if email != nil { account.provider = "password" }
    add(account)
    let tokens = makeTokens(account)
    return StandIn.json(
      ("kind", .string("identitytoolkit#SignupNewUserResponse")),
      ("idToken", .string(tokens.id)),
      ("email", email.map { .string($0) }),
      ("refreshToken", .string(tokens.refresh)),
      ("expiresIn", .string("\(lifetime)")),
      ("localId", .string(account.uid))
    )
  }

  mutating func signIn(_ json: JSONValue) -> HTTPAnswer {
    guard let account = accounts.first(where: { $0.email == json["email"]?.string }),
      account.password == json["password"]?.string
    else { return StandIn.error("INVALID_LOGIN_CREDENTIALS") }
    guard !account.isDisabled else { return StandIn.error("USER_DISABLED") }
    let tokens = makeTokens(account)
    return StandIn.json(
      ("kind", .string("identitytoolkit#VerifyPasswordResponse")),
      ("localId", .string(account.uid)),
      ("email", .string(account.email ?? "")),
      ("displayName", .string(account.displayName ?? "")),
      ("idToken", .string(tokens.id)),
      ("registered", .bool(true)),
      ("refreshToken", .string(tokens.refresh)),
      ("expiresIn", .string("\(lifetime)"))
    )
  }

  mutating func signInWithCustomToken(_ json: JSONValue) -> HTTPAnswer {
    guard let token = json["token"]?.string, token.hasPrefix("custom:") else {
      return StandIn.error("INVALID_CUSTOM_TOKEN : the token is malformed")
    }
    let uid = String(token.dropFirst("custom:".count))
    let isNew = account(uid) == nil
    let account = account(uid) ?? StandIn.Account(uid: uid, provider: "custom")
    add(account)
    let tokens = makeTokens(account)
    return StandIn.json(
      ("kind", .string("identitytoolkit#VerifyCustomTokenResponse")),
      ("idToken", .string(tokens.id)),
      ("refreshToken", .string(tokens.refresh)),
      ("expiresIn", .string("\(lifetime)")),
      ("isNewUser", .bool(isNew))
    )
  }

  func lookup(_ json: JSONValue) -> HTTPAnswer {
    guard let token = json["idToken"]?.string, let owner = idTokens[token] else {
      return StandIn.error("INVALID_ID_TOKEN")
    }
    guard owner.expires > StandIn.now() else { return StandIn.error("TOKEN_EXPIRED") }
    guard let account = account(owner.uid) else { return StandIn.error("USER_NOT_FOUND") }
    guard !account.isDisabled else { return StandIn.error("USER_DISABLED") }
    var user = [JSONMember("localId", .string(account.uid))]
    for (name, text) in [
      ("email", account.email), ("displayName", account.displayName),
      ("photoUrl", account.photoURL),
    ] {
      if let text { user.append(JSONMember(name, .string(text))) }
    }
    user += [
      JSONMember("emailVerified", .bool(false)), JSONMember("validSince", .string("1700000000")),
      JSONMember("lastLoginAt", .string("1700000000000")),
      JSONMember("createdAt", .string("1700000000000")),
      JSONMember("lastRefreshAt", .string("2026-01-01T00:00:00Z")),
    ]
    return StandIn.json(
      ("kind", .string("identitytoolkit#GetAccountInfoResponse")),
      ("users", .array([.object(user)]))
    )
  }

  mutating func update(_ json: JSONValue) -> HTTPAnswer {
    guard var account = account(ofToken: json) else { return StandIn.error("INVALID_ID_TOKEN") }
    if let name = json["displayName"]?.string { account.displayName = name }
    if let url = json["photoUrl"]?.string { account.photoURL = url }
    for attribute in json["deleteAttribute"]?.elements ?? [] {
      if attribute == .string("DISPLAY_NAME") { account.displayName = nil }
      if attribute == .string("PHOTO_URL") { account.photoURL = nil }
    }
    if let email = json["email"]?.string { account.email = email }
    var tokens: (id: String, refresh: String)?
    if let password = json["password"]?.string {
      guard password.utf8.count >= 6 else {
        return StandIn.error("WEAK_PASSWORD : Password should be at least 6 characters")
      }
      account.password = password
      refreshTokens = refreshTokens.filter { $0.value != account.uid }
      tokens = makeTokens(account)
    }
    add(account)
    return StandIn.json(
      ("kind", .string("identitytoolkit#SetAccountInfoResponse")),
      ("localId", .string(account.uid)),
      ("emailVerified", .bool(false)),
      ("idToken", tokens.map { .string($0.id) }),
      ("refreshToken", tokens.map { .string($0.refresh) }),
      ("expiresIn", tokens.map { _ in .string("\(lifetime)") })
    )
  }

  mutating func delete(_ json: JSONValue) -> HTTPAnswer {
    guard let account = account(ofToken: json) else { return StandIn.error("USER_NOT_FOUND") }
    accounts.removeAll { $0.uid == account.uid }
    return StandIn.json(("kind", .string("identitytoolkit#DeleteAccountResponse")))
  }

  func sendCode(_ json: JSONValue) -> HTTPAnswer {
    guard let email = json["email"]?.string else { return StandIn.error("MISSING_EMAIL") }
    return StandIn.json(
      ("kind", .string("identitytoolkit#GetOobConfirmationCodeResponse")),
      ("email", .string(email))
    )
  }

  mutating func resetPassword(_ json: JSONValue) -> HTTPAnswer {
    guard json["oobCode"] == .string("code") else { return StandIn.error("INVALID_OOB_CODE") }
    if let password = json["newPassword"]?.string {
      for index in accounts.indices { accounts[index].password = password }
    }
    return StandIn.json(
      ("kind", .string("identitytoolkit#ResetPasswordResponse")),
      ("email", .string("ann@example.org")),
      ("requestType", .string("PASSWORD_RESET"))
    )
  }

  mutating func refresh(_ body: String) -> HTTPAnswer {
    let members = body.split(separator: "&").map { $0.split(separator: "=", maxSplits: 1) }
    let token = members.first { $0[0] == "refresh_token" }.map { String($0[1]) } ?? ""
    guard members.contains(where: { $0 == ["grant_type", "refresh_token"] }) else {
      return StandIn.error("INVALID_GRANT_TYPE")
    }
    guard let uid = refreshTokens[token.removingPercentEncoding ?? ""] else {
      return StandIn.error("INVALID_REFRESH_TOKEN")
    }
    guard let account = account(uid) else { return StandIn.error("USER_NOT_FOUND") }
    guard !account.isDisabled else { return StandIn.error("USER_DISABLED") }
    let tokens = makeTokens(account)
    return StandIn.json(
      ("access_token", .string(tokens.id)),
      ("expires_in", .string("\(lifetime)")),
      ("token_type", .string("Bearer")),
      ("refresh_token", .string(token.removingPercentEncoding ?? "")),
      ("id_token", .string(tokens.id)),
      ("user_id", .string(account.uid)),
      ("project_id", .string("123456789"))
    )
  }
}
