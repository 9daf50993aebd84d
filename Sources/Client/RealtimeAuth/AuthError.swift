public import Foundation
internal import RealtimeDatabase
internal import RealtimeTransport

// Safety: every stored property is an immutable `Sendable` value, and so are the values of `userInfo`.
/// The reason why signing in or changing an account failed.
///
/// It is an `NSError`, because Swift on Linux bridges no other type in `catch let error as NSError`
/// and `as? NSError`: the first ends in undefined behavior, the second is nil.
public final class AuthError: NSError, @unchecked Sendable {
  /// The kind of failure; `code` is its number.
  public let kind: AuthErrorCode
  /// The server's error code, such as `EMAIL_EXISTS`, or nil if the server gave none.
  public let serverCode: String?
  /// A description of the problem, in a sentence.
  public let message: String

  /// Makes an error.
  public init(_ kind: AuthErrorCode, serverCode: String? = nil, message: String) {
    self.kind = kind
    self.serverCode = serverCode
    self.message = message
    var info: [String: Any] = [NSLocalizedDescriptionKey: message]
    if let serverCode { info[AuthErrorUserInfoNameKey] = serverCode }
    if kind == .weakPassword { info[NSLocalizedFailureReasonErrorKey] = message }
    super.init(domain: AuthErrorDomain, code: kind.rawValue, userInfo: info)
  }

  /// Returns nil: only `NSError` itself can be read from an archive.
  public required init?(coder: NSCoder) { nil }

  /// The message.
  public override var description: String { message }

  /// Whether both have the same kind, server code and message.
  public override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? AuthError else { return false }
    return kind == other.kind && serverCode == other.serverCode && message == other.message
  }

  /// Follows from what ``isEqual(_:)`` compares.
  public override var hash: Int { [serverCode, message].hashValue }

  /// Whether the session has ended, so that the user has to sign in again.
  var endsSession: Bool {
    [.userDisabled, .userNotFound, .userTokenExpired, .invalidUserToken].contains(kind)
  }
}

extension AuthError {
  /// Makes an error from the server's response.
  ///
  /// The message of a response is a code, optionally followed by a colon and an explanation. If the
  /// message is a sentence, as for API keys, the status serves as the code.
  convenience init(serverMessage text: String, status: String?, code: Int) {
    var word = String(text.prefix { $0 != " " && $0 != ":" })
    let rest = text.dropFirst(word.count).drop { $0 == " " || $0 == ":" }
    let detail = rest.isEmpty ? nil : String(rest)
    if text.hasPrefix("API key not valid") { word = "API_KEY_INVALID" }
    if Self.known[word] == nil, let status, Self.known[status] != nil { word = status }
    guard let known = Self.known[word] else {
      let isBusy = code == 429 || code == 503
      self.init(
        isBusy ? .tooManyRequests : .internalError,
        serverCode: word.isEmpty ? nil : word,
        message: "the server answered \(code): \(text.isEmpty ? "no reason" : text)"
      )
      return
    }
    let isExplained = known.0 == .weakPassword || known.0 == .internalError
    self.init(known.0, serverCode: word, message: isExplained ? detail ?? known.1 : known.1)
  }

  convenience init(_ error: HTTPClientError) {
    self.init(.networkError, message: error.description)
  }

  static let signedOut = AuthError(.nullUser, message: "nobody is signed in")
  static let otherUser = AuthError(.nullUser, message: "this user is no longer signed in")
  static let signedOutElsewhere = AuthError(
    .userTokenExpired,
    message: "this account was signed out elsewhere"
  )

  private static let wrongLogin = "the email address or the password is wrong"
  private static let endedSession = "the session has ended; sign in again"

  /// The documented error codes of the service.
  private static let known: [String: (AuthErrorCode, String)] = [
    "ADMIN_ONLY_OPERATION": (.adminRestrictedOperation, "only an administrator may do this"),
    "API_KEY_INVALID": (.invalidAPIKey, "the API key is not valid"),
    "CREDENTIAL_MISMATCH": (.customTokenMismatch, "the custom token is for another project"),
    "CREDENTIAL_TOO_OLD_LOGIN_AGAIN": (.requiresRecentLogin, "sign in again to do this"),
    "EMAIL_EXISTS": (.emailAlreadyInUse, "an account with this email address already exists"),
    "EMAIL_NOT_FOUND": (.userNotFound, "no account has this email address"),
    "EXPIRED_OOB_CODE": (.expiredActionCode, "the code has expired; ask for another"),
    "FEDERATED_USER_ID_ALREADY_LINKED": (
      .credentialAlreadyInUse, "this already belongs to another account"
    ),
    "INVALID_CUSTOM_TOKEN": (.invalidCustomToken, "the custom token is not valid"),
    "INVALID_EMAIL": (.invalidEmail, "this is not an email address"),
    "INVALID_GRANT_TYPE": (.internalError, "the server does not support this grant type"),
    "INVALID_ID_TOKEN": (.invalidUserToken, endedSession),
    "INVALID_LOGIN_CREDENTIALS": (.invalidCredential, wrongLogin),
    "INVALID_OOB_CODE": (.invalidActionCode, "the code is wrong or was already used"),
    "INVALID_PASSWORD": (.wrongPassword, "the password is wrong"),
    "INVALID_RECIPIENT_EMAIL": (.invalidEmail, "this is not an email address"),
    "INVALID_REFRESH_TOKEN": (.userTokenExpired, endedSession),
    "MISSING_EMAIL": (.missingEmail, "an email address is needed"),
    "MISSING_IDENTIFIER": (.missingEmail, "an email address is needed"),
    "MISSING_PASSWORD": (.weakPassword, "a password is needed"),
    "MISSING_REFRESH_TOKEN": (.userTokenExpired, endedSession),
    "MISSING_REQ_TYPE": (.internalError, "the request does not say which mail to send"),
    "OPERATION_NOT_ALLOWED": (.operationNotAllowed, "this sign-in method is not allowed here"),
    "PASSWORD_LOGIN_DISABLED": (.operationNotAllowed, "passwords are not allowed here"),
    "PERMISSION_DENIED": (.invalidAPIKey, "the API key is missing or not valid"),
    "TOKEN_EXPIRED": (.userTokenExpired, endedSession),
    "TOO_MANY_ATTEMPTS_TRY_LATER": (.tooManyRequests, "too many attempts; try again later"),
    "USER_DISABLED": (.userDisabled, "an administrator has disabled this account"),
    "USER_NOT_FOUND": (.userNotFound, "this account no longer exists"),
    "WEAK_PASSWORD": (.weakPassword, "the password should be at least 6 characters long"),
  ]
}

/// The domain and the keys of ``AuthError``, by their names in newer versions of the original.
public enum AuthErrors {
  /// The domain.
  public static let domain = AuthErrorDomain
  /// The key for the server's error code in `userInfo`.
  public static let userInfoNameKey = AuthErrorUserInfoNameKey
}

/// The domain of ``AuthError``.
public let AuthErrorDomain = "FIRAuthErrorDomain"

/// The key for the server's error code in the `userInfo` of an ``AuthError``.
public let AuthErrorUserInfoNameKey = "FIRAuthErrorUserInfoNameKey"

/// The kinds of sign-in failures, with the original's numbers.
///
/// Those that concern services or systems that are not supported here are for programs that name them.
public enum AuthErrorCode: Int, Hashable, Sendable, CaseIterable {
  /// The custom token is malformed or not signed by this project.
  case invalidCustomToken = 17000
  /// The custom token is for another project.
  case customTokenMismatch = 17002
  /// The email address or the password is wrong; servers that protect their users do not say which.
  case invalidCredential = 17004
  /// An administrator has disabled the account.
  case userDisabled = 17005
  /// The project does not allow this way to sign in.
  case operationNotAllowed = 17006
  /// An account with this email address already exists.
  case emailAlreadyInUse = 17007
  /// The email address is malformed.
  case invalidEmail = 17008
  /// The password is wrong.
  case wrongPassword = 17009
  /// There were too many attempts; a retry may succeed later.
  case tooManyRequests = 17010
  /// The account does not exist.
  case userNotFound = 17011
  /// The account exists with another sign-in method.
  case accountExistsWithDifferentCredential = 17012
  /// The operation requires a recent sign-in.
  case requiresRecentLogin = 17014
  /// The account already has an email address and a password.
  case providerAlreadyLinked = 17015
  /// The account does not have this sign-in method.
  case noSuchProvider = 17016
  /// The user's token is invalid; the user has to sign in again.
  case invalidUserToken = 17017
  /// The server could not be reached, or did not answer in time.
  case networkError = 17020
  /// The session has ended, for example because the password changed; the user has to sign in
  /// again.
  case userTokenExpired = 17021
  /// The project's key is missing or wrong.
  case invalidAPIKey = 17023
  /// The account is not that of the signed-in user.
  case userMismatch = 17024
  /// The credential belongs to another account.
  case credentialAlreadyInUse = 17025
  /// The password is too short or too simple.
  case weakPassword = 17026
  /// The key does not allow this program to sign users in.
  case appNotAuthorized = 17028
  /// The code from the email has expired.
  case expiredActionCode = 17029
  /// The code from the email is wrong or has been used already.
  case invalidActionCode = 17030
  /// The request for an email is incomplete.
  case invalidMessagePayload = 17031
  /// The sender of the email is invalid.
  case invalidSender = 17032
  /// The recipient of the email is invalid.
  case invalidRecipientEmail = 17033
  /// The email address is missing.
  case missingEmail = 17034
  /// The identifier of the iOS bundle is missing.
  case missingIosBundleID = 17036
  /// The name of the Android package is missing.
  case missingAndroidPackageName = 17037
  /// The domain of the continue URL is not allowed.
  case unauthorizedDomain = 17038
  /// The continue URL is invalid.
  case invalidContinueURI = 17039
  /// The continue URL is missing.
  case missingContinueURI = 17040
  /// The phone number is missing.
  case missingPhoneNumber = 17041
  /// The phone number is invalid.
  case invalidPhoneNumber = 17042
  /// The verification code is missing.
  case missingVerificationCode = 17043
  /// The verification code is wrong.
  case invalidVerificationCode = 17044
  /// The verification identifier is missing.
  case missingVerificationID = 17045
  /// The verification identifier is wrong.
  case invalidVerificationID = 17046
  /// The proof of the app's identity is missing.
  case missingAppCredential = 17047
  /// The proof of the app's identity is invalid.
  case invalidAppCredential = 17048
  /// The verification code has expired.
  case sessionExpired = 17051
  /// The project has sent too many messages.
  case quotaExceeded = 17052
  /// The app has no token for notifications.
  case missingAppToken = 17053
  /// The app did not pass a notification on.
  case notificationNotForwarded = 17054
  /// The app could not be verified.
  case appNotVerified = 17055
  /// The answer to the captcha is wrong.
  case captchaCheckFailed = 17056
  /// A page for signing in is open already.
  case webContextAlreadyPresented = 17057
  /// The user closed the page for signing in.
  case webContextCancelled = 17058
  /// The verification of the app failed.
  case appVerificationUserInteractionFailure = 17059
  /// The client identifier is invalid.
  case invalidClientID = 17060
  /// The page for signing in could not be loaded.
  case webNetworkRequestFailed = 17061
  /// The page for signing in failed.
  case webInternalError = 17062
  /// Signing in on the page failed.
  case webSignInUserInteractionFailure = 17063
  /// The player is not signed in to Game Center.
  case localPlayerNotAuthenticated = 17066
  /// No user is signed in, or this user no longer is.
  case nullUser = 17067
  /// Dynamic links are not activated.
  case dynamicLinkNotActivated = 17068
  /// The identifier of the provider is invalid.
  case invalidProviderID = 17071
  /// The user belongs to another tenant.
  case tenantIDMismatch = 17072
  /// The operation is not supported for tenants.
  case unsupportedTenantOperation = 17073
  /// The domain of the dynamic link is not allowed.
  case invalidDynamicLinkDomain = 17074
  /// The credential is malformed or does not match.
  case rejectedCredential = 17075
  /// The program does not contain GameKit.
  case gameKitNotLinked = 17076
  /// A second factor is required.
  case secondFactorRequired = 17078
  /// The session for the second factor is missing.
  case missingMultiFactorSession = 17081
  /// The second factor is missing.
  case missingMultiFactorInfo = 17082
  /// The session for the second factor is invalid.
  case invalidMultiFactorSession = 17083
  /// The second factor does not exist.
  case multiFactorInfoNotFound = 17084
  /// Only administrators may do this.
  case adminRestrictedOperation = 17085
  /// The email address must be verified first.
  case unverifiedEmail = 17086
  /// The second factor has been added already.
  case secondFactorAlreadyEnrolled = 17087
  /// The account has too many second factors.
  case maximumSecondFactorCountExceeded = 17088
  /// The first factor does not allow a second one.
  case unsupportedFirstFactor = 17089
  /// The new email address must be verified first.
  case emailChangeNeedsVerification = 17090
  /// The client identifier is missing.
  case missingClientIdentifier = 17093
  /// The nonce is missing or invalid.
  case missingOrInvalidNonce = 17094
  /// A function of the project refused the request.
  case blockingCloudFunctionError = 17105
  /// Captchas are not enabled for the project.
  case recaptchaNotEnabled = 17200
  /// The captcha's token is missing.
  case missingRecaptchaToken = 17201
  /// The captcha's token is invalid.
  case invalidRecaptchaToken = 17202
  /// The captcha's action is invalid.
  case invalidRecaptchaAction = 17203
  /// The type of the client is missing.
  case missingClientType = 17204
  /// The captcha's version is missing.
  case missingRecaptchaVersion = 17205
  /// The captcha's version is invalid.
  case invalidRecaptchaVersion = 17206
  /// The type of the request is invalid.
  case invalidReqType = 17207
  /// The program does not contain the library for captchas.
  case recaptchaSDKNotLinked = 17208
  /// The key for captchas is missing.
  case recaptchaSiteKeyMissing = 17209
  /// The captcha's action could not be made.
  case recaptchaActionCreationFailed = 17210
  /// Credentials cannot be stored, or the stored ones cannot be used.
  case keychainError = 17995
  /// The server's response could not be understood.
  case internalError = 17999
  /// The token is malformed.
  case malformedJWT = 18000

  /// The same enumeration, by the name that it has inside the original's structure of errors.
  public typealias Code = AuthErrorCode

  /// Reads the kind from an error; an error of another domain or number is an ``internalError``.
  public init(_nsError error: NSError) {
    let known = error.domain == AuthErrorDomain ? AuthErrorCode(rawValue: error.code) : nil
    self = known ?? .internalError
  }

  /// The same value, by the name of the property of the original's structure of errors.
  public var code: Code { self }
}

extension AuthError: DatabaseTokenFailure {
  /// Whether a retry may succeed: the service could not be reached, is busy, or failed, or the user
  /// changed meanwhile.
  var isTemporary: Bool {
    [.networkError, .tooManyRequests, .internalError, .nullUser].contains(kind)
  }
}
