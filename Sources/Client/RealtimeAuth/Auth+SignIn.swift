internal import RealtimeCore

/// Signing in, as `async` calls; callback variants exist as well.
extension Auth {
  /// Signs in with an email address and a password.
  ///
  /// - Throws: ``AuthError``: `invalidCredential` (or `userNotFound` and `wrongPassword` where the
  ///   server tells them apart), `wrongPassword` for an empty one, `userDisabled`, `tooManyRequests`, `networkError` and others.
  @discardableResult
  public func signIn(
    withEmail email: String,
    password: String
  ) async throws -> AuthDataResult {
    let answer = try await client.call(
      .signInWithPassword,
      with: Self.members(email: email, password: password, orElse: .wrongPassword)
    )
    return try await finish(answer, provider: Self.passwordProvider, isNew: false)
  }

  /// Creates an account with an email address and a password, and signs in to it.
  ///
  /// - Throws: ``AuthError``: `emailAlreadyInUse`, `invalidEmail`, `weakPassword`,
  ///   `operationNotAllowed`, `networkError` and others.
  @discardableResult
  public func createUser(
    withEmail email: String,
    password: String
  ) async throws -> AuthDataResult {
    let answer = try await client.call(
      .signUp,
      with: Self.members(email: email, password: password, orElse: .weakPassword)
    )
    return try await finish(answer, provider: Self.passwordProvider, isNew: true)
  }

  /// Signs in as a guest, who can get an email address later; a guest who is signed in stays.
  ///
  /// - Throws: ``AuthError``.
  @discardableResult
  public func signInAnonymously() async throws -> AuthDataResult {
    if let user = currentUser, user.isAnonymous {
      let info = AdditionalUserInfo(providerID: Self.anonymousProvider, isNewUser: false)
      return AuthDataResult(user: user, additionalUserInfo: info)
    }
    let answer = try await client.call(.signUp, with: [Self.wantsTokens])
    return try await finish(answer, provider: Self.anonymousProvider, isNew: true)
  }

  /// Signs in with a token that a server of the project has issued and signed.
  ///
  /// - Throws: ``AuthError``: `invalidCustomToken`, `customTokenMismatch` and others.
  @discardableResult
  public func signIn(withCustomToken token: String) async throws -> AuthDataResult {
    let members = [JSONMember("token", .string(token)), Self.wantsTokens]
    let answer = try await client.call(.signInWithCustomToken, with: members)
    let isNew = answer["isNewUser"]?.bool ?? false
    return try await finish(answer, provider: "custom", isNew: isNew)
  }

  /// Signs in with a credential.
  ///
  /// - Throws: ``AuthError``.
  @discardableResult
  public func signIn(with credential: AuthCredential) async throws -> AuthDataResult {
    try await signIn(withEmail: credential.email, password: credential.password)
  }

  // MARK: Forgotten passwords

  /// Asks the server to send an email with a code, if it sends email.
  ///
  /// A server that protects its users does not reveal whether the account exists.
  ///
  /// - Throws: ``AuthError``.
  public func sendPasswordReset(withEmail email: String) async throws {
    _ = try await client.call(
      .sendOobCode,
      with: [
        JSONMember("requestType", .string("PASSWORD_RESET")), JSONMember("email", .string(email)),
      ]
    )
  }

  /// Returns the email address that a code was issued for.
  ///
  /// - Throws: ``AuthError``: `invalidActionCode`, `expiredActionCode` and others.
  @discardableResult
  public func verifyPasswordResetCode(_ code: String) async throws -> String {
    let answer = try await client.call(.resetPassword, with: [JSONMember("oobCode", .string(code))])
    return answer["email"]?.string ?? ""
  }

  /// Sets a new password, using the code from the email.
  ///
  /// - Throws: ``AuthError``: `invalidActionCode`, `expiredActionCode`, `weakPassword` and others.
  public func confirmPasswordReset(withCode code: String, newPassword: String) async throws {
    let password = try Self.given(newPassword, "newPassword", orElse: .weakPassword)
    let members = [JSONMember("oobCode", .string(code)), password]
    _ = try await client.call(.resetPassword, with: members)
  }

  // MARK: What all have in common

  static let passwordProvider = "password"
  static let anonymousProvider = "anonymous"
  static let wantsTokens = JSONMember("returnSecureToken", .bool(true))

  static func members(
    email: String,
    password: String,
    orElse kind: AuthErrorCode
  ) throws(AuthError) -> [JSONMember] {
    let password = try given(password, "password", orElse: kind)
    return [try given(email, "email", orElse: .missingEmail), password, wantsTokens]
  }

  /// A member that must not be empty.
  ///
  /// A server takes an empty text for none, and makes a guest's account or changes nothing.
  static func given(
    _ text: String,
    _ name: String,
    orElse kind: AuthErrorCode
  ) throws(AuthError) -> JSONMember {
    guard !text.isEmpty else {
      let missing = kind == .missingEmail ? "an email address" : "a password"
      throw AuthError(kind, message: "\(missing) is needed")
    }
    return JSONMember(name, .string(text))
  }

  /// Looks up the user whose tokens a response contains, and signs that user in.
  ///
  /// With `staysSignedIn`, it throws instead unless that user is signed in by then.
  func finish(
    _ answer: JSONValue,
    provider: String,
    isNew: Bool,
    staysSignedIn: Bool = false
  ) async throws(AuthError) -> AuthDataResult {
    // The lifetime counts from the arrival of the response, shortly after the tokens were issued.
    guard let tokens = Account.Tokens(account: answer, now: Self.now()) else {
      throw AuthError(.internalError, message: "the sign-in response has no token")
    }
    let account = try await account(of: tokens)
    guard handle(staysSignedIn ? .tokensChanged(account) : .signedIn(account)) else {
      throw .otherUser
    }
    await settle()
    let info = AdditionalUserInfo(providerID: provider, isNewUser: isNew)
    return AuthDataResult(user: User(account, of: self), additionalUserInfo: info)
  }

  /// Asks the server for the account that some tokens belong to.
  func account(of tokens: Account.Tokens) async throws(AuthError) -> Account {
    let claims = try IDTokenClaims(tokens.idToken)
    let answer = try await client.call(
      .lookup,
      with: [JSONMember("idToken", .string(tokens.idToken))]
    )
    guard let user = answer["users"]?.elements?.first,
      let uid = user["localId"]?.string ?? claims.uid
    else {
      throw AuthError(.internalError, message: "the server does not say who signed in")
    }
    let profile = Account.Profile(user: user, claims: claims)
    return Account(uid: uid, profile: profile, tokens: tokens)
  }
}

/// The result of signing in.
public struct AuthDataResult: Sendable {
  /// The signed-in user.
  public let user: User
  /// Further details from the server.
  public let additionalUserInfo: AdditionalUserInfo?
}

/// The server's details about a sign-in.
public struct AdditionalUserInfo: Hashable, Sendable {
  /// How the user signed in, such as "password".
  public let providerID: String
  /// Whether this sign-in created the account.
  public let isNewUser: Bool
}

/// A proof of a user's identity; see ``EmailAuthProvider``.
public struct AuthCredential: Sendable {
  /// The kind of proof, such as "password".
  public let provider: String
  let email: String
  let password: String
}

/// Makes credentials from email addresses and passwords.
public enum EmailAuthProvider {
  /// The ``AuthCredential/provider`` of its credentials.
  public static let id = Auth.passwordProvider

  /// Makes a credential from an email address and a password.
  public static func credential(withEmail email: String, password: String) -> AuthCredential {
    AuthCredential(provider: Auth.passwordProvider, email: email, password: password)
  }
}
