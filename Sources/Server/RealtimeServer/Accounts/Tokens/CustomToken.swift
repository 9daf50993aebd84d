internal import RealtimeCore

/// What a program of an administrator says about a user who is to be let in.
struct CustomToken {
  /// The user, who need not have an account yet.
  let uid: String
  /// What is added to the user's tokens.
  let claims: [JSONMember]

  /// Whom such tokens are for.
  static let audience =
    "https://identitytoolkit.googleapis.com/google.identity.identitytoolkit.v1.IdentityToolkit"
  /// How long one may count, and how far ahead its clock may be, in seconds.
  private static let bounds = (lifetime: Int64(3_600), tolerance: Int64(60))

  /// Reads a token.
  ///
  /// - Parameters:
  ///   - text: The token.
  ///   - key: The key for these tokens.
  ///   - issuer: What it must name as `iss` and `sub`: the server and the database.
  ///   - now: The time in milliseconds since 1970.
  /// - Throws: ``IdentityError`` when it does not count.
  init(
    _ text: String,
    signedBy key: SigningKey,
    issuer: String,
    at now: Int64
  ) throws(IdentityError) {
    guard let token = WebToken(text), token.algorithm == SigningKey.algorithm,
      key.isSigned(token.signed, token.signature)
    else { throw Self.invalid("The token is not signed with the key for custom tokens.") }
    let claims = token.claims
    guard claims["aud"]?.string == Self.audience else {
      throw Self.invalid("The audience is wrong.")
    }
    guard claims["iss"]?.string == issuer, claims["sub"]?.string == issuer else {
      throw IdentityError("CREDENTIAL_MISMATCH")
    }
    guard let issued = claims["iat"]?.integer, let expires = claims["exp"]?.integer,
      issued >= 0, expires >= issued, expires - issued <= Self.bounds.lifetime
    else { throw Self.invalid("The times are wrong.") }
    guard issued <= now / 1_000 + Self.bounds.tolerance, expires > now / 1_000 else {
      throw Self.invalid("The token is expired, or not valid yet.")
    }
    try self.init(claims)
  }

  /// Reads a token as the emulator takes them: JSON, or a token whose signature is not looked at.
  init(unsigned text: String) throws(IdentityError) {
    let json = text.hasPrefix("{") ? try? JSONParser.parse(text) : WebToken(text)?.claims
    guard let json else { throw Self.invalid("It is neither a token nor JSON.") }
    try self.init(json)
  }

  private init(_ json: JSONValue) throws(IdentityError) {
    guard let uid = json["uid"]?.string, Account.isIdentifier(uid) else {
      throw Self.invalid("There is no uid of 1 to 128 visible characters of ASCII.")
    }
    self.uid = uid
    claims = try CustomClaims.checked(json["claims"])
  }

  private static func invalid(_ detail: String) -> IdentityError {
    IdentityError("INVALID_CUSTOM_TOKEN", detail)
  }
}
