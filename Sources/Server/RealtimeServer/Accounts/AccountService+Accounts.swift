internal import NIOCore
internal import RealtimeCore

extension AccountService {
  /// How long after a password change the user's connections are told that the old tokens are
  /// revoked, in milliseconds; until then the user can switch to the new ones.
  private static let changeover: Int64 = 1_000

  /// Reads the change that the user of a token, or an administrator, requests.
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
      case _: throw IdentityError("INVALID_ARGUMENT", detail: "Invalid value at 'deleteAttribute'")
      }
    }
    change.removesPassword = try fields.texts("deleteProvider").contains("password")
    guard isAdministrator else { return change }
    change.isEmailVerified = try fields.flag("emailVerified")
    change.isDisabled = try fields.flag("disableUser")
    if let claims = try fields.embeddedJSON("customAttributes") {
      change.customClaims = try CustomClaims.checked(claims)
    }
    // Whatever second the request names, sessions end at this moment, not in the future or the
    // past.
    change.endsSessions = try fields.text("validSince") != nil
    return change
  }

  /// Changes an account at the request of its user, or of an administrator, who has no claims.
  ///
  /// When the address or the password changes, or the account is disabled, all of its sessions end;
  /// a user who requested the change gets new tokens. Removing the password ends none: clients ask
  /// for no tokens then, and the account may have no other way to sign in.
  ///
  /// The caller cannot have any number of passwords hashed.
  func update(
    _ account: Account,
    with change: AccountChange,
    claims: JSONValue?,
    by caller: IdentityRequest
  ) async throws(IdentityError) -> (account: Account, signedIn: SignedIn?) {
    let changesCredentials =
      change.password != nil || change.email.map { $0 != account.email } ?? false
    if changesCredentials || change.removesPassword, let claims {
      try checkRecent(claims, of: account)
    }
    if let email = change.email { try checkFree(email, for: account) }
    var hash: PasswordHash?
    if let password = change.password {
      guard claims == nil || clientAttempts.take(caller.client, at: clock()) else {
        throw .tooManyAttempts
      }
      hash = try await self.hash(password)
    }
    // The account may have changed while the password was hashed.
    guard let now = try read({ try $0.account(account.uid, in: account.database) }),
      now.validSince == account.validSince
    else { throw IdentityError(claims == nil ? "USER_NOT_FOUND" : "TOKEN_EXPIRED") }
    if let email = change.email { try checkFree(email, for: account) }
    var changed = Self.applying(change, hash: hash, to: now, at: clock())
    guard changesCredentials || change.endsSessions || (change.isDisabled ?? false) else {
      try apply([.save(changed, insteadOf: now)])
      return (changed, nil)
    }
    endSessions(of: &changed)
    guard let claims else {
      try revoke(changed, with: [.save(changed, insteadOf: now)], tellingAfter: 0)
      return (changed, nil)
    }
    let old = claims["firebase"]?["sign_in_provider"]?.string ?? "custom"
    let provider = changed.providers.isEmpty ? (old == "password" ? "anonymous" : old) : "password"
    // Whoever is not told of the new session must not have lost the old one.
    let begun = try makeSession(for: changed, insteadOf: now, provider: provider)
    try revoke(changed, with: begun.changes, tellingAfter: Self.changeover)
    return (changed, begun.signedIn)
  }

  private static func applying(
    _ change: AccountChange,
    hash: PasswordHash?,
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
    if let name = change.displayName { account.displayName = name.isEmpty ? nil : name }
    if let url = change.photoURL { account.photoURL = url.isEmpty ? nil : url }
    if let isVerified = change.isEmailVerified { account.isEmailVerified = isVerified }
    if let isDisabled = change.isDisabled { account.isDisabled = isDisabled }
    if let claims = change.customClaims { account.customClaims = claims }
    if change.removesPassword {
      account.password = nil
      account.passwordChanged = nil
      account.email = nil
      account.isEmailVerified = false
      account.resetRequested = nil
    }
    return account
  }

  /// Checks that the user of a token signed in recently.
  ///
  /// An account without a password has nothing that an old stolen token could take over.
  private func checkRecent(_ claims: JSONValue, of account: Account) throws(IdentityError) {
    guard !settings.isEmulator, !account.providers.isEmpty else { return }
    guard let signedIn = claims["auth_time"]?.integer,
      clock() / 1_000 - signedIn <= settings.recentSignIn
    else { throw .tooOld }
  }

  func delete(_ token: String?, by caller: IdentityRequest) throws(IdentityError) {
    let (account, claims) = try owner(of: token, by: caller)
    try checkRecent(claims, of: account)
    try delete(account)
  }

  /// Deletes an account, which makes its tokens invalid at once.
  func delete(_ account: Account) throws(IdentityError) {
    var account = account
    endSessions(of: &account)
    try revoke(
      account,
      with: [.delete(uid: account.uid, database: account.database)],
      tellingAfter: 0,
      isDeleted: true
    )
  }
}

extension AccountService {
  /// How long a code is valid, in milliseconds.
  private static let codeLifetime: Int64 = 3_600_000

  /// Creates a code for the address of an account.
  ///
  /// The server sends no mail; the code is only for callers that may see it.
  func makeCode(
    _ purpose: OneTimeCode.Purpose,
    for email: EmailAddress,
    of account: Account
  ) throws(IdentityError) -> String {
    let text = Base64URL.encode(Randomness.bytes(20))
    let code = OneTimeCode(
      purpose: purpose,
      database: account.database,
      uid: account.uid,
      email: email,
      expires: clock() + Self.codeLifetime,
      passwordChanged: account.passwordChanged
    )
    try apply([.addCode(code, hash: Self.hash(ofCode: text))])
    if settings.isEmulator {
      mails.append(EmulatorMail(email: email, purpose: purpose, code: text))
      if mails.count > EmulatorMail.maximum { mails.removeFirst() }
    }
    return text
  }

  private static func hash(ofCode text: String) -> [UInt8] {
    Cryptography.sha256(text.utf8)
  }

  /// Handles a request for a password reset or an email verification.
  ///
  /// - Returns: The address, and the code if the caller may see it.
  func sendCode(
    _ fields: RequestFields,
    by caller: IdentityRequest
  ) throws(IdentityError) -> (email: EmailAddress, code: String?) {
    guard let type = try fields.text("requestType") else { throw IdentityError("MISSING_REQ_TYPE") }
    guard let purpose = OneTimeCode.Purpose(rawValue: type) else {
      throw IdentityError(type == "EMAIL_SIGNIN" ? "OPERATION_NOT_ALLOWED" : "INVALID_REQ_TYPE")
    }
    if !caller.isAdministrator {
      guard clientAttempts.take(caller.client, at: clock()) else { throw .tooManyAttempts }
    }
    if purpose == .emailVerification, !caller.isAdministrator {
      let account = try owner(of: fields.text("idToken"), by: caller).account
      guard let email = account.email else { throw IdentityError("MISSING_EMAIL") }
      if settings.isEmulator { _ = try makeCode(purpose, for: email, of: account) }
      return (email, nil)
    }
    guard let email = try fields.email() else { throw IdentityError("MISSING_EMAIL") }
    let found = try read { try $0.account(of: email, in: caller.database) }
    guard caller.isAdministrator || settings.isEmulator else {
      if let found { noteReset(of: found) }
      return (email, nil)
    }
    guard let account = found else { throw IdentityError("EMAIL_NOT_FOUND") }
    let code = try makeCode(purpose, for: email, of: account)
    return (email, caller.isAdministrator ? code : nil)
  }

  /// Records for the administrators that a user waits for a password reset.
  ///
  /// This happens later, so that the response time does not reveal whether the account exists.
  private func noteReset(of account: Account) {
    eventLoop.execute {
      self.assumeIsolated { service in
        let found = try? service.read { try $0.account(account.uid, in: account.database) }
        guard let old = found ?? nil else { return }
        var account = old
        account.resetRequested = service.clock()
        // If this fails, the user can ask again.
        try? service.apply([.save(account, insteadOf: old)])
      }
    }
  }

  /// Checks a code, and sets the new password that may come with it.
  func redeem(
    _ fields: RequestFields,
    by caller: IdentityRequest
  ) async throws(IdentityError) -> OneTimeCode {
    guard let text = try fields.text("oobCode") else { throw IdentityError("MISSING_OOB_CODE") }
    guard clientAttempts.take(caller.client, at: clock()) else { throw .tooManyAttempts }
    let hash = Self.hash(ofCode: text)
    let (code, account) = try valid(hash, by: caller)
    clientAttempts.giveBack(caller.client)
    guard let password = try fields.newPassword("newPassword") else { return code }
    guard code.purpose == .passwordReset else { throw IdentityError("INVALID_OOB_CODE") }
    let hashed = try await self.hash(password)
    // If two clients use a code at the same time, only the first still finds it.
    guard let now = try? valid(hash, by: caller).account, now.uid == account.uid else {
      throw IdentityError("INVALID_OOB_CODE")
    }
    var changed = now
    changed.password = hashed
    changed.passwordChanged = clock()
    changed.resetRequested = nil
    endSessions(of: &changed)
    let changes: [IdentityChange] = [.save(changed, insteadOf: now), .removeCode(hash: hash)]
    try revoke(changed, with: changes, tellingAfter: 0)
    mails.removeAll { $0.code == text }
    accountAttempts.reset("\(caller.database) \(code.email)")
    return code
  }

  /// Redeems a code that verifies an email address.
  func verifyEmail(
    _ text: String,
    by caller: IdentityRequest
  ) throws(IdentityError) -> Account {
    guard clientAttempts.take(caller.client, at: clock()) else { throw .tooManyAttempts }
    let hash = Self.hash(ofCode: text)
    let (code, account) = try valid(hash, by: caller)
    clientAttempts.giveBack(caller.client)
    guard code.purpose == .emailVerification else { throw IdentityError("INVALID_OOB_CODE") }
    var changed = account
    changed.isEmailVerified = true
    try apply([.save(changed, insteadOf: account), .removeCode(hash: hash)])
    mails.removeAll { $0.code == text }
    return changed
  }

  private func valid(
    _ hash: [UInt8],
    by caller: IdentityRequest
  ) throws(IdentityError) -> (code: OneTimeCode, account: Account) {
    guard let code = try read({ try $0.code(hash) }), code.database == caller.database,
      let account = try read({ try $0.account(code.uid, in: code.database) }),
      account.email == code.email,
      // Who has the password now need not fear codes that went astray before.
      code.purpose != .passwordReset || account.passwordChanged == code.passwordChanged
    else { throw IdentityError("INVALID_OOB_CODE") }
    guard code.expires > clock() else { throw IdentityError("EXPIRED_OOB_CODE") }
    guard !account.isDisabled else { throw IdentityError("USER_DISABLED") }
    return (code, account)
  }
}
