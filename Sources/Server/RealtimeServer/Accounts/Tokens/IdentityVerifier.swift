package import RealtimeCore
package import RealtimeHub

/// Tells the hub of one database whom a credential belongs to: the server's own sign-in.
package struct IdentityVerifier: CredentialVerifier {
  private let authority: TokenAuthority
  private let database: String
  private let administratorKey: AdministratorKey?

  init(_ authority: TokenAuthority, database: String, administratorKey: AdministratorKey?) {
    self.authority = authority
    self.database = database
    self.administratorKey = administratorKey
  }

  /// Looks at a credential: an administrator's key, or a token of a user.
  ///
  /// Which of the two it is shows in itself; a token does not make its user an administrator by the
  /// way in which it came.
  ///
  /// - Throws: `CredentialError` when it does not count, or no longer.
  package func verify(
    _ authentication: ClientRequest.Authentication,
    at timestamp: Int64
  ) throws(CredentialError) -> VerifiedCredential {
    if let administratorKey, administratorKey.matches(authentication.credential) {
      return VerifiedCredential(.administrator)
    }
    let claims = try authority.verify(authentication.credential, for: database, at: timestamp)
    let auth = JSONValue.object(
      ("uid", claims["sub"] ?? .null),
      ("provider", claims["firebase"]?["sign_in_provider"] ?? .null),
      ("token", claims)
    )
    let expires = claims["exp"]?.integer.map { $0 * 1_000 }
    return VerifiedCredential(.user(auth), auth: auth, expires: expires)
  }

  package func isShutOut(_ auth: JSONValue) -> Bool {
    guard let uid = auth["uid"]?.string, let issued = auth["token"]?["iat"]?.integer else {
      return false
    }
    return authority.isShutOut(uid, of: database, sinceTokenOf: issued)
  }
}
