public import Dispatch
internal import Foundation
internal import Logging
internal import NIOConcurrencyHelpers
internal import NIOCore
internal import RealtimeDatabase
internal import RealtimeTransport

/// Who is signed in to a database: signing in and out, and the tokens that prove it.
///
/// ```swift
/// let auth = Auth.auth()
/// try await auth.signIn(withEmail: "ann@example.org", password: password)
/// print(auth.currentUser?.uid ?? "nobody")
/// ```
///
/// A database uses the `Auth` of its address by itself: see ``auth(for:)``. Tokens are replaced in time
/// and presented on the connection that stands, so that observers notice nothing. Someone who is
/// signed in stays so when the program ends, until ``signOut()``, unless
/// ``AuthConfiguration/persistence`` says otherwise. When the server ends a session, as it does for a
/// disabled account, the user is signed out here, too.
///
/// Everything may be called from any thread. Callbacks and listeners run on ``callbackQueue``, in the
/// order of what they tell.
///
/// Guarded by one lock: the session (``AuthCore``) with all listeners. What the session asks for is
/// done on one serial queue, in order; the queue is entered while the lock is held.
public final class Auth: Sendable {
  let eventLoop: any EventLoop
  let store: any CredentialStore
  let state: NIOLockedValueBox<State>
  let logger = DefaultLog.logger("hearth.auth")
  private let timeout: Duration
  private let trust: TrustRoots
  private let apiKey: String?
  /// Whose accounts these are among those that are kept: the address and the name of the database.
  let server: String
  private let queue = DispatchQueue(label: "hearth.auth")

  struct State {
    var core: AuthCore
    var service: IdentityService
    /// Whether the credentials of the user are where others look for them.
    var isKept: Bool
    var callbackQueue = DispatchQueue.main
    var lastNumber = 0
    var userListeners: [Int: @Sendable (User?) -> Void] = [:]
    var tokenListeners: [Int: @Sendable (User?) -> Void] = [:]
    var observers: [Int: @Sendable (DatabaseToken?) -> Void] = [:]
    var waiting: [Int: CheckedContinuation<Account?, any Error>] = [:]
    var timer: Scheduled<Void>?
  }

  /// Opens the accounts of a database, with whoever is kept as signed in.
  ///
  /// A database uses it when it is the ``DatabaseOptions/tokenProvider`` of its options.
  ///
  /// - Parameter configuration: Where people sign in, and where their credentials rest.
  /// - Throws: ``AuthError`` of code `keychainError` when the credentials that are kept cannot be
  ///   used, and of code `internalError` for a URL that is not one of a database.
  public convenience init(_ configuration: AuthConfiguration) throws {
    let target = try configuration.target()
    let eventLoop = Repo.group.next()
    let store: any CredentialStore =
      switch configuration.persistence {
      case .memory: MemoryCredentials()
      case .file(let path): CredentialFile(path: path, eventLoop: eventLoop)
      }
    self.init(
      target,
      configuration,
      store: store,
      accounts: try store.accounts(of: target.identity),
      eventLoop: eventLoop
    )
  }

  init(
    _ database: ConnectionTarget,
    _ configuration: AuthConfiguration,
    store: any CredentialStore,
    accounts: [Account],
    eventLoop: any EventLoop
  ) {
    self.eventLoop = eventLoop
    self.store = store
    server = database.identity
    timeout = configuration.timeout
    trust = configuration.trust
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

  /// Who is signed in, or nil.
  public var currentUser: User? {
    state.withLockedValue(\.core.account).map { User($0, of: self) }
  }

  /// Where callbacks and listeners run; the main queue unless set.
  public var callbackQueue: DispatchQueue {
    get { state.withLockedValue(\.callbackQueue) }
    set { state.withLockedValue { $0.callbackQueue = newValue } }
  }

  /// Signs out: the credentials are forgotten, and databases go on with nobody signed in.
  ///
  /// Writes that are not acknowledged wait until the same user is back; nobody else sends them.
  ///
  /// - Throws: Nothing today; it throws since the original does.
  public func signOut() throws {
    handle(.signedOut)
  }

  /// Sends all requests to an emulator from now on, without encryption.
  ///
  /// - Parameters:
  ///   - host: Its host.
  ///   - port: Its port.
  public func useEmulator(withHost host: String, port: Int) {
    precondition((1...65_535).contains(port), "\(port) is not a port")
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

  /// Tells the session something, and has done what it asks for.
  func handle(_ input: AuthInput) {
    state.withLockedValue { state in
      let outputs = state.core.handle(input, now: Self.now(), random: Double.random(in: 0...1))
      guard !outputs.isEmpty else { return }
      // Under the lock, so that what two threads cause is done in the order in which it happened.
      queue.async { for output in outputs { self.perform(output) } }
    }
  }

  /// Returns when all that was asked for up to now is done.
  package func settle() async {
    await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
  }

  /// Runs a block on the callback queue, after all that was asked for up to now.
  func deliver(_ block: @escaping @Sendable () -> Void) {
    queue.async { self.callbackQueue.async(execute: block) }
  }

  private func perform(_ output: AuthOutput) {
    switch output {
    case .refresh(let number, let account):
      Task { await self.refresh(number, account) }
    case .schedule(let milliseconds):
      let timer = eventLoop.scheduleTask(in: .milliseconds(milliseconds)) { [weak self] in
        if let self { self.handle(.timerFired) }
      }
      replaceTimer(timer)
    case .cancelTimer: replaceTimer(nil)
    case .token(let number, let result):
      let waiting = state.withLockedValue { $0.waiting.removeValue(forKey: number) }
      waiting?.resume(with: result.mapError { $0 as any Error })
    case .userChanged(let isOther): userChanged(isOther)
    case .tokenChanged(let account): tokenChanged(account)
    case .save(let account, let isNew): save(account, isNew)
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
  /// Whether a name that a person gives means this account.
  func answers(to name: String) -> Bool {
    uid == name || profile.displayName == name || profile.email == name.lowercased()
  }
}
