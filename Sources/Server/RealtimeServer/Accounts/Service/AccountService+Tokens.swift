internal import Logging
internal import RealtimeCore
internal import RealtimeHub

extension AccountService {
  /// How long after its use a refresh token is answered again as if it were new, in milliseconds.
  ///
  /// Terminals that share one are not to end each other's session.
  private static let grace: Int64 = 60_000

  /// Begins a session for an account that may sign in.
  ///
  /// - Parameters:
  ///   - account: The account, which is saved with it.
  ///   - provider: How its user has signed in.
  ///   - claims: What a custom token adds to its tokens.
  /// - Returns: The session's first tokens.
  /// - Throws: ``IdentityError`` when it may not.
  func beginSession(
    _ account: Account,
    provider: String,
    claims: JSONValue? = nil
  ) throws(IdentityError) -> SignedIn {
    guard !account.isDisabled else { throw IdentityError("USER_DISABLED") }
    var account = account
    account.lastSignIn = clock()
    let session = SignInSession(
      id: Base64URL.encode(Randomness.bytes(16)),
      database: account.database,
      uid: account.uid,
      provider: provider,
      signedIn: issueTime(account),
      claims: claims?.text
    )
    let refreshToken = RefreshToken(Randomness.bytes(RefreshToken.byteCount))
    let signedIn = SignedIn(
      account: account,
      idToken: try idToken(of: account, session),
      refreshToken: refreshToken.text,
      lifetime: settings.tokenLifetime
    )
    try apply([.save(account), .begin(session, token: refreshToken.hash)])
    return signedIn
  }

  /// The second that a token of an account is dated to: never one in which earlier ones are ended.
  private func issueTime(_ account: Account) -> Int64 { max(clock() / 1_000, account.validSince) }

  /// Continues a session.
  ///
  /// A token that was replaced long ago is in the wrong hands, or was: the session ends for both.
  func refresh(_ text: String, in database: String) throws(IdentityError) -> SignedIn {
    guard let token = RefreshToken(text),
      let record = try read({ try $0.session(ofToken: token.hash) }),
      record.session.database == database
    else { throw IdentityError("INVALID_REFRESH_TOKEN") }
    let session = record.session
    let successor = token.successor(authority.keys.refreshSecret)
    if let replaced = record.replaced { try checkReplay(of: session, replaced, successor) }
    guard let account = try read({ try $0.account(session.uid, in: database) }) else {
      throw IdentityError("USER_NOT_FOUND")
    }
    guard !account.isDisabled else { throw IdentityError("USER_DISABLED") }
    guard session.signedIn >= account.validSince else { throw IdentityError("TOKEN_EXPIRED") }
    let idToken = try idToken(of: account, session)
    if record.replaced == nil {
      try apply([.replace(token: token.hash, successor: successor.hash, at: clock())])
    }
    return SignedIn(
      account: account,
      idToken: idToken,
      refreshToken: successor.text,
      lifetime: settings.tokenLifetime
    )
  }

  /// Checks that a token which was replaced may be answered once more, and ends its session if not.
  private func checkReplay(
    of session: SignInSession,
    _ replaced: Int64,
    _ successor: RefreshToken
  ) throws(IdentityError) {
    guard let next = try read({ try $0.session(ofToken: successor.hash) }) else {
      // The secret that it was made with is gone.
      throw IdentityError("INVALID_REFRESH_TOKEN")
    }
    guard clock() - replaced > Self.grace, next.replaced != nil else { return }
    try apply([.end(session: session.id)])
    logger.warning(
      "a refresh token was used again, so its session is ended",
      metadata: ["database": "\(session.database)", "uid": "\(session.uid)"]
    )
    throw IdentityError("INVALID_REFRESH_TOKEN")
  }

  // MARK: ID tokens

  /// A new token of a session.
  private func idToken(
    of account: Account,
    _ session: SignInSession
  ) throws(IdentityError) -> String {
    let claims = claims(of: account, session)
    if settings.isEmulator { return WebToken.unsigned(claims) }
    if authority.keys.isDue(at: clock()) { try rotateKeys() }
    guard let token = authority.sign(claims) else { throw .failed }
    return token
  }

  private func claims(of account: Account, _ session: SignInSession) -> JSONValue {
    let issued = issueTime(account)
    let issuer =
      settings.isEmulator
      ? "https://securetoken.google.com/\(account.database)" : authority.issuer
    var members = CustomClaims.merged(
      account.customClaims,
      session.claims.flatMap { try? JSONParser.parse($0) }?.members ?? []
    )
    func add(_ name: String, _ value: JSONValue) { members.append(JSONMember(name, value)) }
    if let name = account.displayName { add("name", .string(name)) }
    if let url = account.photoURL { add("picture", .string(url)) }
    if session.provider == "anonymous" { add("provider_id", .string("anonymous")) }
    add("iss", .string(issuer))
    add("aud", .string(account.database))
    add("auth_time", .integer(session.signedIn))
    add("user_id", .string(account.uid))
    add("sub", .string(account.uid))
    add("iat", .integer(issued))
    add("exp", .integer(issued + settings.tokenLifetime))
    var identities: [JSONMember] = []
    if let email = account.email {
      add("email", .string(email.text))
      add("email_verified", .bool(account.isEmailVerified))
      identities = [JSONMember("email", .array([.string(email.text)]))]
    }
    add(
      "firebase",
      .object(
        ("identities", .object(identities)),
        ("sign_in_provider", .string(session.provider))
      )
    )
    return .object(members)
  }

  /// The account whose token somebody shows, with what the token says.
  func owner(
    of token: String?,
    _ caller: Caller
  ) throws(IdentityError) -> (account: Account, claims: JSONValue) {
    guard let token, !token.isEmpty else { throw IdentityError("INVALID_ID_TOKEN") }
    let claims = try claims(of: token, caller)
    guard let uid = claims["sub"]?.string,
      let account = try read({ try $0.account(uid, in: caller.database) })
    else { throw IdentityError("USER_NOT_FOUND") }
    guard !account.isDisabled else { throw IdentityError("USER_DISABLED") }
    if let issued = claims["iat"]?.integer, issued < account.validSince {
      throw IdentityError("TOKEN_EXPIRED")
    }
    return (account, claims)
  }

  private func claims(of token: String, _ caller: Caller) throws(IdentityError) -> JSONValue {
    if settings.isEmulator {
      guard let token = WebToken(token), token.algorithm == "none" else {
        throw IdentityError("INVALID_ID_TOKEN")
      }
      return token.claims
    }
    do throws(CredentialError) {
      return try authority.verify(token, for: caller.database, at: clock())
    } catch {
      throw IdentityError(error.status == .expiredToken ? "TOKEN_EXPIRED" : "INVALID_ID_TOKEN")
    }
  }
}
