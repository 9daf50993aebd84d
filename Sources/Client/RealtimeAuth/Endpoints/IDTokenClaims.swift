internal import Foundation
internal import RealtimeCore

/// What an ID token says of its user; the signature is the server's business.
struct IDTokenClaims: Sendable {
  /// All claims, an object.
  let json: JSONValue

  /// Reads a token.
  ///
  /// - Throws: ``AuthError`` of code `malformedJWT` when it is none.
  init(_ token: String) throws(AuthError) {
    let parts = token.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, let bytes = Self.bytes(parts[1]),
      let json = try? JSONParser.parse(bytes), json.members != nil
    else { throw AuthError(.malformedJWT, message: "the server gave a token that is malformed") }
    self.json = json
  }

  /// The identifier of the user, or nil when there is none.
  var uid: String? { json["user_id"]?.string ?? json["sub"]?.string }

  /// How the user has signed in, such as "password".
  var provider: String? { json["firebase"]?["sign_in_provider"]?.string }

  /// How long the token lives from its issue on, in milliseconds, or nil when it does not say.
  var lifetime: Int64? {
    guard let issued = json["iat"]?.integer, let expires = json["exp"]?.integer, expires > issued
    else { return nil }
    return (expires - issued) * 1_000
  }

  /// A time that the token names, or nil.
  func date(_ claim: String) -> Date? {
    json[claim]?.integer.map { Date(timeIntervalSince1970: Double($0)) }
  }

  private static func bytes(_ part: Substring) -> [UInt8]? {
    var text = String(part).replacing("-", with: "+").replacing("_", with: "/")
    text += String(repeating: "=", count: (4 - text.count % 4) % 4)
    return Data(base64Encoded: text).map { Array($0) }
  }
}
