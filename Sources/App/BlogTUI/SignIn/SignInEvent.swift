/// Something that the screens of the sign-in have to take notice of.
package enum SignInEvent: Sendable {
  /// The user did something, or the terminal has a new size.
  case key(KeyEvent)
  /// What was asked for did not succeed.
  case failed(String)
  /// The server has sent a code, or an administrator has to give one.
  case codeSent
  /// There is a new password.
  case passwordSet
  /// Whoever has signed in has no user name in this blog yet.
  case nameNeeded(suggestion: String)
  /// Someone was signed out on this machine, and these are left.
  case accounts([SignIn.Account])
  /// It is known who uses the blog.
  case done
}
