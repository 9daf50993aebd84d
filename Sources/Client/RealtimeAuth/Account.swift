internal import Foundation
internal import RealtimeCore

/// A signed-in user: the profile and the tokens.
struct Account: Hashable, Sendable {
  /// The public part of an account.
  struct Profile: Hashable, Sendable {
    var email: String?
    var displayName: String?
    var photoURL: String?
    var isEmailVerified = false
    var isAnonymous = false
  }

  var uid: String
  var profile = Profile()
  var tokens: Tokens

  /// The secrets of a user; they must not be logged.
  struct Tokens: Hashable, Sendable {
    /// The token for the database and for the account endpoints.
    var idToken: String
    /// The token that requests a new ID token.
    var refreshToken: String
    /// When the ID token expires by this machine's clock, in milliseconds since 1970.
    var expires: Int64
    /// The token's lifetime from the time of issue, in milliseconds.
    var lifetime: Int64

    /// When to refresh it: five minutes before it expires or at half its lifetime, if that is
    /// later.
    var refreshTime: Int64 { expires - min(Self.margin, lifetime / 2) }

    /// Whether the token can be used without a refresh.
    ///
    /// If the clock was set back to before its issue, nobody knows how old it is.
    func isFresh(at now: Int64) -> Bool { expires &- lifetime <= now && now < refreshTime }

    private static let margin: Int64 = 5 * 60 * 1_000
  }
}

// A token in a log would be as sensitive as a password.
extension Account.Tokens: CustomStringConvertible, CustomReflectable {
  var description: String { "tokens until \(expires)" }
  var customMirror: Mirror { Mirror(self, children: ["expires": expires]) }
}

extension Account.Tokens {
  /// The tokens in a response about an account, or nil if it has none.
  ///
  /// The expiry is computed from the lifetime in the response, because the clocks of the two
  /// machines may differ.
  init?(account answer: JSONValue, now: Int64) {
    guard let idToken = answer["idToken"]?.string,
      let refreshToken = answer["refreshToken"]?.string
    else { return nil }
    self.init(idToken: idToken, refreshToken: refreshToken, seconds: answer["expiresIn"], now: now)
  }

  /// The tokens in the response to a refresh.
  ///
  /// - Throws: ``AuthError`` of kind `internalError` when the response has none.
  init(refresh answer: JSONValue, now: Int64) throws(AuthError) {
    guard let idToken = answer["id_token"]?.string ?? answer["access_token"]?.string,
      let refreshToken = answer["refresh_token"]?.string
    else { throw AuthError(.internalError, message: "the refresh response has no token") }
    self.init(idToken: idToken, refreshToken: refreshToken, seconds: answer["expires_in"], now: now)
  }

  private init(idToken: String, refreshToken: String, seconds: JSONValue?, now: Int64) {
    let told = seconds.flatMap { $0.integer ?? $0.string.flatMap { Int64($0) } }
    let claimed = (try? IDTokenClaims(idToken))?.lifetime
    let lifetime = max(1, min(told ?? claimed ?? 3_600, 1_000_000_000)) * 1_000
    self.init(
      idToken: idToken,
      refreshToken: refreshToken,
      expires: now + lifetime,
      lifetime: lifetime
    )
  }
}

extension Account.Profile {
  /// The profile in the response to a lookup; the token's claims say how the user signed in.
  init(user: JSONValue, claims: IDTokenClaims) {
    email = user["email"]?.string
    displayName = user["displayName"]?.string
    photoURL = user["photoUrl"]?.string
    isEmailVerified = user["emailVerified"]?.bool ?? false
    isAnonymous = claims.provider == "anonymous" && email == nil
  }
}

/// The claims of an ID token, whose signature only the server verifies.
struct IDTokenClaims: Sendable {
  let json: JSONValue

  /// Reads the claims of a token.
  ///
  /// - Throws: ``AuthError`` of kind `malformedJWT` if the text is not a token.
  init(_ token: String) throws(AuthError) {
    let parts = token.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, let bytes = Self.bytes(parts[1]),
      let json = try? JSONParser.parse(bytes), json.members != nil
    else { throw AuthError(.malformedJWT, message: "the server sent a malformed token") }
    self.json = json
  }

  /// The identifier of the user, or nil when there is none.
  var uid: String? { json["user_id"]?.string ?? json["sub"]?.string }

  /// How the user signed in, such as "password".
  var provider: String? { json["firebase"]?["sign_in_provider"]?.string }

  /// The token's lifetime from the time of issue, in seconds, or nil if it is unknown.
  var lifetime: Int64? {
    guard let issued = json["iat"]?.integer, let expires = json["exp"]?.integer, issued >= 0,
      expires > issued
    else { return nil }
    return expires - issued
  }

  /// The time in a claim, or nil if the claim is missing.
  func date(_ claim: String) -> Date? {
    json[claim]?.integer.map { Date(timeIntervalSince1970: Double($0)) }
  }

  private static func bytes(_ part: Substring) -> [UInt8]? {
    var text = String(part).replacing("-", with: "+").replacing("_", with: "/")
    text += String(repeating: "=", count: (4 - text.count % 4) % 4)
    return Data(base64Encoded: text).map { Array($0) }
  }
}
