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
