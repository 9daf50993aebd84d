package import RealtimeCore

/// Someone who can sign in to a database.
package struct Account: Hashable, Sendable {
  /// The database that it belongs to; the same person has another account for another one.
  package let database: String
  /// The identifier that rules and data name it by.
  package let uid: String
  /// The address to sign in with, or nil.
  package var email: EmailAddress?
  /// Whether its owner has shown that the address is theirs.
  package var isEmailVerified = false
  /// The name to show, or nil.
  package var displayName: String?
  /// The address of a picture, or nil.
  package var photoURL: String?
  /// The password as it is stored, or nil.
  package var password: PasswordHash?
  /// What administrators have put into its tokens.
  package var customClaims: [JSONMember] = []
  /// Whether it may not sign in.
  package var isDisabled = false
  /// When it was made, in milliseconds since 1970.
  package let created: Int64
  /// When it last signed in, in milliseconds since 1970.
  package var lastSignIn: Int64
  /// When the password was last set, in milliseconds since 1970, or nil.
  package var passwordChanged: Int64?
  /// Tokens that were issued before this second since 1970 no longer count.
  package var validSince: Int64
  /// When somebody last asked for a new password, in milliseconds since 1970, or nil.
  package var resetRequested: Int64?

  /// Makes an account that nobody has signed in to.
  package init(database: String, uid: String, created: Int64) {
    self.database = database
    self.uid = uid
    self.created = created
    lastSignIn = created
    validSince = created / 1_000
  }

  /// Whether a text can be the identifier of a user: 1 to 128 visible characters of ASCII.
  ///
  /// With more, two users could look alike to people and to the comparison of text.
  package static func isIdentifier(_ text: String) -> Bool {
    (1...128).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
  }

  /// The ways to sign in to it.
  package var providers: [String] { password != nil && email != nil ? ["password"] : [] }

  /// Ends everything that was signed in with before a time.
  ///
  /// Times of tokens are whole seconds, so tokens that are issued later in the same second are dated
  /// to the next one: none that was issued before counts, and each that is issued after does.
  package mutating func endSessions(at milliseconds: Int64) {
    validSince = max(validSince, milliseconds / 1_000 + 1)
  }
}
