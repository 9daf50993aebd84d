/// Something that a session wants done; the caller performs outputs in their order.
enum AuthOutput: Sendable {
  /// Get new tokens for an account, and tell me the answer under this number.
  case refresh(Int, Account)
  /// Tell me after so many milliseconds; replaces the timer if it runs.
  case schedule(after: Int64)
  /// Forget the timer.
  case cancelTimer
  /// Answer someone who asked for a token; nil is that nobody is signed in.
  case token(Int, Result<Account?, AuthError>)
  /// Someone else is signed in, or nobody, or more is known of the one who is.
  case userChanged(isOther: Bool)
  /// There is a new token, or nobody is signed in any more.
  case tokenChanged(Account?)
  /// Keep these credentials; "new" if the user has signed in just now.
  ///
  /// Others are kept only as long as nobody else has taken the account out.
  case save(Account, isNew: Bool)
  /// Forget the credentials of an account.
  case remove(Account)
}
