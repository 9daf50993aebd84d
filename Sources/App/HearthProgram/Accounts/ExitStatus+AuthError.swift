import RealtimeAuth

extension ExitStatus {
  /// What the process says when signing in fails.
  init(_ error: AuthError) {
    self =
      switch error.code {
      case .networkError: .offline
      case .invalidEmail, .weakPassword, .missingEmail, .invalidAPIKey: .usage
      case .userNotFound: .notFound
      case .emailAlreadyInUse, .credentialAlreadyInUse, .providerAlreadyLinked: .conflict
      case .invalidCredential, .wrongPassword, .userDisabled, .tooManyRequests,
        .operationNotAllowed, .adminRestrictedOperation, .requiresRecentLogin, .invalidUserToken,
        .userTokenExpired, .invalidCustomToken, .customTokenMismatch, .expiredActionCode,
        .invalidActionCode, .appNotAuthorized, .userMismatch, .nullUser:
        .notPermitted
      case .noSuchProvider, .keychainError, .internalError, .malformedJWT: .failed
      }
  }
}
