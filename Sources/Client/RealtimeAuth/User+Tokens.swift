/// The proofs of a user.
extension User {
  /// A token that is good for a while.
  ///
  /// - Parameter isForced: Whether it must be a new one.
  /// - Returns: The token. It must not be logged or shown.
  /// - Throws: ``AuthError``: `networkError`, `userTokenExpired`, `userDisabled`, `nullUser` when
  ///   this user is not signed in any more, and others.
  public func getIDToken(forcingRefresh isForced: Bool = false) async throws -> String {
    try await account(forcingRefresh: isForced).tokens.idToken
  }

  /// The same as ``getIDToken(forcingRefresh:)``.
  ///
  /// - Throws: ``AuthError``.
  public func idToken(forcingRefresh isForced: Bool = false) async throws -> String {
    try await getIDToken(forcingRefresh: isForced)
  }

  /// A token that is good for a while, and what it says.
  ///
  /// - Throws: ``AuthError``.
  public func getIDTokenResult(
    forcingRefresh isForced: Bool = false
  ) async throws -> AuthTokenResult {
    try AuthTokenResult(await getIDToken(forcingRefresh: isForced))
  }

  /// Gets a token and tells it on ``Auth/callbackQueue``.
  public func getIDToken(completion: ((String?, (any Error)?) -> Void)?) {
    getIDTokenForcingRefresh(false, completion: completion)
  }

  /// Gets a token, a new one if that is wanted, and tells it on ``Auth/callbackQueue``.
  public func getIDTokenForcingRefresh(
    _ isForced: Bool,
    completion: ((String?, (any Error)?) -> Void)?
  ) {
    auth.run(completion) { _ in try await self.getIDToken(forcingRefresh: isForced) }
  }

  /// Gets a token and what it says, and tells them on ``Auth/callbackQueue``.
  public func getIDTokenResult(completion: ((AuthTokenResult?, (any Error)?) -> Void)?) {
    getIDTokenResult(forcingRefresh: false, completion: completion)
  }

  /// Gets a token and what it says, a new one if that is wanted, and tells them on
  /// ``Auth/callbackQueue``.
  public func getIDTokenResult(
    forcingRefresh isForced: Bool,
    completion: ((AuthTokenResult?, (any Error)?) -> Void)?
  ) {
    auth.run(completion) { _ in try await self.getIDTokenResult(forcingRefresh: isForced) }
  }

  /// The account of this user with a token that is good for a while.
  func account(forcingRefresh isForced: Bool = false) async throws -> Account {
    guard auth.userID == uid else { throw AuthError.otherUser }
    guard let account = try await auth.freshAccount(forcingRefresh: isForced), account.uid == uid
    else { throw AuthError.otherUser }
    return account
  }
}
