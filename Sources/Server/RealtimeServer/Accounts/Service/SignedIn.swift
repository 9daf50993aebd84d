/// What somebody has who has signed in.
struct SignedIn: Sendable {
  let account: Account
  let idToken: String
  let refreshToken: String
  /// How long the first of the tokens counts, in seconds.
  let lifetime: Int64
}
