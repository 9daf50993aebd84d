internal import RealtimeCore

extension AccountService {
  /// Most accounts of a page.
  private static let pageSize = 1_000

  /// Does what an administrator asks for.
  func administer(
    _ method: String?,
    _ request: IdentityRequest,
    _ caller: Caller
  ) async throws(IdentityError) -> JSONValue {
    if method == "batchGet" {
      try checkMethod(request, "GET")
      return try page(request, caller)
    }
    try checkMethod(request, "POST")
    let fields = try RequestBody.fields(of: request, allowsForm: false)
    switch method {
    case nil, "signUp":
      let account = try await create(fields, caller)
      let texts = [("localId", account.uid)] + (account.email.map { [("email", $0.text)] } ?? [])
      return IdentityJSON.object("SignupNewUserResponse", texts)
    case "lookup": return IdentityJSON.accounts(try lookUp(fields, caller), forAdministrator: true)
    case "update":
      let account = try account(fields, caller)
      let change = try change(fields, isAdministrator: true)
      return IdentityJSON.changed(try await update(account, change, nil, caller).account, nil)
    case "delete":
      try delete(try account(fields, caller))
      return IdentityJSON.object("DeleteAccountResponse")
    case "batchDelete":
      for uid in try fields.texts("localIds") {
        if let account = try read({ try $0.account(uid, in: caller.database) }) {
          try delete(account)
        }
      }
      return .object([])
    case "sendOobCode":
      let (email, code) = try sendCode(fields, caller)
      let texts = [("email", email.text)] + (code.map { [("oobCode", $0)] } ?? [])
      return IdentityJSON.object("GetOobConfirmationCodeResponse", texts)
    case _?: throw .notFound
    }
  }

  private func create(
    _ fields: RequestFields,
    _ caller: Caller
  ) async throws(IdentityError) -> Account {
    let uid = try fields.text("localId") ?? Randomness.uid()
    guard Account.isIdentifier(uid) else { throw IdentityError("INVALID_LOCAL_ID") }
    let email = try fields.email()
    let password = try fields.newPassword()
    if password != nil, email == nil { throw IdentityError("MISSING_EMAIL") }
    var account = newAccount(in: caller.database, uid: uid)
    account.displayName = try fields.shown("displayName", maximumBytes: 256)
    account.photoURL = try fields.shown("photoUrl", maximumBytes: 2_048)
    account.isEmailVerified = try fields.flag("emailVerified") ?? false
    account.isDisabled = try fields.flag("disabled") ?? false
    if let email, let password {
      try await setCredentials(of: &account, email, password)
    } else if let email {
      try checkFree(email, for: account)
      account.email = email
    }
    guard try read({ try $0.account(uid, in: caller.database) }) == nil else {
      throw IdentityError("DUPLICATE_LOCAL_ID")
    }
    try apply([.save(account)])
    return account
  }

  private func lookUp(
    _ fields: RequestFields,
    _ caller: Caller
  ) throws(IdentityError) -> [Account] {
    var accounts: [Account] = []
    for uid in try fields.texts("localId") {
      if let account = try read({ try $0.account(uid, in: caller.database) }) {
        accounts.append(account)
      }
    }
    for text in try fields.texts("email") {
      guard let email = EmailAddress(text) else { throw IdentityError("INVALID_EMAIL") }
      if let account = try read({ try $0.account(of: email, in: caller.database) }),
        !accounts.contains(account)
      {
        accounts.append(account)
      }
    }
    return accounts
  }

  private func account(
    _ fields: RequestFields,
    _ caller: Caller
  ) throws(IdentityError) -> Account {
    guard let uid = try fields.text("localId") else { throw IdentityError("MISSING_LOCAL_ID") }
    guard let account = try read({ try $0.account(uid, in: caller.database) }) else {
      throw IdentityError("USER_NOT_FOUND")
    }
    return account
  }

  private func page(
    _ request: IdentityRequest,
    _ caller: Caller
  ) throws(IdentityError) -> JSONValue {
    let size = request.parameter("maxResults").map { Int($0) ?? 0 } ?? Self.pageSize
    guard (1...Self.pageSize).contains(size) else {
      throw IdentityError("INVALID_ARGUMENT", "maxResults must be from 1 to \(Self.pageSize)")
    }
    let token = request.parameter("nextPageToken").flatMap { $0.isEmpty ? nil : $0 }
    let accounts = try read { try $0.accounts(in: caller.database, after: token, limit: size) }
    return IdentityJSON.page(accounts, next: accounts.count == size ? accounts.last?.uid : nil)
  }

  // MARK: Emulator

  /// Does what only the emulator does.
  func answerEmulator(
    _ name: String,
    _ request: IdentityRequest,
    _ caller: Caller
  ) throws(IdentityError) -> JSONValue {
    switch name {
    case "accounts":
      try checkMethod(request, "DELETE")
      try apply([.clear(database: caller.database)])
      mails = []
      return .object([])
    case "oobCodes":
      try checkMethod(request, "GET")
      return .object(("oobCodes", .array(mails.map(\.json))))
    case _: throw .notFound
    }
  }
}
