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
  /// - Throws: `StoreError` when they cannot be made. Unless it has stored nothing, nobody knows whether
  ///   they are made, and no others may follow.
  func apply(_ changes: [IdentityChange]) throws

  /// What a file of secrets holds, or nil when there is none.
  ///
  /// - Throws: `StoreError` when it cannot be read, or when others may read it as well.
  func secret(_ file: SecretFile) throws -> JSONValue?

  /// Replaces a file of secrets as a whole; only its owner can read it.
  ///
  /// - Throws: `StoreError` when it cannot be written.
  func setSecret(_ file: SecretFile, to json: JSONValue) throws

  /// Ends the use of the store.
  ///
  /// - Throws: `StoreError` when something cannot be closed.
  func close() throws
}

/// A file of secrets beside the accounts.
package enum SecretFile: String, Sendable, CaseIterable {
  /// What tokens are signed with.
  case keys = "keys.json"
  /// What the programs of administrators sign custom tokens with.
  case customTokenKey = "custom-token-key.json"
}
