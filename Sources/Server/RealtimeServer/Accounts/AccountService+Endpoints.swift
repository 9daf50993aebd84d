internal import Logging
internal import RealtimeCore

extension AccountService {
  /// The longest body accepted, in bytes.
  private static let maximumBody = 64 * 1_024
  /// How often a request is carried out while other servers change the account at the same moment.
  private static let maximumTries = 3

  /// Answers a request about a database that exists, even if the answer is a refusal.
  package func answer(
    _ request: IdentityRequest,
    since arrival: ContinuousClock.Instant = .now
  ) async -> IdentityAnswer {
    // If each tried the silent store in its turn, the last would wait for many times its patience.
    if let lastAbsence, arrival < lastAbsence { return IdentityAnswer(.unavailable) }
    var tries = 1
    while true {
      do throws(IdentityError) {
        return IdentityAnswer(try await result(of: request))
      } catch {
        // The request may mean something else for what another server has made of the account.
        if error == .overtaken, tries < Self.maximumTries {
          tries += 1
          continue
        }
        logger.debug("refused an identity request", metadata: ["code": "\(error.code)"])
        return IdentityAnswer(error)
      }
    }
  }

  private func result(of request: IdentityRequest) async throws(IdentityError) -> JSONValue {
    guard request.body.count <= Self.maximumBody else {
      throw IdentityError.bodyTooLong
    }
    var caller = request
    caller.isAdministrator = isAdministrator(request)
    switch request.route {
    case .user(let method):
      try checkMethod(of: request, is: "POST")
      try checkKey(request)
      return try await answer(
        method,
        with: RequestBody.fields(of: request, allowsForm: false),
        by: caller
      )
    case .token:
      try checkMethod(of: request, is: "POST")
      try checkKey(request)
      return try continueSession(RequestBody.fields(of: request, allowsForm: true), by: caller)
    case .administration(_, let method):
      guard caller.isAdministrator else { throw .forbidden }
      return try await administer(method, by: caller)
    case .keyRotation:
      guard caller.isAdministrator else { throw .forbidden }
      try checkMethod(of: request, is: "POST")
      try rotateKeys()
      return .object(("keyId", .string(authority.keys.current.id)))
    case .emulator(_, let name):
      guard settings.isEmulator else { throw .notFound }
      return try answerEmulator(name, by: caller)
    }
  }

  func checkMethod(of request: IdentityRequest, is method: String) throws(IdentityError) {
    guard request.method == method else {
      throw IdentityError(
        "METHOD_NOT_ALLOWED",
        detail: "The method must be \(method).",
        status: 405,
        requiredMethod: method
      )
    }
  }

  /// Checks that a request to the emulator has an API key, which the hosted service demands.
  ///
  /// A server that is not an emulator finds its databases by their addresses and needs no API key.
  private func checkKey(_ request: IdentityRequest) throws(IdentityError) {
    guard settings.isEmulator, request.bearer == nil else { return }
    guard let key = request.parameter("key"), !key.isEmpty else {
      throw IdentityError(
        "PERMISSION_DENIED",
        detail: "The request is missing a valid API key.",
        status: 403
      )
    }
  }

  private func isAdministrator(_ request: IdentityRequest) -> Bool {
    if request.isAdministrator { return true }
    guard let bearer = request.bearer else { return false }
    return settings.isEmulator || settings.administratorKey?.matches(bearer) ?? false
  }

  // MARK: Users

  private func answer(
    _ method: String,
    with fields: RequestFields,
    by caller: IdentityRequest
  ) async throws(IdentityError) -> JSONValue {
    switch method {
    case "signUp":
      return IdentityJSON.signedIn(try await signUp(fields, by: caller), by: .signUp)
    case "signInWithPassword":
      return IdentityJSON.signedIn(try await signIn(fields, by: caller), by: .password)
    case "signInWithCustomToken":
      let (signedIn, isNew) = try signInWithCustomToken(fields, by: caller)
      return IdentityJSON.signedIn(signedIn, by: .customToken(isNew: isNew))
    case "lookup":
      let account = try owner(of: fields.text("idToken"), by: caller).account
      return IdentityJSON.accounts([account], forAdministrator: false)
    case "update":
      return try await updateOwn(fields, by: caller)
    case "delete":
      try delete(fields.text("idToken"), by: caller)
      return IdentityJSON.object("DeleteAccountResponse")
    case "sendOobCode":
      // On this route, a code never leaves the server.
      var user = caller
      user.isAdministrator = false
      let email = try sendCode(fields, by: user).email
      return IdentityJSON.object("GetOobConfirmationCodeResponse", with: [("email", email.text)])
    case "resetPassword":
      let code = try await redeem(fields, by: caller)
      return IdentityJSON.object(
        "ResetPasswordResponse",
        with: [("email", code.email.text), ("requestType", code.purpose.rawValue)]
      )
    case _: throw .notFound
    }
  }

  private func updateOwn(
    _ fields: RequestFields,
    by caller: IdentityRequest
  ) async throws(IdentityError) -> JSONValue {
    if let code = try fields.text("oobCode") {
      return IdentityJSON.changed(try verifyEmail(code, by: caller), signedIn: nil)
    }
    let (account, claims) = try owner(of: fields.text("idToken"), by: caller)
    let change = try change(fields, isAdministrator: false)
    if change.password != nil, account.email == nil, change.email == nil {
      throw IdentityError("MISSING_EMAIL")
    }
    let (changed, signedIn) = try await update(account, with: change, claims: claims, by: caller)
    let wantsTokens = try fields.flag("returnSecureToken") ?? false
    return IdentityJSON.changed(changed, signedIn: wantsTokens ? signedIn : nil)
  }

  private func continueSession(
    _ fields: RequestFields,
    by caller: IdentityRequest
  ) throws(IdentityError) -> JSONValue {
    guard let type = try fields.text(either: "grant_type", or: "grantType") else {
      throw IdentityError("MISSING_GRANT_TYPE")
    }
    guard type == "refresh_token" else { throw IdentityError("INVALID_GRANT_TYPE") }
    guard let token = try fields.text(either: "refresh_token", or: "refreshToken") else {
      throw IdentityError("MISSING_REFRESH_TOKEN")
    }
    return IdentityJSON.continued(try refresh(token, in: caller.database))
  }
}

extension AccountService {
  /// The maximum number of accounts on a page.
  private static let pageSize = 1_000

  /// Answers an administrator's request.
  func administer(
    _ method: String?,
    by caller: IdentityRequest
  ) async throws(IdentityError) -> JSONValue {
    if method == "batchGet" {
      try checkMethod(of: caller, is: "GET")
      return try page(caller)
    }
    try checkMethod(of: caller, is: "POST")
    let fields = try RequestBody.fields(of: caller, allowsForm: false)
    if method == nil || method == "signUp" || method == "update" {
      try fields.refuse(["phoneNumber", "mfaInfo", "mfa", "linkProviderUserInfo"])
    }
    switch method {
    case nil, "signUp":
      let account = try await create(fields, by: caller)
      let texts = [("localId", account.uid), ("email", account.email?.text)]
      return IdentityJSON.object("SignupNewUserResponse", with: texts)
    case "lookup":
      return IdentityJSON.accounts(try lookUp(fields, by: caller), forAdministrator: true)
    case "update":
      let account = try account(fields, by: caller)
      let change = try change(fields, isAdministrator: true)
      return IdentityJSON.changed(
        try await update(account, with: change, claims: nil, by: caller).account,
        signedIn: nil
      )
    case "delete":
      try delete(try account(fields, by: caller))
      return IdentityJSON.object("DeleteAccountResponse")
    case "batchDelete":
      for uid in try fields.texts("localIds") {
        if let account = try read({ try $0.account(uid, in: caller.database) }) {
          try delete(account)
        }
      }
      return .object([])
    case "sendOobCode":
      let wantsLink = try fields.flag("returnOobLink") ?? false
      let page = wantsLink ? try actionPage(fields, for: caller) : nil
      let (email, code) = try sendCode(fields, by: caller)
      let mode = try fields.text("requestType") == "VERIFY_EMAIL" ? "verifyEmail" : "resetPassword"
      let link = page.map { "\($0)mode=\(mode)&oobCode=\(code ?? "")&apiKey=none&lang=en" }
      return IdentityJSON.object(
        "GetOobConfirmationCodeResponse",
        with: [("email", email.text), ("oobCode", code), ("oobLink", link)]
      )
    case _?: throw .notFound
    }
  }

  /// The page that a link with a code leads to, ready for parameters.
  ///
  /// This server has no such page; libraries of the original refuse an answer without a link.
  private func actionPage(
    _ fields: RequestFields,
    for caller: IdentityRequest
  ) throws(IdentityError) -> String {
    guard let page = try fields.text("continueUrl") else {
      guard settings.isEmulator else { throw IdentityError("MISSING_CONTINUE_URI") }
      return "http://\(caller.host ?? "localhost")/emulator/action?"
    }
    guard ["http://", "https://"].contains(where: page.lowercased().hasPrefix),
      page.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "#") })
    else { throw IdentityError("INVALID_CONTINUE_URI") }
    return page + (page.contains("?") ? "&" : "?")
  }

  private func create(
    _ fields: RequestFields,
    by caller: IdentityRequest
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
      try await setCredentials(of: &account, email: email, password: password)
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
    by caller: IdentityRequest
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
    by caller: IdentityRequest
  ) throws(IdentityError) -> Account {
    guard let uid = try fields.text("localId") else { throw IdentityError("MISSING_LOCAL_ID") }
    guard let account = try read({ try $0.account(uid, in: caller.database) }) else {
      throw IdentityError("USER_NOT_FOUND")
    }
    return account
  }

  private func page(_ request: IdentityRequest) throws(IdentityError) -> JSONValue {
    let size = request.parameter("maxResults").map { Int($0) ?? 0 } ?? Self.pageSize
    guard (1...Self.pageSize).contains(size) else {
      throw IdentityError(
        "INVALID_ARGUMENT",
        detail: "maxResults must be from 1 to \(Self.pageSize)"
      )
    }
    let token = request.parameter("nextPageToken").flatMap { $0.isEmpty ? nil : $0 }
    let accounts = try read { try $0.accounts(in: request.database, after: token, limit: size) }
    return IdentityJSON.page(accounts, next: accounts.count == size ? accounts.last?.uid : nil)
  }

  // MARK: Emulator

  /// Answers a request that only the emulator supports.
  func answerEmulator(
    _ name: String,
    by caller: IdentityRequest
  ) throws(IdentityError) -> JSONValue {
    switch name {
    case "accounts":
      try checkMethod(of: caller, is: "DELETE")
      try apply([.clear(database: caller.database)])
      mails = []
      return .object([])
    case "oobCodes":
      try checkMethod(of: caller, is: "GET")
      return .object(("oobCodes", .array(mails.map(\.json))))
    case _: throw .notFound
    }
  }
}
