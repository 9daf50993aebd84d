/// A proof of who someone is; see ``EmailAuthProvider``.
public struct AuthCredential: Sendable {
  /// How it proves that, such as "password".
  public let provider: String
  let email: String
  let password: String
}
