/// How much an ``IdentityStore`` keeps of what has been used up.
package enum IdentityKeeping {
  /// How long a session that is not continued is kept, in milliseconds.
  package static let session: Int64 = 400 * 24 * 3_600_000
  /// Most sessions of an account; the ones that were continued longest ago are ended.
  package static let sessionsPerAccount = 100
  /// Most tokens of a session that are known after they were replaced.
  package static let tokensPerSession = 50
  /// How long it is known whose earlier tokens do not count, in milliseconds.
  package static let revocation = KeyRing.afterlife
}
