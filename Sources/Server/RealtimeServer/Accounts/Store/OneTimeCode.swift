package import RealtimeCore

/// What a code that was handed over by other ways allows, once.
package struct OneTimeCode: Hashable, Sendable {
  /// What it is for, as requests name it.
  package enum Purpose: String, Sendable {
    /// To set a new password.
    case passwordReset = "PASSWORD_RESET"
    /// To show that an address is its owner's.
    case emailVerification = "VERIFY_EMAIL"
  }

  /// What it is for.
  package let purpose: Purpose
  /// The database of the account.
  package let database: String
  /// The user.
  package let uid: String
  /// The address that it was made for; with another one it is worth nothing.
  package let email: EmailAddress
  /// When it ends, in milliseconds since 1970.
  package let expires: Int64

  /// Makes a code.
  package init(
    purpose: Purpose,
    database: String,
    uid: String,
    email: EmailAddress,
    expires: Int64
  ) {
    self.purpose = purpose
    self.database = database
    self.uid = uid
    self.email = email
    self.expires = expires
  }
}

extension OneTimeCode {
  /// The code as a store keeps it.
  package var json: JSONValue {
    .object(
      ("purpose", .string(purpose.rawValue)),
      ("database", .string(database)),
      ("uid", .string(uid)),
      ("email", .string(email.text)),
      ("expires", .integer(expires))
    )
  }

  /// Reads what a store has kept; nil when it is none of what ``json`` gives.
  package init?(json: JSONValue) {
    guard let purpose = json["purpose"]?.string.flatMap(Purpose.init(rawValue:)),
      let database = json["database"]?.string, let uid = json["uid"]?.string,
      let email = json["email"]?.string.flatMap({ EmailAddress($0) }),
      let expires = json["expires"]?.integer
    else { return nil }
    self.init(purpose: purpose, database: database, uid: uid, email: email, expires: expires)
  }
}
