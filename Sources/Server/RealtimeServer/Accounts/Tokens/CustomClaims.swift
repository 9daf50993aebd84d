internal import RealtimeCore

/// What administrators and custom tokens add to the tokens of a user.
enum CustomClaims {
  /// Most JSON of the claims of an account or of a custom token, in bytes.
  private static let maximumBytes = 1_000

  /// The names whose meaning is fixed.
  private static let reserved: Set<String> = [
    "acr", "amr", "at_hash", "aud", "auth_time", "azp", "c_hash", "cnf", "email",
    "email_verified", "exp", "firebase", "iat", "iss", "jti", "name", "nbf", "nonce", "picture",
    "provider_id", "sub", "uid", "user_id",
  ]

  /// Checks claims.
  ///
  /// - Throws: ``IdentityError`` when they are no object, too long, or take a name that has a meaning.
  static func checked(_ json: JSONValue?) throws(IdentityError) -> [JSONMember] {
    guard let json else { return [] }
    guard let members = json.members, !json.hasRepeatedNames else {
      throw IdentityError("INVALID_CLAIMS")
    }
    guard json.text.utf8.count <= maximumBytes else { throw IdentityError("CLAIMS_TOO_LARGE") }
    if let member = members.first(where: { reserved.contains($0.name) }) {
      throw IdentityError("FORBIDDEN_CLAIM", member.name)
    }
    return members
  }

  /// Claims of an account and of a session; where both have a name, the session's counts.
  static func merged(_ account: [JSONMember], _ session: [JSONMember]) -> [JSONMember] {
    account.filter { member in !session.contains { $0.name == member.name } } + session
  }
}
