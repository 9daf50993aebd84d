// Lets a source file that says `import FirebaseAuth` compile unchanged. The original re-exports
// Foundation, and programs written for it rely on that.
@_exported public import FirebaseCore
@_exported public import Foundation
@_exported public import RealtimeAuth

/// Looking accounts up by app.
extension Auth {
  /// The accounts of an app's project; all apps of one database share the same object.
  public static func auth(app: FirebaseApp) -> Auth { auth(ofApp: app.name) }
}

/// The provider of credentials from email addresses and passwords.
public let EmailAuthProviderID = EmailAuthProvider.id

/// Receives the outcome of a sign-in.
public typealias AuthDataResultCallback = Auth.AuthDataResultCallback
/// Receives the error of a change, or nil on success.
public typealias UserProfileChangeCallback = User.UserProfileChangeCallback
/// Receives a token or an error.
public typealias AuthTokenCallback = (String?, (any Error)?) -> Void
/// Receives a token with its claims, or an error.
public typealias AuthTokenResultCallback = (AuthTokenResult?, (any Error)?) -> Void
/// Receives the error of a request for a code, or nil on success.
public typealias SendPasswordResetCallback = ((any Error)?) -> Void
/// Receives the email address that a code was issued for, or an error.
public typealias VerifyPasswordResetCodeCallback = (String?, (any Error)?) -> Void
/// Receives the error of a new password, or nil on success.
public typealias ConfirmPasswordResetCallback = ((any Error)?) -> Void
/// Receives the user who has signed in, or nil.
public typealias AuthStateDidChangeListenerBlock = (Auth, User?) -> Void
/// Receives the user who has a new token, or nil.
public typealias IDTokenDidChangeListenerBlock = (Auth, User?) -> Void

/// Signing in without waiting for the server, as programs for the original do.
///
/// Listeners learn who has signed in; nobody learns of an error. At the top level of a script, Swift
/// prefers these forms even after `await`, as it does with the original. `RealtimeAuth` alone does not
/// have them, so that a script that imports it waits.
extension Auth {
  /// Signs in with an email address and a password.
  public func signIn(withEmail email: String, password: String) {
    signIn(withEmail: email, password: password, completion: nil)
  }

  /// Creates an account with an email address and a password, and signs in to it.
  public func createUser(withEmail email: String, password: String) {
    createUser(withEmail: email, password: password, completion: nil)
  }

  /// Signs in as a guest.
  public func signInAnonymously() {
    signInAnonymously(completion: nil)
  }

  /// Signs in with a token that a server of the project has issued and signed.
  public func signIn(withCustomToken token: String) {
    signIn(withCustomToken: token, completion: nil)
  }

  /// Signs in with a credential.
  public func signIn(with credential: AuthCredential) {
    signIn(with: credential, completion: nil)
  }

  /// Asks the server to send an email with a code, if it sends email.
  public func sendPasswordReset(withEmail email: String) {
    sendPasswordReset(withEmail: email, completion: nil)
  }
}

/// Changing an account without waiting for the server, as programs for the original do.
extension User {
  /// Reloads the user's profile from the server.
  public func reload() {
    reload(completion: nil)
  }

  /// Sets a new password.
  public func updatePassword(to password: String) {
    updatePassword(to: password, completion: nil)
  }

  /// Sets a new email address.
  public func updateEmail(to email: String) {
    updateEmail(to: email, completion: nil)
  }

  /// Turns a guest into a user with a credential.
  public func link(with credential: AuthCredential) {
    link(with: credential, completion: nil)
  }

  /// Proves the user's identity again.
  public func reauthenticate(with credential: AuthCredential) {
    reauthenticate(with: credential, completion: nil)
  }

  /// Deletes the account and signs out.
  public func delete() {
    delete(completion: nil)
  }
}

/// Changing a profile without waiting for the server, as programs for the original do.
extension UserProfileChangeRequest {
  /// Sends the change to the server.
  public func commitChanges() {
    commitChanges(completion: nil)
  }
}
