internal import Crypto
internal import NIOCore
internal import RealtimeCore

extension AccountService {
  /// How long a code counts, in milliseconds.
  private static let codeLifetime: Int64 = 3_600_000

  /// Makes a code for the address of an account.
  ///
  /// The server sends no mail: the code is for whoever may see it.
  func makeCode(
    _ purpose: OneTimeCode.Purpose,
    _ email: EmailAddress,
    of account: Account
  ) throws(IdentityError) -> String {
    let text = Base64URL.encode(Randomness.bytes(20))
    let code = OneTimeCode(
      purpose: purpose,
      database: account.database,
      uid: account.uid,
      email: email,
      expires: clock() + Self.codeLifetime
    )
    try apply([.addCode(code, hash: Self.hash(ofCode: text))])
    if settings.isEmulator {
      mails.append(EmulatorMail(email: email, purpose: purpose, code: text))
      if mails.count > EmulatorMail.maximum { mails.removeFirst() }
    }
    return text
  }

  private static func hash(ofCode text: String) -> [UInt8] {
    Array(SHA256.hash(data: Array(text.utf8)))
  }

  /// Somebody has forgotten a password, or is to show that an address is theirs.
  ///
  /// - Returns: The address, and the code for who may see it.
  func sendCode(
    _ fields: RequestFields,
    _ caller: Caller
  ) throws(IdentityError) -> (email: EmailAddress, code: String?) {
    guard let type = try fields.text("requestType") else { throw IdentityError("MISSING_REQ_TYPE") }
    guard let purpose = OneTimeCode.Purpose(rawValue: type) else {
      throw IdentityError(type == "EMAIL_SIGNIN" ? "OPERATION_NOT_ALLOWED" : "INVALID_REQ_TYPE")
    }
    if !caller.isAdministrator {
      guard clientAttempts.take(caller.client, at: clock()) else { throw .tooManyAttempts }
    }
    if purpose == .emailVerification, !caller.isAdministrator {
      let account = try owner(of: fields.text("idToken"), caller).account
      guard let email = account.email else { throw IdentityError("MISSING_EMAIL") }
      if settings.isEmulator { _ = try makeCode(purpose, email, of: account) }
      return (email, nil)
    }
    guard let email = try fields.email() else { throw IdentityError("MISSING_EMAIL") }
    let found = try read { try $0.account(of: email, in: caller.database) }
    guard caller.isAdministrator || settings.isEmulator else {
      if let found { noteReset(of: found) }
      return (email, nil)
    }
    guard let account = found else { throw IdentityError("EMAIL_NOT_FOUND") }
    let code = try makeCode(purpose, email, of: account)
    return (email, caller.isAdministrator ? code : nil)
  }

  /// Notes for the administrators that somebody waits for a new password.
  ///
  /// Later, so that the time of the answer does not tell whether there is such an account.
  private func noteReset(of account: Account) {
    eventLoop.execute {
      self.assumeIsolated { service in
        let found = try? service.read { try $0.account(account.uid, in: account.database) }
        guard var account = found ?? nil else { return }
        account.resetRequested = service.clock()
        // Who has asked asks again when it was for nothing.
        try? service.apply([.save(account)])
      }
    }
  }

  /// Looks at a code, and sets the new password that may come with it.
  func redeem(
    _ fields: RequestFields,
    _ caller: Caller
  ) async throws(IdentityError) -> OneTimeCode {
    guard let text = try fields.text("oobCode") else { throw IdentityError("MISSING_OOB_CODE") }
    guard clientAttempts.take(caller.client, at: clock()) else { throw .tooManyAttempts }
    let hash = Self.hash(ofCode: text)
    let (code, account) = try valid(hash, caller)
    clientAttempts.giveBack(caller.client)
    guard let password = try fields.newPassword("newPassword") else { return code }
    guard code.purpose == .passwordReset else { throw IdentityError("INVALID_OOB_CODE") }
    let hashed = try await self.hash(password)
    // Only the first of two who use it at the same time finds it still there.
    guard var changed = try? valid(hash, caller).account, changed.uid == account.uid else {
      throw IdentityError("INVALID_OOB_CODE")
    }
    changed.password = hashed
    changed.passwordChanged = clock()
    changed.resetRequested = nil
    changed.endSessions(at: clock())
    try revoke(changed, with: [.save(changed), .removeCode(hash: hash)], tellingAfter: 0)
    accountAttempts.reset("\(caller.database) \(code.email)")
    return code
  }

  /// Takes the code by which somebody shows that an address is theirs.
  func verifyEmail(
    _ text: String,
    _ caller: Caller
  ) throws(IdentityError) -> Account {
    guard clientAttempts.take(caller.client, at: clock()) else { throw .tooManyAttempts }
    let hash = Self.hash(ofCode: text)
    let (code, account) = try valid(hash, caller)
    clientAttempts.giveBack(caller.client)
    guard code.purpose == .emailVerification else { throw IdentityError("INVALID_OOB_CODE") }
    var changed = account
    changed.isEmailVerified = true
    try apply([.save(changed), .removeCode(hash: hash)])
    return changed
  }

  /// A code that counts, with the account that it is for.
  private func valid(
    _ hash: [UInt8],
    _ caller: Caller
  ) throws(IdentityError) -> (code: OneTimeCode, account: Account) {
    guard let code = try read({ try $0.code(hash) }), code.database == caller.database,
      let account = try read({ try $0.account(code.uid, in: code.database) }),
      account.email == code.email
    else { throw IdentityError("INVALID_OOB_CODE") }
    guard code.expires > clock() else { throw IdentityError("EXPIRED_OOB_CODE") }
    guard !account.isDisabled else { throw IdentityError("USER_DISABLED") }
    return (code, account)
  }
}
