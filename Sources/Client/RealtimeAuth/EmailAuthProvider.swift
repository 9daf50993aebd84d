/// Makes credentials of email addresses and passwords.
public enum EmailAuthProvider {
  /// A credential of an email address and a password.
  public static func credential(withEmail email: String, password: String) -> AuthCredential {
    AuthCredential(provider: Auth.passwordProvider, email: email, password: password)
  }
}
