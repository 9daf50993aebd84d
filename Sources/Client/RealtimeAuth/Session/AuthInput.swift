/// Something that a session is told.
enum AuthInput: Sendable {
  /// Someone has signed in, or has got new tokens in another way than by a refresh.
  case signedIn(Account)
  /// The user signs out.
  case signedOut
  /// More is known of the user.
  case profileChanged(uid: String, Account.Profile)
  /// Someone asks for a token; "forced" if it must be another than the last one.
  case tokenWanted(Int, isForced: Bool)
  /// A refresh was answered.
  case refreshed(Int, Result<Account.Tokens, AuthError>)
  /// The timer came due.
  case timerFired
  /// Whether tokens are to be replaced before anyone asks for them.
  case staysFresh(Bool)
}
