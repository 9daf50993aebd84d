package import RealtimeCore

/// Where accounts, sessions and keys rest: the port that a server's storage implements.
///
/// It is used from one thread at a time, which may wait for it. Refresh tokens and codes never get
/// here, only their hashes.
package protocol IdentityStore: Sendable {
  /// The account of a user, or nil.
  ///
  /// - Throws: `StoreError` when it cannot be read.
  func account(_ uid: String, in database: String) throws -> Account?

  /// The account of an address, or nil.
  ///
  /// - Throws: `StoreError` when it cannot be read.
  func account(of email: EmailAddress, in database: String) throws -> Account?

  /// Accounts of a database in the order of their identifiers.
  ///
  /// - Parameters:
  ///   - database: The database.
  ///   - uid: The identifier after which they begin, or nil for the first.
  ///   - limit: How many at most.
  /// - Returns: The accounts.
  /// - Throws: `StoreError` when they cannot be read.
  func accounts(in database: String, after uid: String?, limit: Int) throws -> [Account]

  /// The session that a refresh token belongs to, or nil when nobody knows the token.
  ///
  /// - Throws: `StoreError` when it cannot be read.
  func session(ofToken hash: [UInt8]) throws -> RefreshRecord?

  /// The code of a hash, or nil.
  ///
  /// - Throws: `StoreError` when it cannot be read.
  func code(_ hash: [UInt8]) throws -> OneTimeCode?

  /// Whose earlier tokens do not count, as far as it was noted after a second since 1970.
  ///
  /// - Throws: `StoreError` when they cannot be read.
  func revocations(since second: Int64) throws -> [TokenAuthority.Revocation]

  /// Makes changes, all of them or none; when it returns they are durable.
  ///
  /// - Throws: `StoreError` when they cannot be made. Unless it `hasStoredNothing`, it is unknown whether
  ///   they were made, and no others may follow.
  func apply(_ changes: [IdentityChange]) throws

  /// What a file of secrets holds, or nil when there is none.
  ///
  /// - Throws: `StoreError` when it cannot be read, or when others may read it as well.
  func secret(_ file: SecretFile) throws -> JSONValue?

  /// Replaces a file of secrets as a whole; only its owner can read it.
  ///
  /// - Throws: `StoreError` when it cannot be written.
  func setSecret(_ file: SecretFile, to json: JSONValue) throws

  /// Makes a file of secrets unless there is one.
  ///
  /// - Returns: What it holds then; of several servers that make it at once, all get the same.
  /// - Throws: `StoreError` when it cannot be read or written.
  func addSecret(_ file: SecretFile, holding json: JSONValue) throws -> JSONValue

  /// Ends the use of the store.
  ///
  /// - Throws: `StoreError` when something cannot be closed.
  func close() throws
}

extension IdentityStore {
  /// Makes a file of secrets unless there is one, in a store that only one server uses.
  package func addSecret(_ file: SecretFile, holding json: JSONValue) throws -> JSONValue {
    if let known = try secret(file) { return known }
    try setSecret(file, to: json)
    return json
  }
}

/// A file of secrets beside the accounts.
package enum SecretFile: String, Sendable, CaseIterable {
  /// What tokens are signed with.
  case keys = "keys.json"
  /// What the programs of administrators sign custom tokens with.
  case customTokenKey = "custom-token-key.json"
}

/// A change to what an ``IdentityStore`` holds.
package enum IdentityChange: Sendable {
  /// Adds or replaces an account.
  case save(Account)
  /// Removes an account with its sessions and codes.
  case delete(uid: String, database: String)
  /// Removes all accounts of a database with their sessions and codes.
  case clear(database: String)
  /// Begins a session with the hash of its first token.
  case begin(SignInSession, token: [UInt8])
  /// Puts the hash of a new token in the place of one, which stays known.
  case replace(token: [UInt8], successor: [UInt8], at: Int64)
  /// Ends a session.
  case end(session: String)
  /// Adds a code under its hash.
  case addCode(OneTimeCode, hash: [UInt8])
  /// Removes a code.
  case removeCode(hash: [UInt8])
  /// Notes since when the tokens of a user count.
  case revoke(TokenAuthority.Revocation)
  /// Removes codes, sessions and notes that have no use any more at a time in milliseconds.
  case tidy(at: Int64)
}

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

/// What is known of a refresh token.
package struct RefreshRecord: Hashable, Sendable {
  /// The session that it continues.
  package let session: SignInSession
  /// When another one took its place, in milliseconds since 1970, or nil while it is the newest.
  package let replaced: Int64?

  /// Makes a record.
  package init(session: SignInSession, replaced: Int64?) {
    self.session = session
    self.replaced = replaced
  }
}

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
