private import RealtimeCore
package import RealtimeDatabase

/// Says who a user of a swarm is by a token without a signature, which an emulator believes.
package struct EmulatorTokens: DatabaseTokenProvider {
  private let uid: String

  /// Makes the tokens of one user.
  package init(uid: String) {
    self.uid = uid
  }

  package var userID: String? { uid }

  /// The token.
  ///
  /// - Throws: Nothing; it needs nobody to make one.
  package func token(forcingRefresh isForced: Bool) async throws -> DatabaseToken? {
    let header = JSONValue.object(("alg", .string("none")), ("typ", .string("JWT")))
    let claims = JSONValue.object(
      ("sub", .string(uid)),
      ("user_id", .string(uid)),
      ("iat", .integer(0)),
      ("exp", .integer(4_102_444_800))
    )
    return DatabaseToken(userID: uid, text: "\(Self.part(header)).\(Self.part(claims)).")
  }

  package func observeTokens(
    _ block: @escaping @Sendable (DatabaseToken?) -> Void
  ) -> DatabaseTokenObservation {
    DatabaseTokenObservation {}
  }

  /// A part of a token: JSON in the alphabet of URLs, without padding.
  private static func part(_ json: JSONValue) -> String {
    String(
      Base64.encode(Array(json.text.utf8)).compactMap { digit -> Character? in
        switch digit {
        case "+": "-"
        case "/": "_"
        case "=": nil
        default: digit
        }
      }
    )
  }
}
