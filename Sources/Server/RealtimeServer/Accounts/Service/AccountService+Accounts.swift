internal import RealtimeCore

extension AccountService {
  /// How long a user has, who has changed the password, to take the new tokens before the user's
  /// connections hear that the old ones are dead, in milliseconds.
  private static let changeover: Int64 = 1_000

  /// What the user of a token, or an administrator, wants to be different.
  func change(
    _ fields: RequestFields,
    isAdministrator: Bool
  ) throws(IdentityError) -> AccountChange {
    var change = AccountChange()
    change.email = try fields.email()
    change.password = try fields.newPassword()
    change.displayName = try fields.shown("displayName", maximumBytes: 256)
    change.photoURL = try fields.shown("photoUrl", maximumBytes: 2_048)
    for attribute in try fields.texts("deleteAttribute") {
      switch attribute {
      case "DISPLAY_NAME": change.displayName = ""
      case "PHOTO_URL": change.photoURL = ""
      case _: throw IdentityError("INVALID_ARGUMENT", "Invalid value at 'deleteAttribute'")
      }
    }
    change.removesPassword = try fields.texts("deleteProvider").contains("password")
    guard isAdministrator else { return change }
    change.isEmailVerified = try fields.flag("emailVerified")
    change.isDisabled = try fields.flag("disableUser")
    if let claims = try fields.embeddedJSON("customAttributes") {
      change.customClaims = try CustomClaims.checked(claims)
    }
    // Whatever second is named: sessions end now, not in the future and not in the past.
    change.endsSessions = try fields.text("validSince") != nil
    return change
  }

  /// Changes an account.
  ///
  /// When another address or password is set, or the account disabled, everybody is signed out; a
  /// user who has done it gets new tokens.
  ///
  /// - Parameters:
  ///   - account: The account.
  ///   - change: What is to be different.
  ///   - claims: What the token of the user says, or nil when an administrator does it.
  ///   - caller: Who asks.
  /// - Returns: The account as it is then, and the new tokens of a user who needs some.
  /// - Throws: ``IdentityError`` when it may not be changed so.
  func update(
    _ account: Account,
    _ change: AccountChange,
    _ claims: JSONValue?,
    _ caller: Caller
  ) async throws(IdentityError) -> (account: Account, signedIn: SignedIn?) {
    let changesCredentials =
      change.password != nil || change.removesPassword
      || change.email.map { $0 != account.email } ?? false
    if changesCredentials, let claims { try checkRecent(claims, account) }
    if let email = change.email { try checkFree(email, for: account) }
    var hash: PasswordHash?
    if let password = change.password { hash = try await self.hash(password) }
    // What has become of the account while the password was hashed.
    guard let now = try read({ try $0.account(account.uid, in: account.database) }),
      now.validSince == account.validSince
    else { throw IdentityError(claims == nil ? "USER_NOT_FOUND" : "TOKEN_EXPIRED") }
    if let email = change.email { try checkFree(email, for: account) }
    var changed = Self.applying(change, hash, to: now, at: clock())
    guard changesCredentials || change.endsSessions || (change.isDisabled ?? false) else {
      try apply([.save(changed)])
      return (changed, nil)
    }
    changed.endSessions(at: clock())
    try revoke(changed, with: [.save(changed)], tellingAfter: claims == nil ? 0 : Self.changeover)
    guard let claims else { return (changed, nil) }
    let old = claims["firebase"]?["sign_in_provider"]?.string ?? "custom"
    let provider = changed.providers.isEmpty ? (old == "password" ? "anonymous" : old) : "password"
    return (changed, try beginSession(changed, provider: provider))
  }

  private static func applying(
    _ change: AccountChange,
    _ hash: PasswordHash?,
    to account: Account,
    at now: Int64
  ) -> Account {
    var account = account
    if let email = change.email, email != account.email {
      account.email = email
      account.isEmailVerified = false
    }
    if let hash {
      account.password = hash
      account.passwordChanged = now
      account.resetRequested = nil
    }
    if change.removesPassword { account.password = nil }
    if let name = change.displayName { account.displayName = name.isEmpty ? nil : name }
    if let url = change.photoURL { account.photoURL = url.isEmpty ? nil : url }
    if let isVerified = change.isEmailVerified { account.isEmailVerified = isVerified }
    if let isDisabled = change.isDisabled { account.isDisabled = isDisabled }
    if let claims = change.customClaims { account.customClaims = claims }
    return account
  }

  /// Checks that the user of a token has signed in a short while ago.
  ///
  /// An account without a password has nothing that could be taken over by a token that was left
  /// lying about for longer.
  private func checkRecent(_ claims: JSONValue, _ account: Account) throws(IdentityError) {
    guard !settings.isEmulator, !account.providers.isEmpty else { return }
    guard let signedIn = claims["auth_time"]?.integer,
      clock() / 1_000 - signedIn <= settings.recentSignIn
    else { throw .tooOld }
  }

  /// Removes the account of a token.
  func delete(_ token: String?, _ caller: Caller) throws(IdentityError) {
    let (account, claims) = try owner(of: token, caller)
    try checkRecent(claims, account)
    try delete(account)
  }

  /// Removes an account; its tokens are worth nothing from now on.
  func delete(_ account: Account) throws(IdentityError) {
    var account = account
    account.endSessions(at: clock())
    try revoke(
      account,
      with: [.delete(uid: account.uid, database: account.database)],
      tellingAfter: 0,
      isDeleted: true
    )
  }
}
