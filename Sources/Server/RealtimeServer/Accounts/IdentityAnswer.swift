package import RealtimeCore

package struct IdentityAnswer: Sendable {
  package let status: Int
  package let json: JSONValue

  init(_ json: JSONValue) {
    status = 200
    self.json = json
  }

  init(_ error: IdentityError) {
    status = error.status
    json = error.json
  }
}

/// Responses in the format of the Identity Toolkit.
enum IdentityJSON {
  /// How a user has signed in, as far as the responses differ.
  enum Way {
    case signUp
    case password
    case customToken(isNew: Bool)
  }

  /// An object of a kind, with string members.
  static func object(_ kind: String, with texts: [(String, String)] = []) -> JSONValue {
    .object([self.kind(kind)] + texts.map { text($0.0, $0.1) })
  }

  static func signedIn(_ signedIn: SignedIn, by way: Way) -> JSONValue {
    let account = signedIn.account
    var members: [JSONMember]
    switch way {
    case .signUp: members = [kind("SignupNewUserResponse"), text("localId", account.uid)]
    case .password:
      members = [
        kind("VerifyPasswordResponse"), text("localId", account.uid),
        JSONMember("registered", .bool(true)),
      ]
    case .customToken(let isNew):
      members = [
        kind("VerifyCustomTokenResponse"), JSONMember("isNewUser", .bool(isNew)),
      ]
    }
    switch way {
    case .signUp, .password:
      if let email = account.email { members.append(text("email", email.text)) }
      if let name = account.displayName { members.append(text("displayName", name)) }
    case .customToken: break
    }
    return .object(members + tokens(signedIn))
  }

  static func changed(_ account: Account, signedIn: SignedIn?) -> JSONValue {
    .object(
      [kind("SetAccountInfoResponse")] + profile(of: account) + (signedIn.map(tokens) ?? [])
    )
  }

  /// The response to a token refresh.
  static func continued(_ signedIn: SignedIn) -> JSONValue {
    .object(
      ("access_token", .string(signedIn.idToken)),
      ("expires_in", .string(String(signedIn.lifetime))),
      ("token_type", .string("Bearer")),
      ("refresh_token", .string(signedIn.refreshToken)),
      ("id_token", .string(signedIn.idToken)),
      ("user_id", .string(signedIn.account.uid)),
      ("project_id", .string(signedIn.account.database))
    )
  }

  /// The response to an account lookup; if no account was found, it has no list.
  static func accounts(_ accounts: [Account], forAdministrator: Bool) -> JSONValue {
    var members = [kind("GetAccountInfoResponse")]
    let users = accounts.map { user($0, forAdministrator: forAdministrator) }
    if !users.isEmpty { members.append(JSONMember("users", .array(users))) }
    return .object(members)
  }

  static func page(_ accounts: [Account], next: String?) -> JSONValue {
    var members = [
      kind("DownloadAccountResponse"),
      JSONMember("users", .array(accounts.map { user($0, forAdministrator: true) })),
    ]
    if let next { members.append(text("nextPageToken", next)) }
    return .object(members)
  }

  private static func tokens(_ signedIn: SignedIn) -> [JSONMember] {
    [
      text("idToken", signedIn.idToken), text("refreshToken", signedIn.refreshToken),
      text("expiresIn", String(signedIn.lifetime)),
    ]
  }

  private static func user(_ account: Account, forAdministrator: Bool) -> JSONValue {
    var members = profile(of: account)
    if let time = account.passwordChanged {
      members.append(JSONMember("passwordUpdatedAt", .integer(time)))
    }
    members += [
      text("validSince", String(account.validSince)),
      text("lastLoginAt", String(account.lastSignIn)),
      text("createdAt", String(account.created)),
      JSONMember("disabled", .bool(account.isDisabled)),
    ]
    if forAdministrator, let time = account.resetRequested {
      members.append(text("resetRequestedAt", String(time)))
    }
    if !account.customClaims.isEmpty {
      members.append(text("customAttributes", JSONValue.object(account.customClaims).text))
    }
    return .object(members)
  }

  /// What responses about an account begin with.
  private static func profile(of account: Account) -> [JSONMember] {
    var members = [text("localId", account.uid)]
    if let email = account.email {
      members.append(text("email", email.text))
      members.append(JSONMember("emailVerified", .bool(account.isEmailVerified)))
    }
    members += appearance(of: account)
    members.append(JSONMember("providerUserInfo", providers(of: account)))
    return members
  }

  private static func appearance(of account: Account) -> [JSONMember] {
    [("displayName", account.displayName), ("photoUrl", account.photoURL)].compactMap {
      name,
      value in
      value.map { text(name, $0) }
    }
  }

  private static func providers(of account: Account) -> JSONValue {
    guard let email = account.email, !account.providers.isEmpty else { return .array([]) }
    let members = [
      text("providerId", "password"), text("federatedId", email.text), text("email", email.text),
      text("rawId", email.text),
    ]
    return .array([.object(members + appearance(of: account))])
  }

  private static func kind(_ name: String) -> JSONMember {
    text("kind", "identitytoolkit#\(name)")
  }

  private static func text(_ name: String, _ value: String) -> JSONMember {
    JSONMember(name, .string(value))
  }
}

/// Why an identity request is refused, as clients see it.
package struct IdentityError: Error, Hashable, Sendable {
  package let status: Int
  /// The code, such as `EMAIL_EXISTS`.
  package let code: String
  package let detail: String?

  init(_ code: String, detail: String? = nil, status: Int = 400) {
    self.status = status
    self.code = code
    self.detail = detail
  }

  /// Describes a failure of the store after which nothing is changed.
  init(_ error: any Error) {
    switch (error as? StoreError)?.kind {
    case .busy, .unreachable: self = .unavailable
    case .superseded: self = .overtaken
    case .locked, .notWritable, .damaged, .missing, .full, .failed, nil: self = .failed
    }
  }

  package var json: JSONValue {
    let message = JSONValue.string(detail.map { "\(code) : \($0)" } ?? code)
    var members = [
      JSONMember("code", .integer(Int64(status))),
      JSONMember("message", message),
      JSONMember(
        "errors",
        .array([
          .object(("message", message), ("reason", .string(reason)), ("domain", .string("global")))
        ])
      ),
    ]
    if let name { members.append(JSONMember("status", .string(name))) }
    return .object(("error", .object(members)))
  }

  private var reason: String {
    switch status {
    case 401, 403: "forbidden"
    case 404: "notFound"
    case 503: "backendError"
    default: "invalid"
    }
  }

  private var name: String? {
    switch status {
    case 401: "UNAUTHENTICATED"
    case 403: "PERMISSION_DENIED"
    case 404: "NOT_FOUND"
    case 503: "UNAVAILABLE"
    default: nil
    }
  }

  // MARK: Errors

  static let bodyTooLong = IdentityError(
    "REQUEST_TOO_LARGE",
    detail: "The body is too long.",
    status: 413
  )
  static let busy = IdentityError(
    "TOO_MANY_ATTEMPTS_TRY_LATER",
    detail: "The server is busy.",
    status: 503
  )
  static let tooManyAttempts = IdentityError(
    "TOO_MANY_ATTEMPTS_TRY_LATER",
    detail: "Too many unsuccessful attempts. Try again later."
  )
  static let endedTooOften = IdentityError(
    "TOO_MANY_ATTEMPTS_TRY_LATER",
    detail: "The sessions of this account were ended too often. Try again later."
  )
  static let weakPassword = IdentityError(
    "WEAK_PASSWORD",
    detail: "Password should be at least \(Password.minimumLength) characters"
  )
  static let longPassword = IdentityError(
    "WEAK_PASSWORD",
    detail: "Password should be at most \(Password.maximumBytes) bytes"
  )
  static let invalidCredentials = IdentityError("INVALID_LOGIN_CREDENTIALS")
  static let tooOld = IdentityError("CREDENTIAL_TOO_OLD_LOGIN_AGAIN")
  static let failed = IdentityError("INTERNAL_ERROR", status: 500)
  static let unavailable = IdentityError(
    "UNAVAILABLE",
    detail: "The accounts cannot be reached at the moment.",
    status: 503
  )
  static let overtaken = IdentityError(
    "ABORTED",
    detail: "Another server has changed the account at the same moment.",
    status: 409
  )
  static let unknownOutcome = IdentityError(
    "INTERNAL_ERROR",
    detail: "The storage failed; this may or may not have been stored.",
    status: 500
  )
  static let forbidden = IdentityError(
    "PERMISSION_DENIED",
    detail: "Only administrators may do this.",
    status: 403
  )
  static let notFound = IdentityError("NOT_FOUND", detail: "There is no such method.", status: 404)
}
