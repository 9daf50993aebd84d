internal import RealtimeCore

extension Account.Tokens {
  /// The tokens of an answer about an account, or nil when it brings none.
  ///
  /// The lifetime that the answer tells counts, since the clocks of the two ends may differ.
  init?(account answer: JSONValue, now: Int64) {
    guard let idToken = answer["idToken"]?.string,
      let refreshToken = answer["refreshToken"]?.string
    else { return nil }
    self.init(idToken, refreshToken, answer["expiresIn"], now)
  }

  /// The tokens of an answer to a refresh.
  ///
  /// - Throws: ``AuthError`` of code `internalError` when there are none.
  init(refresh answer: JSONValue, now: Int64) throws(AuthError) {
    guard let idToken = answer["id_token"]?.string ?? answer["access_token"]?.string,
      let refreshToken = answer["refresh_token"]?.string
    else { throw AuthError(.internalError, message: "the server refreshed without a token") }
    self.init(idToken, refreshToken, answer["expires_in"], now)
  }

  private init(_ idToken: String, _ refreshToken: String, _ seconds: JSONValue?, _ now: Int64) {
    let told = seconds.flatMap { $0.integer ?? $0.string.flatMap { Int64($0) } }
    let claimed = (try? IDTokenClaims(idToken))?.lifetime
    let lifetime = told.map { max(1, min($0, 1_000_000_000)) * 1_000 } ?? claimed ?? 3_600_000
    self.init(
      idToken: idToken,
      refreshToken: refreshToken,
      expires: now + lifetime,
      lifetime: lifetime
    )
  }
}

extension Account.Profile {
  /// What a look-up tells of a user, whose token tells how they signed in.
  init(user: JSONValue, claims: IDTokenClaims) {
    email = user["email"]?.string
    displayName = user["displayName"]?.string
    photoURL = user["photoUrl"]?.string
    isEmailVerified = user["emailVerified"]?.bool ?? false
    isAnonymous = claims.provider == "anonymous" && email == nil
  }

  /// What a token tells of its user.
  init(claims: IDTokenClaims) {
    email = claims.json["email"]?.string
    displayName = claims.json["name"]?.string
    photoURL = claims.json["picture"]?.string
    isEmailVerified = claims.json["email_verified"]?.bool ?? false
    isAnonymous = claims.provider == "anonymous"
  }
}
