public import Dispatch
public import Foundation
internal import Logging
internal import NIOConcurrencyHelpers
internal import NIOCore
public import RealtimeDatabase
internal import RealtimeTransport

/// Signs users of a database in and out, and keeps the tokens that prove their identity.
///
/// ```swift
/// let auth = Auth.auth()
/// try await auth.signIn(withEmail: "ann@example.org", password: password)
/// print(auth.currentUser?.uid ?? "nobody")
/// ```
///
/// A database finds the `Auth` for its address automatically; see ``auth(for:)``. Tokens are
/// refreshed before they expire and presented on the open connection; observers do not notice. A
/// user stays signed in across runs of the program until ``signOut()``, unless
/// ``AuthConfiguration/persistence`` says otherwise. If the server ends the session, for example
/// because the account was disabled, the user is signed out locally as well.
///
/// All methods may be called from any thread. Callbacks and listeners run on ``callbackQueue``, in
/// the order of the events that they report.
///
/// One lock guards the session (`AuthCore`) and all listeners. A serial queue performs the
/// session's outputs; they are enqueued under the lock, which keeps them in order.
public final class Auth: Sendable {
  private let eventLoop: any EventLoop
  private let store: any CredentialStore
  let state: NIOLockedValueBox<State>
  private let logger = DefaultLog.logger("hearth.auth")
  private let timeout: Duration
  private let trust: TrustRoots
  private let apiKey: String?
  /// The key of these accounts in the credential file: the address and the name of the database.
  let server: String
  private let queue = DispatchQueue(label: "hearth.auth")

  struct State {
    var core: AuthCore
    var service: IdentityService
    /// Whether the user's credentials are in the store, where other processes can find them.
    var isKept: Bool
    var callbackQueue = DispatchQueue.main
    var lastNumber = 0
    var listeners: [Int: Listener] = [:]
    var observers: [Int: @Sendable (DatabaseToken?) -> Void] = [:]
    var waiting: [Int: CheckedContinuation<Account?, any Error>] = [:]
    var timer: Scheduled<Void>?
  }

  struct Listener: Sendable {
    /// Whether it listens for tokens, not for users.
    let isForTokens: Bool
    let block: @Sendable (User?) -> Void
  }

  /// Opens the accounts of a database, with the user whose credentials are stored, if any.
  ///
  /// To use it for a database, set it as the `tokenProvider` of the database's options.
  ///
  /// - Parameter configuration: Where users sign in, and where their credentials are stored.
  /// - Throws: ``AuthError`` of kind `keychainError` when the stored credentials cannot be used,
  ///   and of kind `internalError` when the URL is not that of a database.
  public convenience init(_ configuration: AuthConfiguration) throws {
    let target = try configuration.target()
    let eventLoop = Repo.group.next()
    let store = configuration.makeStore(on: eventLoop)
    self.init(
      target,
      configuration: configuration,
      store: store,
      accounts: try store.read().accounts(of: target.identity),
      eventLoop: eventLoop
    )
  }

  init(
    _ database: ConnectionTarget,
    configuration: AuthConfiguration,
    store: any CredentialStore,
    accounts: [Account],
    eventLoop: any EventLoop
  ) {
    self.eventLoop = eventLoop
    self.store = store
    server = database.identity
    timeout = configuration.timeout
    trust = configuration.trustRoots.ofTransport
    apiKey = configuration.apiKey
    let name = configuration.account
    let account = accounts.first { account in name.map { account.answers(to: $0) } ?? true }
    let core = AuthCore(account: account)
    state = NIOLockedValueBox(
      State(core: core, service: IdentityService(of: database), isKept: core.account != nil)
    )
  }

  deinit { state.withLockedValue(\.timer)?.cancel() }

  // MARK: The user

  /// The signed-in user, or nil.
  public var currentUser: User? {
    state.withLockedValue(\.core.account).map { User($0, of: self) }
  }

  /// The current profile of a user, or nil if that user is not signed in.
  func profile(of uid: String) -> Account.Profile? {
    let account = state.withLockedValue(\.core.account)
    return account?.uid == uid ? account?.profile : nil
  }

  /// The queue on which callbacks and listeners run; the main queue by default.
  public var callbackQueue: DispatchQueue {
    get { state.withLockedValue(\.callbackQueue) }
    set { state.withLockedValue { $0.callbackQueue = newValue } }
  }

  /// Signs out: removes the credentials; databases continue without a user.
  ///
  /// Unacknowledged writes wait until the same user is back; they are never sent as another user.
  ///
  /// - Throws: Nothing; it is declared as throwing for compatibility with the original.
  public func signOut() throws {
    handle(.signedOut)
  }

  /// Sends all requests to an emulator from now on, without encryption.
  ///
  /// Passing anything other than a host and a port is a programmer error and traps.
  ///
  /// - Parameters:
  ///   - host: The emulator's host, without a scheme, a port or brackets.
  ///   - port: The emulator's port, from 1 through 65535.
  public func useEmulator(withHost host: String, port: Int) {
    CallerContract.requireServer(at: host, port: port)
    state.withLockedValue { $0.service = .server(ConnectionTarget(host: host, port: port)) }
  }

  // MARK: The session

  var client: IdentityClient {
    IdentityClient(
      service: state.withLockedValue(\.service),
      apiKey: apiKey,
      http: HTTPClient(group: eventLoop, trust: trust, timeout: timeout)
    )
  }

  static func now() -> Int64 {
    Int64((Date().timeIntervalSince1970 * 1_000).rounded(.down))
  }

  /// Feeds the session an input and enqueues its outputs; returns whether there are any.
  @discardableResult
  func handle(_ input: AuthInput) -> Bool { state.withLockedValue { handle(input, in: &$0) } }

  private func handle(_ input: AuthInput, in state: inout State) -> Bool {
    let outputs = state.core.handle(input, now: Self.now(), random: Double.random(in: 0...1))
    guard !outputs.isEmpty else { return false }
    // Enqueued under the lock, so that the outputs of two threads keep the order of their inputs.
    queue.async { for output in outputs { self.perform(output) } }
    return true
  }

  /// Returns once all work requested so far has been done.
  package func settle() async {
    await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
  }

  /// Runs a block on the callback queue, after all work requested so far.
  func deliver(_ block: @escaping @Sendable () -> Void) {
    queue.async { self.callbackQueue.async(execute: block) }
  }

  private func perform(_ output: AuthOutput) {
    switch output {
    case .refresh(let number, let account):
      Task { await self.refresh(account, number: number) }
    case .schedule(let milliseconds):
      let timer = eventLoop.scheduleTask(in: .milliseconds(milliseconds)) { [weak self] in
        if let self { self.handle(.timerFired) }
      }
      replaceTimer(timer)
    case .cancelTimer: replaceTimer(nil)
    case .token(let number, let result):
      let waiting = state.withLockedValue { $0.waiting.removeValue(forKey: number) }
      waiting?.resume(with: result.mapError { $0 as any Error })
    case .userChanged: call(state.withLockedValue(\.listeners).filter { !$0.value.isForTokens })
    case .tokenChanged(let account): tokenChanged(account)
    case .save(let account, let isNew): save(account, isNew: isNew)
    case .remove(let account): remove(account)
    }
  }

  private func replaceTimer(_ timer: Scheduled<Void>?) {
    let earlier = state.withLockedValue { state in
      defer { state.timer = timer }
      return state.timer
    }
    earlier?.cancel()
  }
}

extension Account {
  /// Whether a name that a person typed refers to this account.
  func answers(to name: String) -> Bool {
    uid == name || profile.displayName == name || profile.email == name.lowercased()
  }
}

/// Refreshing tokens, keeping credentials, and calling listeners.
extension Auth {
  /// The account with a token that remains valid for some time, or nil if no user is signed in.
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

  /// Gets new tokens; processes take turns, because some servers accept a refresh token only once.
  private func refresh(_ account: Account, number: Int) async {
    let turn = await store.refreshTurn(uid: account.uid, of: server)
    let result: Result<Account.Tokens, AuthError>
    do throws(AuthError) {
      result = .success(try await freshTokens(account))
    } catch {
      logger.debug("cannot refresh the tokens: \(error)")
      result = .failure(error)
    }
    handle(.refreshed(number, result))
    // The next process in turn must find the new tokens.
    await settle()
    withExtendedLifetime(turn) {}
  }

  private func freshTokens(_ account: Account) async throws(AuthError) -> Account.Tokens {
    var refreshToken = account.tokens.refreshToken
    if store.isShared, state.withLockedValue(\.isKept),
      let accounts = try? store.read().accounts(of: server)
    {
      guard let kept = accounts.first(where: { $0.uid == account.uid })?.tokens else {
        throw .signedOutElsewhere
      }
      // Another process may have refreshed them already.
      if kept.idToken != account.tokens.idToken, kept.isFresh(at: Self.now()) { return kept }
      refreshToken = kept.refreshToken
    }
    // The lifetime counts from before the request, because the request may take long.
    let start = Self.now()
    return try Account.Tokens(refresh: await client.refresh(refreshToken), now: start)
  }

  private func save(_ account: Account, isNew: Bool) {
    do throws(AuthError) {
      try store.change { $0.save(account, of: server, isNew: isNew) }
      if isNew { state.withLockedValue { $0.isKept = true } }
    } catch {
      if isNew { state.withLockedValue { $0.isKept = false } }
      logger.error("cannot save the credentials: \(error)")
    }
  }

  private func remove(_ account: Account) {
    do throws(AuthError) {
      try store.change { $0.remove(uid: account.uid, of: server) }
    } catch {
      logger.error("cannot remove the credentials: \(error)")
    }
  }

  private func tokenChanged(_ account: Account?) {
    let (listeners, observers) = state.withLockedValue { ($0.listeners, $0.observers) }
    let token = account.map { DatabaseToken(userID: $0.uid, text: $0.tokens.idToken) }
    for (_, observer) in observers.sorted(by: { $0.key < $1.key }) { observer(token) }
    call(listeners.filter(\.value.isForTokens))
  }

  private func call(_ listeners: [Int: Listener]) {
    for (number, listener) in listeners.sorted(by: { $0.key < $1.key }) {
      callbackQueue.async { self.call(listener, number: number) }
    }
  }

  /// Calls a listener with the user of this moment, since an earlier call may have told of later
  /// changes; a removed one is not called any more, even if the call was already scheduled.
  private func call(_ listener: Listener, number: Int) {
    if isListening(number) { listener.block(currentUser) }
  }
}

extension Auth: DatabaseTokenProvider {
  /// The identifier of the signed-in user, or nil.
  public var userID: String? { state.withLockedValue(\.core.account?.uid) }

  /// The signed-in user's token for databases.
  ///
  /// - Throws: ``AuthError`` when no token can be obtained.
  public func token(forcingRefresh isForced: Bool) async throws -> DatabaseToken? {
    try await freshAccount(forcingRefresh: isForced).map {
      DatabaseToken(userID: $0.uid, text: $0.tokens.idToken)
    }
  }

  /// Calls a block with each new token; while it observes, tokens are refreshed in time.
  ///
  /// - Parameter block: Gets the token, or nil when nobody is signed in; runs on a queue of this
  ///   object, not on ``callbackQueue``.
  /// - Returns: The observation, which ends when it is released.
  public func observeTokens(
    _ block: @escaping @Sendable (DatabaseToken?) -> Void
  ) -> DatabaseTokenObservation {
    let number = state.withLockedValue { state in
      state.lastNumber += 1
      state.observers[state.lastNumber] = block
      keepFresh(&state)
      return state.lastNumber
    }
    return DatabaseTokenObservation { [weak self] in self?.remove(number) }
  }

  /// Removes an observer or a listener; after the last one of tokens, these need not stay fresh.
  private func remove(_ number: Int) {
    state.withLockedValue { state in
      state.observers[number] = nil
      state.listeners[number] = nil
      keepFresh(&state)
    }
  }

  /// Keeps tokens fresh as long as there are observers or token listeners.
  private func keepFresh(_ state: inout State) {
    let isOn = !state.observers.isEmpty || state.listeners.values.contains(where: \.isForTokens)
    _ = handle(.staysFresh(isOn), in: &state)
  }
}

/// Listening for changes of the user and the token.
extension Auth {
  /// Calls a block at once, and whenever another user signs in or the user signs out.
  ///
  /// - Parameter listener: Gets this object and the user, or nil; runs on ``callbackQueue``.
  /// - Returns: A handle for ``removeStateDidChangeListener(_:)``.
  @discardableResult
  public func addStateDidChangeListener(
    _ listener: @escaping (Auth, User?) -> Void
  ) -> AuthStateDidChangeListenerHandle {
    let number = add(listener, isForTokens: false)
    return AuthStateDidChangeListenerHandle(number: number, of: self)
  }

  /// Removes a listener; it is not called again.
  ///
  /// - Parameter handle: The listener's handle; for any other object, nothing happens.
  public func removeStateDidChangeListener(_ handle: any NSObjectProtocol) {
    let handle = handle as? AuthStateDidChangeListenerHandle
    if let number = handle?.number(at: self) { remove(number) }
  }

  /// Calls a block at once, and whenever the token changes: on each refresh, sign-in and sign-out.
  ///
  /// While such a listener exists, tokens are refreshed before they expire.
  ///
  /// - Parameter listener: Gets this object and the user, or nil; runs on ``callbackQueue``.
  /// - Returns: A handle for ``removeIDTokenDidChangeListener(_:)``.
  @discardableResult
  public func addIDTokenDidChangeListener(
    _ listener: @escaping (Auth, User?) -> Void
  ) -> IDTokenDidChangeListenerHandle {
    let number = add(listener, isForTokens: true)
    return IDTokenDidChangeListenerHandle(number: number, of: self)
  }

  /// Removes a token listener; it is not called again.
  ///
  /// - Parameter handle: The listener's handle; for any other object, nothing happens.
  public func removeIDTokenDidChangeListener(_ handle: any NSObjectProtocol) {
    removeStateDidChangeListener(handle)
  }

  /// The signed-in user, at once and after each change.
  ///
  /// ```swift
  /// for await user in Auth.auth().authStateChanges { print(user?.uid ?? "nobody") }
  /// ```
  ///
  /// Each loop has its own listener, which is removed when the loop ends or its task is cancelled.
  /// All changes are buffered for a slow loop, because each of them concerns a different user.
  public var authStateChanges: AsyncStream<User?> {
    AsyncStream { continuation in
      let handle = addStateDidChangeListener { _, user in continuation.yield(user) }
      continuation.onTermination = { _ in self.removeStateDidChangeListener(handle) }
    }
  }

  /// The signed-in user, at once and after each token change: refresh, sign-in or sign-out.
  ///
  /// Each loop has its own listener, which is removed when the loop ends or its task is cancelled.
  /// Only the newest change is buffered for a slow loop.
  public var idTokenChanges: AsyncStream<User?> {
    AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
      let handle = addIDTokenDidChangeListener { _, user in continuation.yield(user) }
      continuation.onTermination = { _ in self.removeIDTokenDidChangeListener(handle) }
    }
  }

  private func add(_ listener: @escaping (Auth, User?) -> Void, isForTokens: Bool) -> Int {
    let callback = Callback(listener)
    // The first call may find a user whose sign-in or sign-out is yet to be reported.
    let told = NIOLockedValueBox<String??>(nil)
    let block: @Sendable (User?) -> Void = { [weak self] user in
      let isNew = told.withLockedValue { last in
        defer { last = .some(user?.uid) }
        return last != .some(user?.uid)
      }
      if let self, isNew || isForTokens { callback.call(self, user) }
    }
    let listener = Listener(isForTokens: isForTokens, block: block)
    let number = state.withLockedValue { state in
      state.lastNumber += 1
      state.listeners[state.lastNumber] = listener
      keepFresh(&state)
      return state.lastNumber
    }
    deliver { self.call(listener, number: number) }
    return number
  }

  private func isListening(_ number: Int) -> Bool {
    state.withLockedValue { $0.listeners[number] != nil }
  }
}

/// Identifies a listener, for removing it; programs may keep it as an `NSObjectProtocol`.
public final class AuthStateDidChangeListenerHandle: NSObject, Sendable {
  private let number: Int
  private let owner: ObjectIdentifier

  init(number: Int, of auth: Auth) {
    self.number = number
    owner = ObjectIdentifier(auth)
  }

  /// The listener's number; nil if it belongs to another object.
  func number(at auth: Auth) -> Int? { owner == ObjectIdentifier(auth) ? number : nil }
}

/// Identifies a token listener, for removing it.
public typealias IDTokenDidChangeListenerHandle = AuthStateDidChangeListenerHandle
