internal import Logging
internal import NIOCore
internal import RealtimeCore

extension AccountService {
  /// Creates an account, or adds an address and a password to an existing one, and signs it in.
  ///
  /// Without an address, the account is anonymous.
  func signUp(
    _ fields: RequestFields,
    by caller: IdentityRequest
  ) async throws(IdentityError) -> SignedIn {
    let email = try fields.email()
    let text = try fields.text("password")
    if text != nil, email == nil { throw IdentityError("MISSING_EMAIL") }
    if email != nil, text == nil { throw IdentityError("MISSING_PASSWORD") }
    let password = try fields.newPassword()
    if let token = try fields.text("idToken") {
      var change = AccountChange()
      change.email = email
      change.password = password
      change.displayName = try fields.shown("displayName", maximumBytes: 256)
      let (account, claims) = try owner(of: token, by: caller)
      return try await linked(account, claims: claims, change: change, by: caller)
    }
    guard settings.allowsSignUp else { throw IdentityError("ADMIN_ONLY_OPERATION") }
    guard clientAttempts.take(caller.client, at: clock()) else { throw .tooManyAttempts }
    var account = newAccount(in: caller.database)
    if let email, let password {
      // Without an address, the hosted service ignores the name.
      account.displayName = try fields.shown("displayName", maximumBytes: 256)
      try await setCredentials(of: &account, email: email, password: password)
      return try beginSession(account, provider: "password")
    }
    return try beginSession(account, provider: "anonymous")
  }

  /// Makes an account, by default with a new random identifier.
  func newAccount(in database: String, uid: String = Randomness.uid()) -> Account {
    Account(database: database, uid: uid, created: clock())
  }

  func setCredentials(
    of account: inout Account,
    email: EmailAddress,
    password: Password
  ) async throws(IdentityError) {
    try checkFree(email, for: account)
    account.password = try await hash(password)
    // Another account may have taken the address while the password was hashed.
    try checkFree(email, for: account)
    account.email = email
    account.passwordChanged = clock()
  }

  /// Checks that no other account has an address.
  func checkFree(_ email: EmailAddress, for account: Account) throws(IdentityError) {
    let other = try read { try $0.account(of: email, in: account.database) }
    if let other, other.uid != account.uid { throw IdentityError("EMAIL_EXISTS") }
  }

  private func linked(
    _ account: Account,
    claims: JSONValue,
    change: AccountChange,
    by caller: IdentityRequest
  ) async throws(IdentityError) -> SignedIn {
    guard change.email != nil else { throw IdentityError("MISSING_EMAIL") }
    guard account.providers.isEmpty else { throw IdentityError("PROVIDER_ALREADY_LINKED") }
    guard
      let signedIn = try await update(account, with: change, claims: claims, by: caller)
        .signedIn
    else {
      throw .failed
    }
    return signedIn
  }

  // MARK: Passwords

  func hash(_ password: Password) async throws(IdentityError) -> PasswordHash {
    let salt = Randomness.bytes(PasswordHash.saltBytes)
    let cost = settings.passwordCost
    let hash = try await passwords.run { PasswordHash(of: password, salt: salt, cost: cost) }
    guard let hash else { throw .busy }
    return hash
  }

  /// Signs in with an address and a password.
  ///
  /// An unknown address takes as long as a wrong password and gets the same response; so does a
  /// disabled account, unless the password is right. After many wrong passwords for an account,
  /// each further attempt has to wait, but the right password is still accepted.
  func signIn(
    _ fields: RequestFields,
    by caller: IdentityRequest
  ) async throws(IdentityError) -> SignedIn {
    guard let email = try fields.email() else { throw IdentityError("MISSING_EMAIL") }
    guard let text = try fields.text("password") else { throw IdentityError("MISSING_PASSWORD") }
    let name = "\(caller.database) \(email)"
    // An address may be shared: whoever tries many accounts there only delays the others.
    let isCounted = clientAttempts.take(caller.client, at: clock())
    if !isCounted {
      try await wait(in: "address \(caller.client)", as: name, by: caller)
    }
    if !accountAttempts.take(name, at: clock()) {
      try await wait(in: name, as: caller.client, by: caller)
    }
    guard let password = try? Password(text) else { throw refusal(isKnown: true) }
    let found = try read { try $0.account(of: email, in: caller.database) }
    guard let hash = found?.password else {
      // This takes as long as a wrong password would.
      _ = try await self.hash(password)
      throw refusal(isKnown: false)
    }
    guard let isRight = try await passwords.run({ hash.matches(password) }) else { throw .busy }
    guard isRight else { throw refusal(isKnown: true) }
    accountAttempts.reset(name)
    if isCounted { clientAttempts.giveBack(caller.client) }
    waitingAttempts.remember(name, from: caller.client)
    let better = hash.cost == settings.passwordCost ? nil : try? await self.hash(password)
    // The account may have changed while the password was checked.
    guard let now = try read({ try $0.account(of: email, in: caller.database) }),
      now.password == hash
    else { throw refusal(isKnown: true) }
    var account = now
    if let better { account.password = better }
    return try beginSession(account, insteadOf: now, provider: "password")
  }

  /// Waits since there have been too many wrong passwords for an account, or from an address.
  private func wait(
    in name: String,
    as client: String,
    by caller: IdentityRequest
  ) async throws(IdentityError) {
    let isAbandoned = caller.isAbandoned
    guard !isClosed,
      let (id, isFirst) = waitingAttempts.enter(name, from: client, isAbandoned: isAbandoned)
    else { throw .tooManyAttempts }
    if isFirst { scheduleTurn(in: name) }
    let mayGoOn = await withCheckedContinuation { waits[id] = $0 }
    guard mayGoOn else { throw .tooManyAttempts }
  }

  private func scheduleTurn(in name: String) {
    _ = eventLoop.scheduleTask(in: .milliseconds(settings.accountDelay)) { [weak self] in
      self?.assumeIsolated { $0.takeTurn(in: name) }
    }
  }

  private func takeTurn(in name: String) {
    let turn = waitingAttempts.next(name)
    for id in turn.served { waits.removeValue(forKey: id)?.resume(returning: true) }
    for id in turn.abandoned { waits.removeValue(forKey: id)?.resume(returning: false) }
    if !turn.isLast { scheduleTurn(in: name) }
  }

  private func refusal(isKnown: Bool) -> IdentityError {
    guard settings.isEmulator else { return .invalidCredentials }
    return IdentityError(isKnown ? "INVALID_PASSWORD" : "EMAIL_NOT_FOUND")
  }

  // MARK: Custom tokens

  /// Signs in with a custom token, which an administrator's program has signed.
  func signInWithCustomToken(
    _ fields: RequestFields,
    by caller: IdentityRequest
  ) throws(IdentityError) -> (signedIn: SignedIn, isNew: Bool) {
    guard let text = try fields.text("token") else { throw IdentityError("MISSING_CUSTOM_TOKEN") }
    let token = try customToken(text, by: caller)
    let found = try read { try $0.account(token.uid, in: caller.database) }
    let account = found ?? newAccount(in: caller.database, uid: token.uid)
    let claims = token.claims.isEmpty ? nil : JSONValue.object(token.claims)
    let signedIn = try beginSession(account, insteadOf: found, provider: "custom", claims: claims)
    return (signedIn, found == nil)
  }

  private func customToken(
    _ text: String,
    by caller: IdentityRequest
  ) throws(IdentityError) -> CustomToken {
    if settings.isEmulator { return try CustomToken(unsigned: text) }
    guard let key = try read({ try $0.secret(.customTokenKey) }).flatMap({ SigningKey(json: $0) })
    else { throw .failed }
    return try CustomToken(
      text,
      signedBy: key,
      issuer: "\(authority.issuer):\(caller.database)",
      at: clock()
    )
  }
}

extension AccountService {
  /// How long a used refresh token can be used again with the same result, in milliseconds.
  ///
  /// Terminals that share a token must not end each other's session.
  private static let grace: Int64 = 60_000

  /// Starts a session for an account that may sign in, and saves both.
  ///
  /// The old account is as it was read; nil for a new one. The claims are those that a custom token
  /// adds to the session's tokens.
  func beginSession(
    _ account: Account,
    insteadOf old: Account? = nil,
    provider: String,
    claims: JSONValue? = nil
  ) throws(IdentityError) -> SignedIn {
    let (signedIn, changes) = try makeSession(
      for: account,
      insteadOf: old,
      provider: provider,
      claims: claims
    )
    try apply(changes)
    return signedIn
  }

  /// Makes a session as ``beginSession(_:insteadOf:provider:claims:)`` does, without saving it.
  func makeSession(
    for account: Account,
    insteadOf old: Account?,
    provider: String,
    claims: JSONValue? = nil
  ) throws(IdentityError) -> (signedIn: SignedIn, changes: [IdentityChange]) {
    guard !account.isDisabled else { throw IdentityError("USER_DISABLED") }
    try checkDate(of: account)
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
    return (
      signedIn, [.save(account, insteadOf: old), .begin(session, token: refreshToken.hash)]
    )
  }

  /// The second that a new token of an account is dated to, which is never one with revoked tokens.
  private func issueTime(_ account: Account) -> Int64 {
    max(clock() / 1_000, validSince(account))
  }

  /// The second from which tokens of an account are valid.
  private func validSince(_ account: Account) -> Int64 {
    // It may have the identifier of one that was deleted a moment ago.
    let note = authority.revocation(of: account.uid, in: account.database)
    return max(account.validSince, note?.validSince ?? .min)
  }

  /// Ends all sessions of an account that have been started.
  ///
  /// Tokens are dated in whole seconds, so later tokens of the same second are dated to the next
  /// one, and after another end in that second to the one after: no token issued before is valid,
  /// and every one issued later is. It stops once the date is so far ahead that nobody can sign in.
  func endSessions(of account: inout Account) {
    let (now, last) = (clock() / 1_000, validSince(account))
    account.validSince = last > now + TokenAuthority.tolerance ? last : max(last, now) + 1
  }

  /// Checks that new tokens of an account are not dated so far ahead that they are not valid yet,
  /// nor by the clock of another server.
  func checkDate(of account: Account) throws(IdentityError) {
    let ahead = issueTime(account) - clock() / 1_000
    guard settings.isEmulator || ahead <= TokenAuthority.tolerance / 2 else {
      // To end sessions goes no further than this.
      throw ahead <= TokenAuthority.tolerance + 1 ? .endedTooOften : .clockSetBack
    }
  }

  /// Continues a session with a refresh token.
  ///
  /// If a token that was replaced long ago is used, it or its successor was stolen: the session
  /// ends for both holders.
  func refresh(_ text: String, in database: String) throws(IdentityError) -> SignedIn {
    guard let token = RefreshToken(text),
      let record = try read({ try $0.session(ofToken: token.hash) }),
      record.session.database == database
    else { throw IdentityError("INVALID_REFRESH_TOKEN") }
    let session = record.session
    let successor = token.successor(authority.keys.refreshSecret)
    if let replaced = record.replaced {
      try checkReplay(of: session, replaced: replaced, successor: successor)
    }
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

  /// Checks that a replaced token may be used again, and ends its session if not.
  private func checkReplay(
    of session: SignInSession,
    replaced: Int64,
    successor: RefreshToken
  ) throws(IdentityError) {
    guard let next = try read({ try $0.session(ofToken: successor.hash) }) else {
      // The secret that derived its successor is gone.
      throw IdentityError("INVALID_REFRESH_TOKEN")
    }
    guard clock() - replaced > Self.grace, next.replaced != nil else { return }
    try apply([.end(session: session.id)])
    logger.warning(
      "a refresh token was used again; ending its session",
      metadata: ["database": "\(session.database)", "uid": "\(session.uid)"]
    )
    throw IdentityError("INVALID_REFRESH_TOKEN")
  }

  // MARK: ID tokens

  /// Makes a new ID token for a session.
  private func idToken(
    of account: Account,
    _ session: SignInSession
  ) throws(IdentityError) -> String {
    let claims = claims(of: account, session)
    if settings.isEmulator { return WebToken.unsigned(claims) }
    if authority.keys.isDue(at: clock()) { try rotateKeys(onlyIfDue: true) }
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
      with: session.claims.flatMap { try? JSONParser.parse($0) }?.members ?? []
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

  /// The account that a token belongs to, with the token's claims.
  func owner(
    of token: String?,
    by caller: IdentityRequest
  ) throws(IdentityError) -> (account: Account, claims: JSONValue) {
    guard let token, !token.isEmpty else { throw IdentityError("INVALID_ID_TOKEN") }
    let claims = try claims(of: token, by: caller)
    guard let uid = claims["sub"]?.string,
      let account = try read({ try $0.account(uid, in: caller.database) })
    else { throw IdentityError("USER_NOT_FOUND") }
    guard !account.isDisabled else { throw IdentityError("USER_DISABLED") }
    if let issued = claims["iat"]?.integer, issued < account.validSince {
      throw IdentityError("TOKEN_EXPIRED")
    }
    return (account, claims)
  }

  private func claims(
    of token: String,
    by caller: IdentityRequest
  ) throws(IdentityError) -> JSONValue {
    if settings.isEmulator {
      guard let token = WebToken(token), token.algorithm == "none" else {
        throw IdentityError("INVALID_ID_TOKEN")
      }
      return token.claims
    }
    do throws(RequestError) {
      return try authority.verify(token, for: caller.database, at: clock())
    } catch {
      throw IdentityError(error.status == .expiredToken ? "TOKEN_EXPIRED" : "INVALID_ID_TOKEN")
    }
  }
}
