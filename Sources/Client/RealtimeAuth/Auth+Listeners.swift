internal import NIOConcurrencyHelpers
internal import RealtimeDatabase

/// Telling a program who is signed in.
extension Auth {
  /// Calls a block now, and whenever someone else signs in or the user signs out.
  ///
  /// - Parameter listener: Takes this object and the user, or nil; runs on ``callbackQueue``.
  /// - Returns: What ``removeStateDidChangeListener(_:)`` takes.
  @discardableResult
  public func addStateDidChangeListener(
    _ listener: @escaping (Auth, User?) -> Void
  ) -> AuthStateDidChangeListenerHandle {
    let number = add(listener, isForTokens: false)
    return AuthStateDidChangeListenerHandle(number: number)
  }

  /// Ends the calls of a listener.
  public func removeStateDidChangeListener(_ handle: AuthStateDidChangeListenerHandle) {
    state.withLockedValue { $0.userListeners[handle.number] = nil }
  }

  /// Calls a block now, and whenever the token changes: after each refresh, sign-in and sign-out.
  ///
  /// As long as there is such a listener, tokens are replaced before they end.
  ///
  /// - Parameter listener: Takes this object and the user, or nil; runs on ``callbackQueue``.
  /// - Returns: What ``removeIDTokenDidChangeListener(_:)`` takes.
  @discardableResult
  public func addIDTokenDidChangeListener(
    _ listener: @escaping (Auth, User?) -> Void
  ) -> IDTokenDidChangeListenerHandle {
    let number = add(listener, isForTokens: true)
    handle(.staysFresh(true))
    return IDTokenDidChangeListenerHandle(number: number)
  }

  /// Ends the calls of a listener for tokens.
  public func removeIDTokenDidChangeListener(_ handle: IDTokenDidChangeListenerHandle) {
    let isLast = state.withLockedValue { state in
      state.tokenListeners[handle.number] = nil
      return state.observers.isEmpty && state.tokenListeners.isEmpty
    }
    if isLast { self.handle(.staysFresh(false)) }
  }

  /// Who is signed in, now and after each change.
  ///
  /// ```swift
  /// for await user in Auth.auth().authStateChanges { print(user?.uid ?? "nobody") }
  /// ```
  ///
  /// Each loop is a listener of its own, which is removed when the loop is left or its task cancelled.
  /// Buffering: all changes wait for a loop that is slow, as each of them tells of a person.
  public var authStateChanges: AsyncStream<User?> {
    AsyncStream { continuation in
      let handle = addStateDidChangeListener { _, user in continuation.yield(user) }
      continuation.onTermination = { _ in self.removeStateDidChangeListener(handle) }
    }
  }

  /// Who is signed in, now and whenever the token changes: after each refresh, sign-in and sign-out.
  ///
  /// Each loop is a listener of its own, which is removed when the loop is left or its task cancelled.
  /// Buffering: only the newest waits.
  public var idTokenChanges: AsyncStream<User?> {
    AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
      let handle = addIDTokenDidChangeListener { _, user in continuation.yield(user) }
      continuation.onTermination = { _ in self.removeIDTokenDidChangeListener(handle) }
    }
  }

  private func add(
    _ listener: @escaping (Auth, User?) -> Void,
    isForTokens: Bool
  ) -> Int {
    let callback = Callback(listener)
    let block: @Sendable (User?) -> Void = { [weak self] user in
      if let self { callback.call(self, user) }
    }
    let number = state.withLockedValue { state in
      state.lastNumber += 1
      if isForTokens {
        state.tokenListeners[state.lastNumber] = block
      } else {
        state.userListeners[state.lastNumber] = block
      }
      return state.lastNumber
    }
    deliver { if self.isListening(number) { block(self.currentUser) } }
    return number
  }

  /// Whether a listener was not removed.
  func isListening(_ number: Int) -> Bool {
    state.withLockedValue {
      $0.userListeners[number] != nil || $0.tokenListeners[number] != nil
    }
  }
}
