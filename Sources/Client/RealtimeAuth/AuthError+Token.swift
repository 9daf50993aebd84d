internal import RealtimeDatabase

extension AuthError: DatabaseTokenFailure {
  /// Whether the same attempt may go well later: the service was not reached, or is busy.
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
