/// What has to be done outside of the screens of the sign-in.
package enum SignInEffect: Hashable, Sendable {
  /// Go on as someone who is signed in on this machine.
  case use(uid: String)
  /// Sign someone out on this machine.
  case signOut(uid: String)
  /// Sign in.
  case signIn(email: String, password: String)
  /// Make an account.
  case signUp(userName: String, email: String, password: String)
  /// Have a code sent.
  case sendCode(email: String)
  /// Set a new password.
  case setPassword(code: String, password: String)
  /// Keep the user name of whoever has signed in.
  case setUserName(String)
  /// Go on with nobody signed in.
  case goOn
  /// Draw every cell again.
  case redraw
  /// Stop the process, as the suspend key does.
  case suspend
  /// Leave.
  case quit
}
