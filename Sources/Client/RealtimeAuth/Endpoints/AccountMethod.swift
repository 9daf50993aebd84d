/// The requests about accounts, by the names that the service gives them.
enum AccountMethod: String, Sendable {
  case signUp
  case signInWithPassword
  case signInWithCustomToken
  case update
  case lookup
  case delete
  case sendOobCode
  case resetPassword
}
