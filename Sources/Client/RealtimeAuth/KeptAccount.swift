/// Someone who is signed in on this machine, without what proves it.
package struct KeptAccount: Hashable, Sendable {
  /// The address and the name of the database.
  package let server: String
  /// The identifier.
  package let uid: String
  /// The email address, or nil for guests.
  package let email: String?
  /// The name that the user has chosen, or nil.
  package let displayName: String?
}
