public import Foundation
internal import RealtimeDatabase
internal import RealtimeTransport

/// The reason why signing in or changing an account failed.
public struct AuthError: Error, Hashable, Sendable {
  /// The kind of failure.
  public let code: AuthErrorCode
  /// The server's error code, such as `EMAIL_EXISTS`, or nil if the server gave none.
  public let serverCode: String?
  /// A description of the problem, in a sentence.
  public let message: String

  /// Makes an error.
  public init(_ code: AuthErrorCode, serverCode: String? = nil, message: String) {
    self.code = code
    self.serverCode = serverCode
    self.message = message
  }

  /// Whether the session has ended, so that the user has to sign in again.
  var endsSession: Bool {
    switch code {
    case .userDisabled, .userNotFound, .userTokenExpired, .invalidUserToken: true
    case .invalidCustomToken, .customTokenMismatch, .invalidCredential, .operationNotAllowed,
      .emailAlreadyInUse, .invalidEmail, .wrongPassword, .tooManyRequests, .requiresRecentLogin,
      .providerAlreadyLinked, .noSuchProvider, .networkError, .invalidAPIKey, .userMismatch,
      .credentialAlreadyInUse, .weakPassword, .appNotAuthorized, .expiredActionCode,
      .invalidActionCode, .missingEmail, .nullUser, .adminRestrictedOperation, .keychainError,
      .internalError, .malformedJWT:
      false
    }
  }
}

extension AuthError {
  /// Makes an error from the server's response.
  ///
  /// The message of a response is a code, optionally followed by a colon and an explanation. If the
  /// message is a sentence, as for API keys, the status serves as the code.
  ///
  /// - Parameters:
  ///   - text: The message.
  ///   - status: The status in the body, if any.
  ///   - code: The HTTP status.
  init(serverMessage text: String, status: String?, code: Int) {
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

  init(_ error: HTTPClientError) {
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

extension AuthError: CustomStringConvertible {
  /// The message.
  public var description: String { message }
}

extension AuthError: CustomNSError {
  /// The original's domain, by which programs that cast to `NSError` recognize the errors.
  public static var errorDomain: String { AuthErrorDomain }

  /// The raw value of the ``AuthErrorCode``.
  public var errorCode: Int { code.rawValue }

  /// The message, and the server's code under ``AuthErrorUserInfoNameKey`` if there is one.
  public var errorUserInfo: [String: Any] {
    var info: [String: Any] = [NSLocalizedDescriptionKey: message]
    if let serverCode { info[AuthErrorUserInfoNameKey] = serverCode }
    return info
  }
}

extension AuthError: LocalizedError {
  /// The message, which becomes `localizedDescription`.
  public var errorDescription: String? { message }
}

/// The domain of ``AuthError`` when it is cast to `NSError`.
public let AuthErrorDomain = "FIRAuthErrorDomain"

/// The `userInfo` key for the server's error code, in an ``AuthError`` that is cast to `NSError`.
public let AuthErrorUserInfoNameKey = "FIRAuthErrorUserInfoNameKey"

/// The kinds of sign-in failures, with the original's numbers.
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
  /// The email address is missing.
  case missingEmail = 17034
  /// No user is signed in, or this user no longer is.
  case nullUser = 17067
  /// Only administrators may do this.
  case adminRestrictedOperation = 17085
  /// Credentials cannot be stored, or the stored ones cannot be used.
  case keychainError = 17995
  /// The server's response could not be understood.
  case internalError = 17999
  /// The token is malformed.
  case malformedJWT = 18000
}

extension AuthError: DatabaseTokenFailure {
  /// Whether a retry may succeed: the service could not be reached, is busy, or failed.
  package var isTemporary: Bool {
    switch code {
    case .networkError, .tooManyRequests, .internalError: true
    case .userDisabled, .userNotFound, .userTokenExpired, .invalidUserToken, .invalidCustomToken,
      .customTokenMismatch, .invalidCredential, .operationNotAllowed, .emailAlreadyInUse,
      .invalidEmail, .wrongPassword, .requiresRecentLogin, .providerAlreadyLinked, .noSuchProvider,
      .invalidAPIKey, .userMismatch, .credentialAlreadyInUse, .weakPassword, .appNotAuthorized,
      .expiredActionCode, .invalidActionCode, .missingEmail, .nullUser, .adminRestrictedOperation,
      .keychainError, .malformedJWT:
      false
    }
  }
}
