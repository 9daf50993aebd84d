package import RealtimeCore

/// What began with a sign-in, and goes on as long as its refresh token is used.
package struct SignInSession: Hashable, Sendable {
  /// Its identifier.
  package let id: String
  /// The database of the account.
  package let database: String
  /// The user.
  package let uid: String
  /// How the user signed in: `anonymous`, `password` or `custom`.
  package let provider: String
  /// When the user signed in, in seconds since 1970.
  package let signedIn: Int64
  /// The claims of the custom token that it began with, as JSON text, or nil.
  package let claims: String?

  /// Makes a session.
  package init(
    id: String,
    database: String,
    uid: String,
    provider: String,
    signedIn: Int64,
    claims: String? = nil
  ) {
    self.id = id
    self.database = database
    self.uid = uid
    self.provider = provider
    self.signedIn = signedIn
    self.claims = claims
  }
}

extension SignInSession {
  /// The session as a store keeps it.
  package var json: JSONValue {
    .object(
      ("id", .string(id)),
      ("database", .string(database)),
      ("uid", .string(uid)),
      ("provider", .string(provider)),
      ("signedIn", .integer(signedIn)),
      ("claims", claims.map { .string($0) } ?? .null)
    )
  }

  /// Reads what a store has kept; nil when it is none of what ``json`` gives.
  package init?(json: JSONValue) {
    guard let id = json["id"]?.string, let database = json["database"]?.string,
      let uid = json["uid"]?.string, let provider = json["provider"]?.string,
      let signedIn = json["signedIn"]?.integer
    else { return nil }
    self.init(
      id: id,
      database: database,
      uid: uid,
      provider: provider,
      signedIn: signedIn,
      claims: json["claims"]?.string
    )
  }
}
