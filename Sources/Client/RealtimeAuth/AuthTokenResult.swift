public import Foundation
internal import RealtimeCore

/// An ID token and what it says.
public struct AuthTokenResult: Sendable {
  /// The token, which must not be logged or shown.
  public let token: String
  private let json: IDTokenClaims

  /// Reads a token.
  ///
  /// - Throws: ``AuthError`` of code `malformedJWT`.
  init(_ token: String) throws(AuthError) {
    self.token = token
    json = try IDTokenClaims(token)
  }

  /// When the token ends, by the clock of the server.
  public var expirationDate: Date { json.date("exp") ?? .distantPast }

  /// When the user signed in.
  public var authDate: Date { json.date("auth_time") ?? issuedAtDate }

  /// When the token was made.
  public var issuedAtDate: Date { json.date("iat") ?? .distantPast }

  /// How the user signed in, such as "password".
  public var signInProvider: String { json.provider ?? "" }

  /// All that the token says, those of an administrator included.
  public var claims: [String: Any] {
    let members = json.json.members ?? []
    return Dictionary(members.map { ($0.name, Self.value($0.value)) }) { $1 }
  }

  private static func value(_ json: JSONValue) -> Any {
    switch json {
    case .null: NSNull()
    case .bool(let value): value
    case .integer(let value): value
    case .double(let value): value
    case .string(let value): value
    case .array(let elements): elements.map(value)
    case .object(let members):
      Dictionary(members.map { ($0.name, value($0.value)) }) { $1 }
    }
  }
}
