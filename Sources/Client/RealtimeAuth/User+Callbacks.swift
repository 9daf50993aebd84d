/// The forms with callbacks, which run on ``Auth/callbackQueue``.
extension User {
  /// Takes the failure of a change, or nil.
  public typealias UserProfileChangeCallback = ((any Error)?) -> Void

  /// Asks the server what it knows of the user.
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

  /// Gives a guest what a credential says.
  public func link(with credential: AuthCredential, completion: Auth.AuthDataResultCallback?) {
    auth.run(completion) { _ in try await self.link(with: credential) }
  }

  /// Proves once more who the user is.
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
    _ body: @escaping @Sendable (User) async throws -> Void
  ) {
    auth.tell { error, _ in
      completion?(error)
    } of: { _ in
      try await body(self)
    }
  }
}
