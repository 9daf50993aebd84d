import RealtimeCore
import Testing

@testable import RealtimeServer

/// Signs custom tokens with the key that a server keeps for its administrators' programs.
struct CustomTokenSigner {
  static let audience =
    "https://identitytoolkit.googleapis.com/google.identity.identitytoolkit.v1.IdentityToolkit"

  private let key: SigningKey
  private let server: String

  init(_ store: any IdentityStore) throws {
    key = try #require(try store.secret(.customTokenKey).flatMap { SigningKey(json: $0) })
    server = try #require(try store.secret(.keys)?["server"]?.string)
  }

  /// A token whose issuer names the server and the database.
  func token(
    uid: String,
    claims: [String: JSONValue] = [:],
    database: String = "hearth",
    server: String? = nil,
    at now: Int64
  ) throws -> String {
    let issuer = JSONValue.string("urn:hearth:\(server ?? self.server):\(database)")
    let token = WebToken.signed(
      .object(
        ("iss", issuer),
        ("sub", issuer),
        ("aud", .string(Self.audience)),
        ("iat", .integer(now / 1_000)),
        ("exp", .integer(now / 1_000 + 3_600)),
        ("uid", .string(uid)),
        ("claims", .object(claims.map { JSONMember($0.key, $0.value) }))
      ),
      with: key
    )
    return try #require(token)
  }
}
