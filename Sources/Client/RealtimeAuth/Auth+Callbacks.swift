internal import RealtimeDatabase

/// Callback variants; callbacks run on ``callbackQueue``, after the listeners that a call triggers.
extension Auth {
  /// Receives the outcome of a sign-in.
  public typealias AuthDataResultCallback = (AuthDataResult?, (any Error)?) -> Void

  /// Signs in with an email address and a password.
  public func signIn(
    withEmail email: String,
    password: String,
    completion: AuthDataResultCallback?
  ) {
    run(completion) { try await $0.signIn(withEmail: email, password: password) }
  }

  /// Creates an account with an email address and a password, and signs in to it.
  public func createUser(
    withEmail email: String,
    password: String,
    completion: AuthDataResultCallback?
  ) {
    run(completion) { try await $0.createUser(withEmail: email, password: password) }
  }

  /// Signs in as a guest.
  public func signInAnonymously(completion: AuthDataResultCallback?) {
    run(completion) { try await $0.signInAnonymously() }
  }

  /// Signs in with a token that a server of the project has issued and signed.
  public func signIn(withCustomToken token: String, completion: AuthDataResultCallback?) {
    run(completion) { try await $0.signIn(withCustomToken: token) }
  }

  /// Signs in with a credential.
  public func signIn(with credential: AuthCredential, completion: AuthDataResultCallback?) {
    run(completion) { try await $0.signIn(with: credential) }
  }

  /// Asks the server to send an email with a code, if it sends email.
  public func sendPasswordReset(
    withEmail email: String,
    completion: (((any Error)?) -> Void)?
  ) {
    finish(completion) { try await $0.sendPasswordReset(withEmail: email) }
  }

  /// Gets the email address that a code was issued for.
  public func verifyPasswordResetCode(
    _ code: String,
    completion: @escaping (String?, (any Error)?) -> Void
  ) {
    run(completion) { try await $0.verifyPasswordResetCode(code) }
  }

  /// Sets a new password, using the code from the email.
  public func confirmPasswordReset(
    withCode code: String,
    newPassword: String,
    completion: (((any Error)?) -> Void)?
  ) {
    finish(completion) {
      try await $0.confirmPasswordReset(withCode: code, newPassword: newPassword)
    }
  }

  /// Runs an operation and passes the result to a callback.
  func run<Value: Sendable>(
    _ completion: ((Value?, (any Error)?) -> Void)?,
    body: @escaping @Sendable (Auth) async throws -> Value
  ) {
    let callback = Callback(completion)
    Task {
      do {
        let value = try await body(self)
        self.deliver { callback.call?(value, nil) }
      } catch {
        self.deliver { callback.call?(nil, error) }
      }
    }
  }

  /// Runs an operation that has no result and passes its error to a callback.
  func finish(
    _ completion: (((any Error)?) -> Void)?,
    body: @escaping @Sendable (Auth) async throws -> Void
  ) {
    run({ completion?($1) }, body: body)
  }
}

/// Callback variants; the callbacks run on ``Auth/callbackQueue``.
extension User {
  /// Receives the error of a change, or nil on success.
  public typealias UserProfileChangeCallback = ((any Error)?) -> Void

  /// Reloads the user's profile from the server.
  public func reload(completion: UserProfileChangeCallback?) {
    change(completion) { try await $0.reload() }
  }

  /// Sets a new password.
  public func updatePassword(to password: String, completion: UserProfileChangeCallback?) {
    change(completion) { try await $0.updatePassword(to: password) }
  }

  /// Sets a new email address.
  public func updateEmail(to email: String, completion: UserProfileChangeCallback?) {
    change(completion) { try await $0.updateEmail(to: email) }
  }

  /// Turns a guest into a user with a credential.
  public func link(with credential: AuthCredential, completion: Auth.AuthDataResultCallback?) {
    auth.run(completion) { _ in try await self.link(with: credential) }
  }

  /// Proves the user's identity again.
  public func reauthenticate(
    with credential: AuthCredential,
    completion: Auth.AuthDataResultCallback?
  ) {
    auth.run(completion) { _ in try await self.reauthenticate(with: credential) }
  }

  /// Deletes the account and signs out.
  public func delete(completion: UserProfileChangeCallback?) {
    change(completion) { try await $0.delete() }
  }

  func change(
    _ completion: UserProfileChangeCallback?,
    body: @escaping @Sendable (User) async throws -> Void
  ) {
    auth.finish(completion) { _ in try await body(self) }
  }
}
