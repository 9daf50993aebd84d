internal import NIOCore
internal import RealtimeCore

extension AccountService {
  /// Makes an account for somebody who asks, or adds an address and a password to one.
  ///
  /// - Parameters:
  ///   - fields: What the request says; without an address the account is anonymous.
  ///   - caller: Who asks.
  /// - Returns: The account, signed in.
  /// - Throws: ``IdentityError`` when something about the request is wrong.
  func signUp(_ fields: RequestFields, _ caller: Caller) async throws(IdentityError) -> SignedIn {
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
      let (account, claims) = try owner(of: token, caller)
      return try await linked(account, claims, change, caller)
    }
    guard settings.allowsSignUp else { throw IdentityError("ADMIN_ONLY_OPERATION") }
    guard clientAttempts.take(caller.client, at: clock()) else { throw .tooManyAttempts }
    var account = newAccount(in: caller.database)
    account.displayName = try fields.shown("displayName", maximumBytes: 256)
    if let email, let password {
      try await setCredentials(of: &account, email, password)
      return try beginSession(account, provider: "password")
    }
    return try beginSession(account, provider: "anonymous")
  }

  /// An account with an identifier that nobody has.
  func newAccount(in database: String, uid: String = Randomness.uid()) -> Account {
    Account(database: database, uid: uid, created: clock())
  }

  /// Gives a new account an address and a password.
  func setCredentials(
    of account: inout Account,
    _ email: EmailAddress,
    _ password: Password
  ) async throws(IdentityError) {
    try checkFree(email, for: account)
    account.password = try await hash(password)
    // Somebody may have been faster while the password was hashed.
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
    _ claims: JSONValue,
    _ change: AccountChange,
    _ caller: Caller
  ) async throws(IdentityError) -> SignedIn {
    guard change.email != nil else { throw IdentityError("MISSING_EMAIL") }
    guard account.providers.isEmpty else { throw IdentityError("PROVIDER_ALREADY_LINKED") }
    guard let signedIn = try await update(account, change, claims, caller).signedIn else {
      throw .failed
    }
    return signedIn
  }

  // MARK: Passwords

  /// Hashes a password on a thread for that.
  func hash(_ password: Password) async throws(IdentityError) -> PasswordHash {
    let salt = Randomness.bytes(PasswordHash.saltBytes)
    let cost = settings.passwordCost
    let hash = try await passwords.run { PasswordHash(of: password, salt: salt, cost: cost) }
    guard let hash else { throw .busy }
    return hash
  }

  /// Signs in with an address and a password.
  ///
  /// An address that nobody has takes as long as a wrong password, and is answered the same way; so
  /// is an account that is disabled, unless the password is right. After many wrong passwords for an
  /// account each further attempt has to wait, but the right one is let through.
  func signIn(
    _ fields: RequestFields,
    _ caller: Caller
  ) async throws(IdentityError) -> SignedIn {
    guard let email = try fields.email() else { throw IdentityError("MISSING_EMAIL") }
    guard let text = try fields.text("password") else { throw IdentityError("MISSING_PASSWORD") }
    let name = "\(caller.database) \(email)"
    guard clientAttempts.take(caller.client, at: clock()) else { throw .tooManyAttempts }
    try await waitForTurn(at: name, caller)
    guard let password = try? Password(text) else { throw refusal(isKnown: true) }
    let found = try read { try $0.account(of: email, in: caller.database) }
    guard let hash = found?.password else {
      // The work that a wrong password would have been.
      _ = try await self.hash(password)
      throw refusal(isKnown: false)
    }
    guard let isRight = try await passwords.run({ hash.matches(password) }) else { throw .busy }
    guard isRight else { throw refusal(isKnown: true) }
    accountAttempts.reset(name)
    clientAttempts.giveBack(caller.client)
    waitingAttempts.remember(name, caller.client)
    let better = hash.cost == settings.passwordCost ? nil : try? await self.hash(password)
    // What has become of the account while the password was looked at.
    guard var account = try read({ try $0.account(of: email, in: caller.database) }),
      account.password == hash
    else { throw refusal(isKnown: true) }
    if let better { account.password = better }
    return try beginSession(account, provider: "password")
  }

  /// Waits when there have been too many wrong passwords for an account.
  private func waitForTurn(at name: String, _ caller: Caller) async throws(IdentityError) {
    if accountAttempts.take(name, at: clock()) { return }
    guard waitingAttempts.enter(name, caller.client) else { throw .tooManyAttempts }
    // Cut short only by the end of the service.
    try? await eventLoop.scheduleTask(in: .milliseconds(settings.accountDelay)) {}.futureResult
      .get()
    waitingAttempts.leave(name, caller.client)
  }

  private func refusal(isKnown: Bool) -> IdentityError {
    guard settings.isEmulator else { return .invalidCredentials }
    return IdentityError(isKnown ? "INVALID_PASSWORD" : "EMAIL_NOT_FOUND")
  }

  // MARK: Custom tokens

  /// Signs in with a token that a program of an administrator has signed.
  ///
  /// - Returns: The account, signed in, and whether it was made.
  func signInWithCustomToken(
    _ fields: RequestFields,
    _ caller: Caller
  ) throws(IdentityError) -> (signedIn: SignedIn, isNew: Bool) {
    guard let text = try fields.text("token") else { throw IdentityError("MISSING_CUSTOM_TOKEN") }
    let token = try customToken(text, caller)
    let found = try read { try $0.account(token.uid, in: caller.database) }
    let account = found ?? newAccount(in: caller.database, uid: token.uid)
    let claims = token.claims.isEmpty ? nil : JSONValue.object(token.claims)
    return (try beginSession(account, provider: "custom", claims: claims), found == nil)
  }

  private func customToken(
    _ text: String,
    _ caller: Caller
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
