package import RealtimeCore

package struct IdentityAnswer: Sendable {
  package let status: Int
  package let json: JSONValue
  /// The method that a request with another one must have.
  let requiredMethod: String?

  init(_ json: JSONValue) {
    status = 200
    requiredMethod = nil
    self.json = json
  }

  init(_ error: IdentityError) {
    status = error.status
    requiredMethod = error.requiredMethod
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

  /// An object of a kind, with string members, except those without a value.
  static func object(_ kind: String, with texts: [(String, String?)] = []) -> JSONValue {
    .object([self.kind(kind)] + Self.texts(texts))
  }

  static func signedIn(_ signedIn: SignedIn, by way: Way) -> JSONValue {
    let account = signedIn.account
    let id = JSONMember("localId", .string(account.uid))
    let names = texts([("email", account.email?.text), ("displayName", account.displayName)])
    let members =
      switch way {
      case .signUp: [kind("SignupNewUserResponse"), id] + names
      case .password:
        [kind("VerifyPasswordResponse"), id, JSONMember("registered", .bool(true))] + names
      case .customToken(let isNew):
        [kind("VerifyCustomTokenResponse"), JSONMember("isNewUser", .bool(isNew))]
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
    let users = accounts.map { user($0, forAdministrator: forAdministrator) }
    let list = users.isEmpty ? [] : [JSONMember("users", .array(users))]
    return .object([kind("GetAccountInfoResponse")] + list)
  }

  static func page(_ accounts: [Account], next: String?) -> JSONValue {
    let users = accounts.map { user($0, forAdministrator: true) }
    return .object(
      [kind("DownloadAccountResponse"), JSONMember("users", .array(users))]
        + texts([("nextPageToken", next)])
    )
  }

  private static func tokens(_ signedIn: SignedIn) -> [JSONMember] {
    texts([
      ("idToken", signedIn.idToken), ("refreshToken", signedIn.refreshToken),
      ("expiresIn", String(signedIn.lifetime)),
    ])
  }

  private static func user(_ account: Account, forAdministrator: Bool) -> JSONValue {
    let changed = account.passwordChanged.map { [JSONMember("passwordUpdatedAt", .integer($0))] }
    let dates = texts([
      ("validSince", String(account.validSince)), ("lastLoginAt", String(account.lastSignIn)),
      ("createdAt", String(account.created)),
    ])
    let claims = account.customClaims
    let rest = texts([
      ("resetRequestedAt", forAdministrator ? account.resetRequested.map { String($0) } : nil),
      ("customAttributes", claims.isEmpty ? nil : JSONValue.object(claims).text),
    ])
    let isDisabled = JSONMember("disabled", .bool(account.isDisabled))
    return .object(profile(of: account) + (changed ?? []) + dates + [isDisabled] + rest)
  }

  /// What responses about an account begin with.
  private static func profile(of account: Account) -> [JSONMember] {
    var members = texts([("localId", account.uid), ("email", account.email?.text)])
    if account.email != nil {
      members.append(JSONMember("emailVerified", .bool(account.isEmailVerified)))
    }
    return members + appearance(of: account)
      + [JSONMember("providerUserInfo", providers(of: account))]
  }

  private static func appearance(of account: Account) -> [JSONMember] {
    texts([("displayName", account.displayName), ("photoUrl", account.photoURL)])
  }

  private static func providers(of account: Account) -> JSONValue {
    guard let email = account.email?.text, !account.providers.isEmpty else { return .array([]) }
    let members = texts([
      ("providerId", "password"), ("federatedId", email), ("email", email), ("rawId", email),
    ])
    return .array([.object(members + appearance(of: account))])
  }

  private static func kind(_ name: String) -> JSONMember {
    JSONMember("kind", .string("identitytoolkit#\(name)"))
  }

  private static func texts(_ pairs: [(String, String?)]) -> [JSONMember] {
    pairs.compactMap { name, text in text.map { JSONMember(name, .string($0)) } }
  }
}

/// Why an identity request is refused, as clients see it.
package struct IdentityError: Error, Hashable, Sendable {
  package let status: Int
  /// The code, such as `EMAIL_EXISTS`.
  package let code: String
  package let detail: String?
  fileprivate let requiredMethod: String?

  init(
    _ code: String,
    detail: String? = nil,
    status: Int = 400,
    requiredMethod: String? = nil
  ) {
    self.status = status
    self.code = code
    self.detail = detail
    self.requiredMethod = requiredMethod
  }

  /// Describes a failure of the store after which nothing is changed.
  init(_ error: any Error) {
    switch (error as? StoreError)?.kind {
    case .busy, .unreachable: self = .unavailable
    case .superseded: self = .overtaken
    case .locked, .notWritable, .damaged, .outdated, .missing, .full, .failed, nil: self = .failed
    }
  }

  package var json: JSONValue {
    let message = JSONValue.string(detail.map { "\(code) : \($0)" } ?? code)
    let (reason, name): (String, String?) =
      switch status {
      case 401: ("forbidden", "UNAUTHENTICATED")
      case 403: ("forbidden", "PERMISSION_DENIED")
      case 404: ("notFound", "NOT_FOUND")
      case 503: ("backendError", "UNAVAILABLE")
      default: ("invalid", nil)
      }
    let error = JSONValue.object(
      ("message", message),
      ("reason", .string(reason)),
      ("domain", .string("global"))
    )
    return .object(
      (
        "error",
        .object(
          ("code", .integer(Int64(status))),
          ("message", message),
          ("errors", .array([error])),
          ("status", name.map { .string($0) })
        )
      )
    )
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
  static let clockSetBack = IdentityError(
    "TOO_MANY_ATTEMPTS_TRY_LATER",
    detail: "The clock of the server was set back to before the account was made or changed."
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
    detail: "Another server has just changed the account, or its database does not exist.",
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
