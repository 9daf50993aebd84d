/// The domain of the errors of signing in when they are cast to `NSError`.
public let AuthErrorDomain = "FIRAuthErrorDomain"

/// Where an error that was cast to `NSError` has the server's word for it, in its `userInfo`.
public let AuthErrorUserInfoNameKey = "FIRAuthErrorUserInfoNameKey"

/// The kinds of failures of signing in, with the numbers of the original.
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
  /// There is an account with this email address.
  case emailAlreadyInUse = 17007
  /// The email address is malformed.
  case invalidEmail = 17008
  /// The password is wrong.
  case wrongPassword = 17009
  /// Too much was tried from here; later it can be tried again.
  case tooManyRequests = 17010
  /// There is no such account.
  case userNotFound = 17011
  /// The operation needs someone who has signed in just now.
  case requiresRecentLogin = 17014
  /// The account has a password and an email address already.
  case providerAlreadyLinked = 17015
  /// The account has no such way to sign in.
  case noSuchProvider = 17016
  /// The proof of the user is not valid; signing in again helps.
  case invalidUserToken = 17017
  /// The server cannot be reached, or did not answer in time.
  case networkError = 17020
  /// The session has ended, as after a change of the password; signing in again helps.
  case userTokenExpired = 17021
  /// The key of the project is missing or wrong.
  case invalidAPIKey = 17023
  /// The account is not the one that is signed in.
  case userMismatch = 17024
  /// The credential belongs to another account.
  case credentialAlreadyInUse = 17025
  /// The password is too short or too simple.
  case weakPassword = 17026
  /// The key does not allow this program to sign in.
  case appNotAuthorized = 17028
  /// The code of a mail is too old.
  case expiredActionCode = 17029
  /// The code of a mail is wrong, or was used before.
  case invalidActionCode = 17030
  /// The email address is missing.
  case missingEmail = 17034
  /// Nobody is signed in, or not this user any more.
  case nullUser = 17067
  /// Only administrators may do this.
  case adminRestrictedOperation = 17085
  /// Credentials cannot be kept, or those that were kept cannot be used.
  case keychainError = 17995
  /// The server said something that is not understood.
  case internalError = 17999
  /// The token is malformed.
  case malformedJWT = 18000
}
