internal import Dispatch
internal import Logging
internal import NIOConcurrencyHelpers
internal import NIOCore
internal import RealtimeCore
public import RealtimeDatabase

/// Refreshing tokens, keeping credentials, and telling who wants to know.
extension Auth {
  /// The account with a token that is good for a while, or nil when nobody is signed in.
  ///
  /// - Throws: ``AuthError`` when no token can be got.
  func freshAccount(forcingRefresh isForced: Bool = false) async throws -> Account? {
    try await withCheckedThrowingContinuation { continuation in
      let number = state.withLockedValue { state in
        state.lastNumber += 1
        state.waiting[state.lastNumber] = continuation
        return state.lastNumber
      }
      handle(.tokenWanted(number, isForced: isForced))
    }
  }

  /// Gets new tokens, one process at a time, since some servers take a refresh token only once.
  func refresh(_ number: Int, _ account: Account) async {
    let turn = await store.refreshTurn(uid: account.uid, of: server)
    let result: Result<Account.Tokens, AuthError>
    do throws(AuthError) {
      result = .success(try await freshTokens(account))
    } catch {
      logger.debug("the tokens were not refreshed: \(error)")
      result = .failure(error)
    }
    handle(.refreshed(number, result))
    // The others must find the new tokens when their turn comes.
    await settle()
    withExtendedLifetime(turn) {}
  }

  private func freshTokens(_ account: Account) async throws(AuthError) -> Account.Tokens {
    var refreshToken = account.tokens.refreshToken
    if store.isShared, state.withLockedValue(\.isKept),
      let accounts = try? store.accounts(of: server)
    {
      guard let kept = accounts.first(where: { $0.uid == account.uid })?.tokens else {
        throw .signedOutElsewhere
      }
      // Another process may have been faster.
      if kept.idToken != account.tokens.idToken, Self.now() < kept.refreshTime { return kept }
      refreshToken = kept.refreshToken
    }
    // The life of a token counts from before the request, which may take long.
    let start = Self.now()
    return try Account.Tokens(refresh: await client.refresh(refreshToken), now: start)
  }

  func save(_ account: Account, _ isNew: Bool) {
    do throws(AuthError) {
      try store.save(account, of: server, isNew: isNew)
      if isNew { state.withLockedValue { $0.isKept = true } }
    } catch {
      if isNew { state.withLockedValue { $0.isKept = false } }
      logger.error("credentials are not kept: \(error)")
    }
  }

  func remove(_ account: Account) {
    do throws(AuthError) {
      try store.remove(uid: account.uid, of: server)
    } catch {
      logger.error("credentials are not removed: \(error)")
    }
  }

  func userChanged(_ isOther: Bool) {
    let user = currentUser
    let listeners = state.withLockedValue { isOther ? $0.userListeners : [:] }
    call(listeners, user)
  }

  func tokenChanged(_ account: Account?) {
    let (listeners, observers) = state.withLockedValue { ($0.tokenListeners, $0.observers) }
    let token = account.map { DatabaseToken(userID: $0.uid, text: $0.tokens.idToken) }
    for (_, observer) in observers.sorted(by: { $0.key < $1.key }) { observer(token) }
    call(listeners, account.map { User($0, of: self) })
  }

  private func call(_ listeners: [Int: @Sendable (User?) -> Void], _ user: User?) {
    for (number, listener) in listeners.sorted(by: { $0.key < $1.key }) {
      callbackQueue.async {
        // Who is removed is not called any more, be it that the call was under way.
        if self.isListening(number) { listener(user) }
      }
    }
  }
}

extension Auth: DatabaseTokenProvider {
  /// The identifier of the user, or nil.
  public var userID: String? { state.withLockedValue(\.core.account?.uid) }

  /// The token of the user for databases.
  ///
  /// - Throws: ``AuthError`` when none can be got.
  public func token(forcingRefresh isForced: Bool) async throws -> DatabaseToken? {
    try await freshAccount(forcingRefresh: isForced).map {
      DatabaseToken(userID: $0.uid, text: $0.tokens.idToken)
    }
  }

  /// Calls a block with each new token; as long as there is one, tokens are replaced in time.
  public func observeTokens(
    _ block: @escaping @Sendable (DatabaseToken?) -> Void
  ) -> DatabaseTokenObservation {
    let number = state.withLockedValue { state in
      state.lastNumber += 1
      state.observers[state.lastNumber] = block
      return state.lastNumber
    }
    handle(.staysFresh(true))
    return DatabaseTokenObservation { [weak self] in self?.endObservation(number) }
  }

  private func endObservation(_ number: Int) {
    let isLast = state.withLockedValue { state in
      state.observers[number] = nil
      return state.observers.isEmpty && state.tokenListeners.isEmpty
    }
    if isLast { handle(.staysFresh(false)) }
  }
}
