internal import RealtimeCore

/// What is to be different about an account; what is nil stays as it is.
struct AccountChange {
  var email: EmailAddress?
  var password: Password?
  /// The name to show; an empty one removes it.
  var displayName: String?
  /// The address of a picture; an empty one removes it.
  var photoURL: String?
  /// Whether the password is taken away, so that nobody can sign in with it.
  var removesPassword = false
  var isEmailVerified: Bool?
  var isDisabled: Bool?
  var customClaims: [JSONMember]?
  /// Whether everybody who is signed in has to sign in again.
  var endsSessions = false
}
