internal import RealtimeCore

/// Changes of an account.
extension User {
  /// Asks the server what it knows of the user; signs out when the account is gone or disabled.
  ///
  /// - Throws: ``AuthError``.
  public func reload() async throws {
    let account = try await account()
    do {
      let found = try await auth.account(of: account.tokens)
      auth.handle(.profileChanged(uid: uid, found.profile))
    } catch let error where error.endsSession {
      if auth.userID == uid { auth.handle(.signedOut) }
      throw error
    }
    await auth.settle()
  }

  /// Sets a new password.
  ///
  /// - Throws: ``AuthError``: `weakPassword`, `requiresRecentLogin` and others.
  public func updatePassword(to password: String) async throws {
    try await update([JSONMember("password", .string(password))])
  }

  /// Sets a new email address.
  ///
  /// - Throws: ``AuthError``: `emailAlreadyInUse`, `invalidEmail`, `requiresRecentLogin` and others.
  public func updateEmail(to email: String) async throws {
    try await update([JSONMember("email", .string(email))])
  }

  /// Gives a guest an email address and a password, by which they can sign in from now on.
  ///
  /// - Throws: ``AuthError``: `emailAlreadyInUse`, `weakPassword`, `providerAlreadyLinked` when the
  ///   user is no guest, and others.
  @discardableResult
  public func link(withEmail email: String, password: String) async throws -> AuthDataResult {
    guard self.email == nil else {
      throw AuthError(
        .providerAlreadyLinked,
        message: "this account has an email address and a password already"
      )
    }
    let token = JSONMember("idToken", .string(try await account().tokens.idToken))
    let answer = try await auth.client.call(.signUp, Auth.members(email, password) + [token])
    return try await auth.finish(answer, provider: Auth.passwordProvider, isNew: false)
  }

  /// Gives a guest what a credential says; see ``link(withEmail:password:)``.
  ///
  /// - Throws: ``AuthError``.
  @discardableResult
  public func link(with credential: AuthCredential) async throws -> AuthDataResult {
    try await link(withEmail: credential.email, password: credential.password)
  }

  /// Proves once more who the user is, as deleting an account and other things need.
  ///
  /// - Throws: ``AuthError``: `userMismatch` when the credential is that of someone else, and others.
  @discardableResult
  public func reauthenticate(with credential: AuthCredential) async throws -> AuthDataResult {
    let members = Auth.members(credential.email, credential.password)
    let answer = try await auth.client.call(.signInWithPassword, members)
    guard answer["localId"]?.string == uid else {
      throw AuthError(.userMismatch, message: "these are the credentials of someone else")
    }
    return try await auth.finish(answer, provider: Auth.passwordProvider, isNew: false)
  }

  /// Deletes the account and signs out.
  ///
  /// What the user has written in databases stays there.
  ///
  /// - Throws: ``AuthError``: `requiresRecentLogin` and others.
  public func delete() async throws {
    let token = JSONMember("idToken", .string(try await account().tokens.idToken))
    _ = try await auth.client.call(.delete, [token])
    if auth.userID == uid { auth.handle(.signedOut) }
    await auth.settle()
  }

  /// Changes members of the account, and takes the tokens that the server gives for the old ones.
  func update(_ members: [JSONMember]) async throws {
    var account = try await account()
    let token = JSONMember("idToken", .string(account.tokens.idToken))
    let answer = try await auth.client.call(.update, members + [token, Auth.wantsTokens])
    if let tokens = Account.Tokens(account: answer, now: Auth.now()) { account.tokens = tokens }
    let found = try await auth.account(of: account.tokens)
    guard auth.userID == uid else { throw AuthError.otherUser }
    if answer["idToken"] != nil { auth.handle(.signedIn(found)) }
    auth.handle(.profileChanged(uid: uid, found.profile))
    await auth.settle()
  }
}
