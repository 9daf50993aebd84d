internal import Logging
internal import RealtimeCore

extension AccountService {
  /// Longest body that is looked at, in bytes.
  private static let maximumBody = 64 * 1_024

  /// Answers a request.
  ///
  /// - Parameter request: The request; its database exists.
  /// - Returns: The answer, also to a request that is refused.
  package func answer(_ request: IdentityRequest) async -> IdentityAnswer {
    do throws(IdentityError) {
      return IdentityAnswer(try await result(of: request))
    } catch {
      logger.debug("an identity request is refused", metadata: ["code": "\(error.code)"])
      return IdentityAnswer(error)
    }
  }

  private func result(of request: IdentityRequest) async throws(IdentityError) -> JSONValue {
    guard request.body.count <= Self.maximumBody else {
      throw IdentityError.bodyTooLong
    }
    let caller = Caller(
      database: request.database,
      client: request.client,
      isAdministrator: isAdministrator(request)
    )
    switch request.route {
    case .user(let method):
      try checkMethod(request, "POST")
      try checkKey(request)
      return try await answer(method, RequestBody.fields(of: request, allowsForm: false), caller)
    case .token:
      try checkMethod(request, "POST")
      try checkKey(request)
      return try continueSession(RequestBody.fields(of: request, allowsForm: true), caller)
    case .administration(_, let method):
      guard caller.isAdministrator else { throw .forbidden }
      return try await administer(method, request, caller)
    case .keyRotation:
      guard caller.isAdministrator else { throw .forbidden }
      try checkMethod(request, "POST")
      try rotateKeys()
      return .object(("keyId", .string(authority.keys.current.id)))
    case .emulator(_, let name):
      guard settings.isEmulator else { throw .notFound }
      return try answerEmulator(name, request, caller)
    }
  }

  func checkMethod(_ request: IdentityRequest, _ method: String) throws(IdentityError) {
    guard request.method == method else {
      throw IdentityError("METHOD_NOT_ALLOWED", "The method must be \(method).", status: 405)
    }
  }

  /// Checks that there is a key of the interface, where a server stands in for one that wants it.
  ///
  /// Our own databases are found by their addresses and need none.
  private func checkKey(_ request: IdentityRequest) throws(IdentityError) {
    guard settings.isEmulator, request.bearer == nil else { return }
    guard let key = request.parameter("key"), !key.isEmpty else {
      throw IdentityError(
        "PERMISSION_DENIED",
        "The request is missing a valid API key.",
        status: 403
      )
    }
  }

  private func isAdministrator(_ request: IdentityRequest) -> Bool {
    if request.isLocalAdministrator { return true }
    guard let bearer = request.bearer else { return false }
    return settings.isEmulator || settings.administratorKey?.matches(bearer) ?? false
  }

  // MARK: Users

  private func answer(
    _ method: String,
    _ fields: RequestFields,
    _ caller: Caller
  ) async throws(IdentityError) -> JSONValue {
    switch method {
    case "signUp":
      return IdentityJSON.signedIn(try await signUp(fields, caller), .signUp)
    case "signInWithPassword":
      return IdentityJSON.signedIn(try await signIn(fields, caller), .password)
    case "signInWithCustomToken":
      let (signedIn, isNew) = try signInWithCustomToken(fields, caller)
      return IdentityJSON.signedIn(signedIn, .customToken(isNew: isNew))
    case "lookup":
      let account = try owner(of: fields.text("idToken"), caller).account
      return IdentityJSON.accounts([account], forAdministrator: false)
    case "update":
      return try await updateOwn(fields, caller)
    case "delete":
      try delete(fields.text("idToken"), caller)
      return IdentityJSON.object("DeleteAccountResponse")
    case "sendOobCode":
      // Over this way a code never leaves the server.
      let user = Caller(
        database: caller.database,
        client: caller.client,
        isAdministrator: false
      )
      let email = try sendCode(fields, user).email
      return IdentityJSON.object("GetOobConfirmationCodeResponse", [("email", email.text)])
    case "resetPassword":
      let code = try await redeem(fields, caller)
      return IdentityJSON.object(
        "ResetPasswordResponse",
        [("email", code.email.text), ("requestType", code.purpose.rawValue)]
      )
    case _: throw .notFound
    }
  }

  private func updateOwn(
    _ fields: RequestFields,
    _ caller: Caller
  ) async throws(IdentityError) -> JSONValue {
    if let code = try fields.text("oobCode") {
      return IdentityJSON.changed(try verifyEmail(code, caller), nil)
    }
    let (account, claims) = try owner(of: fields.text("idToken"), caller)
    let change = try change(fields, isAdministrator: false)
    if change.password != nil, account.email == nil, change.email == nil {
      throw IdentityError("MISSING_EMAIL")
    }
    let (changed, signedIn) = try await update(account, change, claims, caller)
    let wantsTokens = try fields.flag("returnSecureToken") ?? false
    return IdentityJSON.changed(changed, wantsTokens ? signedIn : nil)
  }

  private func continueSession(
    _ fields: RequestFields,
    _ caller: Caller
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
