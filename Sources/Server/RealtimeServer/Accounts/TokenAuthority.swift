internal import NIOConcurrencyHelpers
package import RealtimeCore

/// Signs the tokens of a server's users, and knows which of them are valid.
///
/// A lock guards the keys and the revocations. Hubs call it on their thread, and the account
/// service changes it on its own.
package final class TokenAuthority: Sendable {
  /// Records that a user's sessions were ended, and when valid tokens start again.
  package struct Revocation: Hashable, Sendable {
    package let database: String
    package let uid: String
    /// Tokens that were issued before this second since 1970 are not valid.
    package let validSince: Int64
    /// Whether the user was shut out, by being disabled or deleted; a store need not keep this.
    package var isShutOut = false
  }

  private struct User: Hashable {
    let database: String
    let uid: String
  }

  private struct State {
    var keys: KeyRing
    var revocations: [User: Revocation] = [:]
  }

  /// How far ahead the clock that dated a token may have been, in seconds.
  static let tolerance: Int64 = 60

  private let state: NIOLockedValueBox<State>
  /// Whether other servers also sign tokens with these keys, and change them.
  private let isShared: Bool

  init(keys: KeyRing, revocations: [Revocation], isShared: Bool = false) {
    self.isShared = isShared
    var state = State(keys: keys)
    for note in revocations {
      state.revocations[User(database: note.database, uid: note.uid)] = note
    }
    self.state = NIOLockedValueBox(state)
  }

  var keys: KeyRing {
    get { state.withLockedValue { $0.keys } }
    set { state.withLockedValue { $0.keys = newValue } }
  }

  var issuer: String { keys.issuer }

  /// Revokes all earlier tokens of a user.
  ///
  /// - Complexity: O(users with revoked tokens since the last key went out of use)
  func revoke(_ note: Revocation) {
    let past = note.validSince - KeyRing.afterlife / 1_000
    state.withLockedValue { state in
      // No token lives long enough for an older revocation to matter.
      state.revocations = state.revocations.filter { $0.value.validSince > past }
      state.revocations[User(database: note.database, uid: note.uid)] = note
    }
  }

  /// The last revocation of a user's tokens, or nil if none was revoked lately.
  func revocation(of uid: String, in database: String) -> Revocation? {
    state.withLockedValue { $0.revocations[User(database: database, uid: uid)] }
  }

  // MARK: Tokens

  func sign(_ claims: JSONValue) -> String? { WebToken.signed(claims, with: keys.current) }

  /// Verifies a token for a database at a time in milliseconds since 1970, and returns its claims.
  ///
  /// - Throws: `RequestError` when it is invalid, expired or revoked.
  package func verify(
    _ text: String,
    for database: String,
    at timestamp: Int64
  ) throws(RequestError) -> JSONValue {
    guard let token = WebToken(text) else { throw .invalidToken("Could not parse auth token.") }
    guard token.algorithm == SigningKey.algorithm else {
      throw .invalidToken("Unsupported jwt algorithm: \(token.algorithm.prefix(16))")
    }
    let (keys, revocations) = state.withLockedValue { ($0.keys, $0.revocations) }
    if isShared, let id = token.keyID, keys[id] == nil,
      token.claims["iss"]?.string == keys.issuer
    {
      // Another server may just have created the key. A client that renews its token gets a valid
      // one.
      throw RequestError(
        .expiredToken,
        reason: "This server does not know the key of the auth token yet."
      )
    }
    guard let key = token.keyID.flatMap({ keys[$0] }),
      key.isSigned(token.signed, by: token.signature)
    else { throw .invalidToken("The auth token's signature is not this server's.") }
    let claims = token.claims
    guard claims["iss"]?.string == keys.issuer, claims["aud"]?.string == database else {
      throw .invalidToken("The auth token is for another database.")
    }
    guard let uid = claims["sub"]?.string, !uid.isEmpty, let issued = claims["iat"]?.integer,
      let expires = claims["exp"]?.integer
    else { throw .invalidToken("The auth token lacks a claim.") }
    let now = timestamp / 1_000
    guard max(issued, claims["nbf"]?.integer ?? issued) <= now + Self.tolerance else {
      throw .invalidToken("The auth token is not valid yet.")
    }
    guard expires * 1_000 > timestamp else {
      throw RequestError(.expiredToken, reason: "Auth token is expired.")
    }
    if let note = revocations[User(database: database, uid: uid)], issued < note.validSince {
      throw RequestError(.expiredToken, reason: "Auth token is revoked.")
    }
    return claims
  }
}

/// Verifies the credentials of one database for its hub, by the server's own sign-in.
package struct IdentityVerifier: CredentialVerifier {
  let authority: TokenAuthority
  let database: String
  let administratorKey: AdministratorKey?

  /// Verifies a credential: an administrator's key, or a user's token.
  ///
  /// The credential itself shows which of the two it is. The way in which a token was sent does not
  /// make its user an administrator.
  ///
  /// - Throws: `RequestError` when it is invalid, expired or revoked.
  package func verify(
    _ authentication: ClientRequest.Authentication,
    at timestamp: Int64
  ) throws(RequestError) -> VerifiedCredential {
    if let administratorKey, administratorKey.matches(authentication.credential) {
      return VerifiedCredential(identity: .administrator)
    }
    let claims = try authority.verify(authentication.credential, for: database, at: timestamp)
    let auth = JSONValue.object(
      ("uid", claims["sub"] ?? .null),
      ("provider", claims["firebase"]?["sign_in_provider"] ?? .null),
      ("token", claims)
    )
    let expires = claims["exp"]?.integer.map { $0 * 1_000 }
    return VerifiedCredential(identity: .user(auth), expires: expires)
  }

  package func isShutOut(_ auth: JSONValue) -> Bool {
    guard let uid = auth["uid"]?.string, let issued = auth["token"]?["iat"]?.integer,
      let note = authority.revocation(of: uid, in: database)
    else { return false }
    return note.isShutOut && issued < note.validSince
  }
}
