package import RealtimeCore

/// A store of accounts, sessions and keys, which a server's storage implements.
///
/// It is used from one thread at a time, which may block on it. The store never sees refresh tokens
/// or codes, only their hashes. Every function throws `StoreError` when the store cannot be used.
package protocol IdentityStore: Sendable {
  func account(_ uid: String, in database: String) throws -> Account?

  func account(of email: EmailAddress, in database: String) throws -> Account?

  /// Accounts of a database in the order of their identifiers, after one or from the first.
  func accounts(in database: String, after uid: String?, limit: Int) throws -> [Account]

  /// The session that a refresh token belongs to, or nil when the token is unknown.
  func session(ofToken hash: [UInt8]) throws -> RefreshRecord?

  func code(_ hash: [UInt8]) throws -> OneTimeCode?

  /// The revocations that took effect after a second since 1970.
  func revocations(since second: Int64) throws -> [TokenAuthority.Revocation]

  /// Makes all of the changes or none; when it returns they are durable.
  ///
  /// - Throws: `StoreError`. Unless it `hasStoredNothing`, it is unknown whether they were made,
  ///   and no others may follow.
  func apply(_ changes: [IdentityChange]) throws

  /// The contents of a secret file that nobody else can read; nil when it does not exist.
  func secret(_ file: SecretFile) throws -> JSONValue?

  /// Replaces a secret file as a whole; only its owner can read it.
  func setSecret(_ file: SecretFile, to json: JSONValue) throws

  /// Replaces a secret file by what a closure makes of it, which no other server changes meanwhile.
  ///
  /// The closure may be called several times, with nil if there is no file.
  func changeSecret(
    _ file: SecretFile,
    _ change: (JSONValue?) throws(StoreError) -> JSONValue
  ) throws

  /// Creates a secret file unless it exists.
  ///
  /// - Returns: The file's contents afterwards; if several servers create it at once, all get the
  ///   same.
  func addSecret(_ file: SecretFile, holding json: JSONValue) throws -> JSONValue

  func close() throws
}

extension IdentityStore {
  /// Replaces a secret file by what a closure makes of it, in a store that only one server uses.
  ///
  /// A file that cannot be read counts as missing.
  package func changeSecret(
    _ file: SecretFile,
    _ change: (JSONValue?) throws(StoreError) -> JSONValue
  ) throws {
    try setSecret(file, to: change(try? secret(file)))
  }

  /// Creates a secret file unless it exists, in a store that only one server uses.
  package func addSecret(_ file: SecretFile, holding json: JSONValue) throws -> JSONValue {
    if let known = try secret(file) { return known }
    try setSecret(file, to: json)
    return json
  }
}

/// A secret file next to the accounts.
package enum SecretFile: String, Sendable, CaseIterable {
  case keys = "keys.json"
  /// The key with which administrators' programs sign custom tokens.
  case customTokenKey = "custom-token-key.json"
}

/// A change to what an ``IdentityStore`` holds.
package enum IdentityChange: Sendable {
  /// Saves an account, provided that it still is the one that was read, or with nil that there is
  /// none yet: several servers may change it. Only stores that they share have to look.
  case save(Account, insteadOf: Account? = nil)
  /// Removes an account with its sessions and codes.
  case delete(uid: String, database: String)
  /// Removes all accounts of a database with their sessions and codes.
  case clear(database: String)
  /// Moves the accounts and sessions of a database to another name, and removes its codes, which
  /// name the old one.
  case rename(database: String, to: String)
  /// Starts a session, with the hash of its first token.
  case begin(SignInSession, token: [UInt8])
  /// Replaces a token by a new one, given by their hashes; the old one stays known.
  case replace(token: [UInt8], successor: [UInt8], at: Int64)
  case end(session: String)
  case addCode(OneTimeCode, hash: [UInt8])
  case removeCode(hash: [UInt8])
  /// Records that a user's earlier tokens are no longer valid.
  case revoke(TokenAuthority.Revocation)
  /// Records that the earlier tokens of all accounts of a database are no longer valid.
  case revokeAll(database: String, validSince: Int64)
  /// Removes codes, sessions and revocations that are obsolete at a time in milliseconds.
  case tidy(at: Int64)
}

/// A code that was delivered out of band, and what it allows once.
package struct OneTimeCode: Hashable, Sendable {
  /// The purpose of a code, as requests name it.
  package enum Purpose: String, Sendable {
    case passwordReset = "PASSWORD_RESET"
    case emailVerification = "VERIFY_EMAIL"
  }

  package let purpose: Purpose
  package let database: String
  package let uid: String
  /// The address that the code was made for; it is worthless if the account's address has changed.
  package let email: EmailAddress
  /// When the code expires, in milliseconds since 1970.
  package let expires: Int64
  /// When the account's password had last been changed; a code is of no use for another password.
  package var passwordChanged: Int64?
}

extension OneTimeCode {
  /// The stored form of the code.
  package var json: JSONValue {
    .object(
      ("purpose", .string(purpose.rawValue)),
      ("database", .string(database)),
      ("uid", .string(uid)),
      ("email", .string(email.text)),
      ("expires", .integer(expires)),
      ("passwordChanged", passwordChanged.map { .integer($0) } ?? .null)
    )
  }

  /// Reads the stored form; nil if it is not what ``json`` returns.
  package init?(json: JSONValue) {
    guard let purpose = json["purpose"]?.string.flatMap(Purpose.init(rawValue:)),
      let database = json["database"]?.string, let uid = json["uid"]?.string,
      let email = json["email"]?.string.flatMap({ EmailAddress($0) }),
      let expires = json["expires"]?.integer
    else { return nil }
    self.init(
      purpose: purpose,
      database: database,
      uid: uid,
      email: email,
      expires: expires,
      passwordChanged: json["passwordChanged"]?.integer
    )
  }
}

package struct RefreshRecord: Hashable, Sendable {
  /// The session that the token continues.
  package let session: SignInSession
  /// When another token replaced it, in milliseconds since 1970; nil while it is the newest.
  package let replaced: Int64?
}

/// A session, which starts with a sign-in and lasts as long as its refresh token is used.
package struct SignInSession: Hashable, Sendable {
  package let id: String
  package var database: String
  package let uid: String
  /// How the user signed in: `anonymous`, `password` or `custom`.
  package let provider: String
  /// When the user signed in, in seconds since 1970.
  package let signedIn: Int64
  /// The claims of the custom token that started the session, as JSON text, or nil.
  package var claims: String?
}

extension SignInSession {
  /// The stored form of the session.
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

  /// Reads the stored form; nil if it is not what ``json`` returns.
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
